/*
 * The public types of scopes, principals, questions, decisions and options. Types of hooks and errors are in files
 * beside this one, those of the client and its operations in src/client.
 */

import type { DecisionReason } from '@doorward/decision';
import type { Hooks } from './hooks.ts';

export type Tenant =
  'account' | 'organization' | 'accountProject' | 'organizationProject' | 'projectUser' | 'installation';

/** Where a call happens. A project's id is `<owner>:<project>`. */
export interface Scope {
  readonly tenant: Tenant;
  readonly id: string;
}

export type TokenType = 'session' | 'ApiKey' | 'projectApp';

/**
 * The bearer of a verified token. Only `verifyToken` creates principals. Questions refuse a copy, because a copy could
 * claim anything.
 */
export interface Principal {
  readonly type: 'user' | 'apiKey' | 'projectApp';
  /** The user; for an API key, the user for whom it acts. */
  readonly userId: string;
  /** Set for a session or an app token. */
  readonly sessionId?: string;
  readonly apiKeyId?: string;
  /** Set for an app token. */
  readonly clientId?: string;
  /**
   * The scope of the token: its project, or `projectUser` with the id `<project>:<user>` for a key that acts as a user.
   * Null for a session.
   */
  readonly scope: Scope | null;
  /** Scopes that the user consented to for an app token; absent if it is not restricted. */
  readonly scopes?: readonly string[];
  /** How revocation was checked: not at all, against the local snapshot, or by the service. */
  readonly liveness: 'none' | 'list' | 'service';
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * The subject of a question. A token or a `Principal`: the rights of the token, with its limits. `{ userId }`:
 * the rights of that user; needs the permission `Authorization:Check`. Undefined: the rights of the client's own
 * credential.
 */
export type Who = string | Principal | { readonly userId: string } | undefined;

/** `'order:read'`, or the resource and action separately. */
export type Permission = string | { readonly resource: string; readonly action: string };

/** Attributes for conditions, which read them under `resource`. */
export interface Context {
  readonly resource?: object | null | undefined;
}

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit of one attempt; replaces the client's `timeoutMs`. */
  readonly timeoutMs?: number | undefined;
}

/** Options of one question. */
export interface QuestionOptions extends CallOptions {
  /** Default: the client's scope, else the scope of the token. */
  readonly scope?: Scope | undefined;
  /** An `X-Doorward-Revision`. The decision takes the change with this revision into account. */
  readonly minRevision?: string | undefined;
  /**
   * Network address of the caller, for the token of a key with `allowedCidrs`. Comparing it needs `local`, because the
   * service sees only the address of this application. Without `local`, without this option, or before the first
   * snapshot, a key's networks do not limit who calls this application.
   */
  readonly address?: string | undefined;
}

export interface Question {
  readonly permission: Permission;
  readonly context?: Context | undefined;
}

/** The service's reasons, and two of this package: the service could not be reached, or local data is too old. */
export type Reason = DecisionReason | 'UNAVAILABLE' | 'STALE';

export interface MatchedPermission {
  readonly id: string;
  readonly name: string;
  readonly resource: string;
  readonly action: string;
}

/** The decision about a question, as the service returns it (authorization §10.1). */
export interface Decision {
  readonly authorized: boolean;
  readonly reason: Reason;
  readonly matchedPermission?: MatchedPermission;
  readonly matchedCondition?: Readonly<Record<string, unknown>>;
  readonly evaluatedContext?: Readonly<Record<string, unknown>>;
}

/** One of several decisions; without the condition. */
export type BatchDecision = Pick<Decision, 'authorized' | 'reason' | 'matchedPermission'>;

/** A decision with the explanation of its reason (authorization §10.1). */
export interface ExplainedDecision extends Decision {
  readonly explanation?: Explanation;
}

export interface Explanation {
  readonly subject: { readonly type: string; readonly id: string };
  readonly scope: { readonly tenant: string; readonly id: string };
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  readonly candidates: readonly {
    readonly permissionId: string;
    readonly roleId: string;
    readonly groupId: string;
    readonly result: 'unconditional' | 'met' | 'notMet';
    readonly failedAt?: {
      readonly operator: string;
      readonly path: string;
      readonly actual?: unknown;
      readonly expected?: unknown;
      readonly outcome: 'false' | 'unknown';
    };
  }[];
  readonly nearest: readonly Readonly<Record<string, unknown>>[];
  readonly unknown?: { readonly part: 'resource' | 'action'; readonly nearest?: string };
}

/** The effective permissions of a subject in a scope. `version` changes whenever they change. */
export interface HeldPermissions {
  readonly version: string;
  readonly permissions: readonly {
    readonly resource: string;
    readonly action: string;
    readonly conditional: boolean;
  }[];
}

/** A subject that has a permission, and why. */
export interface AllowedSubject {
  readonly subject: { readonly type: 'user'; readonly id: string };
  readonly reason: DecisionReason;
  readonly matchedPermission: MatchedPermission;
}

export interface VerifyOptions extends CallOptions {
  /** Default: `['ApiKey', 'projectApp']`. Sessions are accepted only if they are listed. */
  readonly types?: readonly TokenType[] | undefined;
  /** Default: the client's `url`. A resource server passes its own URI, one of the app's `resources`. */
  readonly audience?: string | undefined;
  /** If true, asks the service whether the key, session and user still exist. */
  readonly live?: boolean | undefined;
  /**
   * The project whose tokens are accepted, as a scope of its owner. Default: the client's scope. Tokens for customers
   * who use the project through a grant have the same issuer, and are refused with `TOKEN_SCOPE` unless `anyCustomer`
   * is true.
   */
  readonly scope?: Scope | undefined;
  /**
   * If true, also accepts tokens for any customer who uses the project through a grant. The application must then take
   * the customer from the principal's `scope`, and use that scope for its checks and data.
   */
  readonly anyCustomer?: boolean | undefined;
}

/** State of the local copy of the policy. */
export interface LocalState {
  readonly status: 'loading' | 'fresh' | 'stale' | 'off';
  readonly version: string | null;
  readonly sequence: number | null;
  /**
   * Age of the policy in milliseconds, counted from sending the request whose response last confirmed it. Measured by
   * the monotonic and the system clock; the longer time counts.
   */
  readonly ageMs: number | null;
  readonly bytes: number;
}

export interface LocalOptions {
  /** Older data is not used for decisions. Default 5000, 1000..60000. */
  readonly maxStalenessMs?: number | undefined;
  /**
   * How questions are decided while the data is too old. `'remote'` (default): by the service. `'deny'`: they are
   * refused with the reason `STALE`.
   */
  readonly onStale?: 'remote' | 'deny' | undefined;
  /** The users that the local policy contains: `'all'` (default), `'none'`, or at most 100 ids. */
  readonly users?: 'all' | 'none' | readonly string[] | undefined;
  /** Default 256. A larger policy is not loaded; the service then decides all questions. */
  readonly maxMemoryMb?: number | undefined;
}

/** A function like the platform's `fetch`. The client calls it with a string and plain options. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Options of `createDoorward`; see packages §2. */
export interface DoorwardOptions {
  /** The service's address, its setting `APP_URL`. Default: the environment variable `DOORWARD_URL`. */
  readonly url?: string | undefined;
  /** Default: `DOORWARD_CLIENT_ID`. */
  readonly clientId?: string | undefined;
  /** Default: `DOORWARD_CLIENT_SECRET`. */
  readonly clientSecret?: string | undefined;
  /** A token to use instead of an API key, or a function that returns one. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** The scope of calls that don't name a scope. Default: `DOORWARD_SCOPE`, written `<tenant>:<id>`. */
  readonly scope?: Scope | undefined;
  /** Allows http to hosts other than loopback. Tokens are then sent unencrypted. */
  readonly allowHttp?: boolean | undefined;
  /** Time limit of one attempt. Default 5000, 100..120000. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of all attempts of a call together. Default 15000, 100..120000. */
  readonly deadlineMs?: number | undefined;
  /** How often a call is retried. Default 2, 0..10. */
  readonly retries?: number | undefined;
  /** If `Retry-After` is longer than this, the call throws immediately. Default 10000, 0..120000. */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * The result of questions during an outage. `'throw'` (default): they throw. `'deny'`: they are refused with the
   * reason `UNAVAILABLE`.
   */
  readonly onUnavailable?: 'throw' | 'deny' | undefined;
  /** Default `'ownWrites'`: decisions take the changes of this client into account. */
  readonly consistency?: 'ownWrites' | 'any' | undefined;
  /** Default 5, 0..60. */
  readonly clockToleranceSeconds?: number | undefined;
  /** Decides in this process (packages §8.3). */
  readonly local?: boolean | LocalOptions | undefined;
  readonly hooks?: Hooks | undefined;
  readonly fetch?: Fetch | undefined;
  /** `Accept-Language`, the language of error messages. */
  readonly language?: string | undefined;
}
