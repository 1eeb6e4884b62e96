/*
 * Every error that a call of this package can throw, except a `TypeError` for wrong usage. No error contains a token, a
 * secret, a context or a body: messages and members come from the service's error catalogue or from this package.
 */

/** One invalid field of the input. `path` is separated by dots. No member contains a value of the input. */
export interface ErrorDetail {
  readonly path: string;
  readonly message: string;
  readonly code: string;
}

/** The members of an error besides its code and message. */
export interface ErrorFacts {
  readonly status?: number | undefined;
  readonly fix?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly requestId?: string | undefined;
  readonly operation?: string | undefined;
  readonly attempts?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly entityId?: string | undefined;
}

/**
 * The base of all errors of this package.
 *
 * @example
 * try {
 *   await doorward.api.createRole({ name: 'clerk', groupIds: [] });
 * } catch (error) {
 *   if (error instanceof DoorwardError) log.warn({ code: error.code, requestId: error.requestId }, error.fix);
 * }
 */
export class DoorwardError extends Error {
  override readonly name: string = 'DoorwardError';
  /** A code of the service, or a code that only clients use, such as `TIMEOUT`. */
  readonly code: string;
  /** HTTP status of the response; absent if there was none. */
  readonly status: number | undefined;
  /** One sentence that says what the caller can do. */
  readonly fix: string | undefined;
  /** The reason of a negative decision. */
  readonly reason: string | undefined;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Identifies the call in the service's log. */
  readonly requestId: string | undefined;
  /** The name of the operation, for example `createRole`. */
  readonly operation: string | undefined;
  /** How often the call was sent; 0 if it was never sent. */
  readonly attempts: number;
  /** Whether the same call may succeed later and can be repeated without harm. */
  readonly retryable: boolean;
  /** How long the service asks the caller to wait. */
  readonly retryAfterMs: number | undefined;
  /** With `SECRET_LOST`: id of the row that was created or whose secret was rotated. */
  readonly entityId: string | undefined;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message);
    this.code = code;
    this.status = facts.status;
    this.fix = facts.fix;
    this.reason = facts.reason;
    this.details = facts.details;
    this.requestId = facts.requestId;
    this.operation = facts.operation;
    this.attempts = facts.attempts ?? 0;
    this.retryable = facts.retryable ?? false;
    this.retryAfterMs = facts.retryAfterMs;
    this.entityId = facts.entityId;
  }

  /** The members as a plain object for logs, without the stack. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message, status, fix, reason, details, requestId, operation, attempts } = this;
    const { retryable, retryAfterMs, entityId } = this;
    return {
      ...{ name, code, message, status, fix, reason, details, requestId, operation, attempts },
      ...{ retryable, retryAfterMs, entityId },
    };
  }
}

/** The service refused the call (codes: docs/spec/errors.md), or the answer with a secret was lost (`SECRET_LOST`). */
export class ApiError extends DoorwardError {
  override readonly name: string = 'ApiError';
}

/** The subject or the caller lacks a permission: a response with status 403, or a negative decision in `assertCan`. */
export class ForbiddenError extends ApiError {
  override readonly name: string = 'ForbiddenError';
}

/** There was no usable response: `UNREACHABLE`, `TIMEOUT`, `ABORTED` or `BAD_ANSWER`. */
export class ConnectionError extends DoorwardError {
  override readonly name: string = 'ConnectionError';
}

export type TokenErrorCode =
  | 'TOKEN_MALFORMED'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_SIGNATURE'
  | 'TOKEN_ISSUER'
  | 'TOKEN_AUDIENCE'
  | 'TOKEN_TYPE'
  /** The token is for another project, or for a customer who uses the project through a grant. */
  | 'TOKEN_SCOPE'
  /** The token's credential has ended, its networks exclude the caller's address, or the service refuses the token. */
  | 'TOKEN_REVOKED';

/** The token of a user, key or app is not valid. Respond with 401. */
export class TokenError extends DoorwardError {
  override readonly name: string = 'TokenError';
  declare readonly code: TokenErrorCode;

  constructor(code: TokenErrorCode, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
  }
}

/**
 * A webhook request is not from the service (`SIGNATURE`, `TIMESTAMP`), or its body was parsed too early or is not an
 * event (`BODY`).
 */
export class WebhookError extends DoorwardError {
  override readonly name: string = 'WebhookError';
  declare readonly code: 'SIGNATURE' | 'TIMESTAMP' | 'BODY';

  constructor(code: 'SIGNATURE' | 'TIMESTAMP' | 'BODY', message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
  }
}

/** An option is missing, unknown or out of bounds. `options` lists the names of such options. */
export class ConfigError extends DoorwardError {
  override readonly name: string = 'ConfigError';
  declare readonly code: 'CONFIG';
  readonly options: readonly string[];

  constructor(message: string, options: readonly string[], fix?: string) {
    super('CONFIG', message, { fix });
    this.options = options;
  }

  override toJSON(): Readonly<Record<string, unknown>> {
    return { ...super.toJSON(), options: this.options };
  }
}
