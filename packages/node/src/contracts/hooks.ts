/**
 * Functions that a client calls to report its work, for logs, metrics and traces. Events never contain a token, a
 * secret, a context or the id of a user. Errors that a hook throws are ignored.
 */
export interface Hooks {
  /**
   * Called before each attempt. The headers that it returns, for example `traceparent`, are added to the request.
   * Headers that only the client sets, such as `authorization`, are ignored.
   */
  readonly onRequest?: (event: RequestEvent) => Readonly<Record<string, string>> | void;
  /** Called after each attempt, with or without a response. */
  readonly onResponse?: (event: ResponseEvent) => unknown;
  /** Called before the wait for the next attempt. */
  readonly onRetry?: (event: RetryEvent) => unknown;
  /** Called after each question, whether this process, the service or neither decided it. */
  readonly onDecision?: (event: DecisionEvent) => unknown;
  /** Called after each read of the local policy, and when local decisions are switched off. */
  readonly onSnapshot?: (event: SnapshotEvent) => unknown;
}

export interface RequestEvent {
  /** Number of the call: the same in all events of the call, and different for each call of the client. */
  readonly id: number;
  /** Name of the operation; for requests with `http`, the HTTP method. */
  readonly operation: string;
  /** Number of the attempt, starting at 1. */
  readonly attempt: number;
  /** Milliseconds since the call began. */
  readonly durationMs: number;
}

export interface ResponseEvent extends RequestEvent {
  readonly status?: number;
  /** Error code, if the attempt failed. */
  readonly code?: string;
}

export interface RetryEvent extends ResponseEvent {
  readonly waitMs: number;
}

export interface DecisionEvent {
  /** `check`, `checkMany`, `explain`, `decideLocally`. */
  readonly operation: string;
  readonly durationMs: number;
  /** Whether this process decided. */
  readonly local: boolean;
  readonly authorized?: boolean;
  /** Absent for `checkMany`. If no decision was made, it is absent and `code` is set. */
  readonly reason?: string;
  readonly code?: string;
  /** Why a client with `local` let the service decide. */
  readonly fallback?: FallbackReason;
}

/** Why the service decides a question although the client has `local`. */
export type FallbackReason =
  /** No snapshot has been loaded yet. */
  | 'loading'
  /** The policy is older than `maxStalenessMs`. */
  | 'stale'
  /** The service refuses snapshots, or the policy is too large for this process. */
  | 'off'
  /** The question names a scope other than the client's. */
  | 'scope'
  /** Only the service can judge the token, for example the token of a new key. */
  | 'token'
  /** The user is not in the option `users`. */
  | 'user'
  /** The key is limited to networks, and the caller's address is missing or malformed. */
  | 'address'
  /** The context exceeds the limits of authorization §7.1, or cannot be written as JSON. */
  | 'context'
  /** The policy does not yet contain a change that the decision must take into account. */
  | 'ownWrite'
  /** Explanations come only from the service. */
  | 'explain'
  /** The client is closed. */
  | 'closed';

export interface SnapshotEvent {
  /** `refused`: the document was invalid, so the policy stays as it was. `failed`: there was no document. */
  readonly kind: 'loaded' | 'changed' | 'unchanged' | 'refused' | 'failed' | 'off';
  readonly durationMs: number;
  readonly bytes?: number;
  readonly sequence?: number;
  /** Error code of a refused document or a failed request; never contains content. */
  readonly why?: string;
}
