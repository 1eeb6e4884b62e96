/**
 * What a client reports about its calls, for logs, metrics and traces. No event contains a token, a secret, a context or
 * an id of a user. What a hook throws is ignored.
 */
export interface Hooks {
  /**
   * Before an attempt. Returned headers are added to it, for example `traceparent`; a hook cannot set
   * `authorization`.
   */
  readonly onRequest?: (event: RequestEvent) => Readonly<Record<string, string>> | void;
  /** After each attempt, whether it was answered or not. */
  readonly onResponse?: (event: ResponseEvent) => unknown;
  /** Before the wait for the next attempt. */
  readonly onRetry?: (event: RetryEvent) => unknown;
  /** After each decision, local or not. */
  readonly onDecision?: (event: DecisionEvent) => unknown;
  /** After each read of the local policy, and when local decisions are switched off. */
  readonly onSnapshot?: (event: SnapshotEvent) => unknown;
}

export interface RequestEvent {
  /** Number of the call: equal in all its events, and different for each call of the client. */
  readonly id: number;
  /** Name of the operation; for a request of `http` its method. */
  readonly operation: string;
  /** From 1. */
  readonly attempt: number;
  /** Since the call began. */
  readonly durationMs: number;
}

export interface ResponseEvent extends RequestEvent {
  readonly status?: number;
  /** Of a failure. */
  readonly code?: string;
}

export interface RetryEvent extends ResponseEvent {
  readonly waitMs: number;
}

export interface DecisionEvent {
  /** `check`, `checkMany`, `explain`. */
  readonly operation: string;
  readonly durationMs: number;
  /** Decided in this process. */
  readonly local: boolean;
  readonly authorized?: boolean;
  /** Absent if no decision was made; then `code` is there. */
  readonly reason?: string;
  readonly code?: string;
  /** Why a client with `local` asked the service. */
  readonly fallback?: FallbackReason;
}

/** Why the service decides a question of a client with `local`. */
export type FallbackReason =
  /** No snapshot has come yet. */
  | 'loading'
  /** The policy is older than `maxStalenessMs`. */
  | 'stale'
  /** The service refuses snapshots, or the policy is too large for this process. */
  | 'off'
  /** The question names another scope. */
  | 'scope'
  /** Only the service can judge the token, for example that of a new key. */
  | 'token'
  /** The user is outside of the option `users`. */
  | 'user'
  /** The key is limited to networks, and the address of the caller is missing or malformed. */
  | 'address'
  /** The context is beyond the bounds of authorization §7.1, or JSON cannot carry it. */
  | 'context'
  /** The policy does not yet contain a change that the answer must contain. */
  | 'ownWrite'
  /** Only the service explains decisions. */
  | 'explain'
  /** The client is closed. */
  | 'closed';

export interface SnapshotEvent {
  /** `refused`: the document was not valid, and the policy stays as it was. `failed`: there was no answer. */
  readonly kind: 'loaded' | 'changed' | 'unchanged' | 'refused' | 'failed' | 'off';
  readonly durationMs: number;
  readonly bytes?: number;
  readonly sequence?: number;
  /** Of a refused document or a failed request: a code, never the content. */
  readonly why?: string;
}
