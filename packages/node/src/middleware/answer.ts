/* The refusals of a guard, as data. An adapter only copies them into its framework's response. */

import type { ErrorDetail } from '../contracts/errors.ts';

/** The error envelope of the service (conventions §2). */
export interface AnswerBody {
  readonly error: string;
  readonly code: string;
  readonly requestId: string;
  readonly reason?: string;
  readonly details?: readonly ErrorDetail[];
}

/** A refusal. It contains nothing from the token, the context or the application's credential. */
export class Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AnswerBody;

  constructor(status: number, headers: Readonly<Record<string, string>>, body: AnswerBody) {
    this.status = status;
    this.headers = { 'Cache-Control': 'no-store', 'X-Request-Id': body.requestId, ...headers };
    this.body = body;
  }
}

/** Creates the refusals of one request. */
export interface Refusals {
  /** `problem` says what is wrong with the token; absent if there was no token. */
  unauthenticated(problem?: 'invalid' | 'expired'): Answer;
  forbidden(reason: string | undefined, code?: string, message?: string): Answer;
  notFound(): Answer;
  badRevision(): Answer;
  unavailable(retryAfterMs?: number): Answer;
}

const challenges = {
  none: 'Bearer',
  invalid: 'Bearer error="invalid_token"',
  expired: 'Bearer error="invalid_token", error_description="expired"',
} as const;

/** How long callers should wait if the service did not say. */
const RETRY_AFTER_MS = 5000;

/** Creates the refusals of one request. They contain `requestId` if it is valid (conventions §12), else a new id. */
export function refusalsOf(requestId: string | null | undefined): Refusals {
  const id = requestId && /^[A-Za-z0-9-]{8,64}$/.test(requestId) ? requestId : crypto.randomUUID();
  const envelope = (error: string, code: string): AnswerBody => ({ error, code, requestId: id });
  return {
    unauthenticated: (problem) =>
      new Answer(
        401,
        { 'WWW-Authenticate': challenges[problem ?? 'none'] },
        envelope('Sign in first, or send valid credentials.', 'UNAUTHENTICATED'),
      ),
    forbidden: (reason, code = 'FORBIDDEN', message = 'You may not do this.') =>
      new Answer(403, {}, { ...envelope(message, code), ...(reason === undefined ? {} : { reason }) }),
    notFound: () => new Answer(404, {}, envelope('Not found.', 'NOT_FOUND')),
    badRevision: () =>
      new Answer(
        400,
        {},
        {
          ...envelope('The request is not valid.', 'VALIDATION_ERROR'),
          details: [{ path: 'X-Doorward-Revision', code: 'format', message: 'This is not a revision.' }],
        },
      ),
    unavailable: (retryAfterMs = RETRY_AFTER_MS) =>
      new Answer(
        503,
        { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
        envelope('Temporarily not available.', 'UNAVAILABLE'),
      ),
  };
}
