import type { ScopeRef } from './scope.ts';

/**
 * What a mutation leaves behind beside its change: one audit entry and its events, in the same transaction.
 * A CRUD mutation says nothing at all (`emits` is enough); others describe themselves with `record`.
 */

/** `{field: {from, to}}` of public fields that an update changed. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** The tenant node that an entry belongs to, and how it is shown. */
export interface NodeRef {
  readonly id: string;
  readonly scope: ScopeRef | { readonly tenant: 'installation'; readonly id: string };
  /**
   * Written down even if the node is deleted, because it tells of the deletion or of a person rather than of the
   * node's rows. Without it, a mutation whose node was deleted meanwhile fails, so that it leaves no live row behind.
   */
  readonly evenDeleted?: true;
}

/** Who did it. */
export interface Actor {
  readonly type: 'user' | 'apiKey' | 'projectApp' | 'system' | 'anonymous';
  readonly id: string | null;
  readonly userId: string | null;
  readonly name: string | null;
}

export interface Recording {
  /** Absent: the caller. Sign-in and exchange name who their credentials belong to. */
  readonly actor?: Actor | undefined;
  /** Absent: the node of the call's scope. */
  readonly node?: NodeRef | undefined;
  /** Event name (`noun.past_tense`); absent: no event, audit only. */
  readonly event?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly changes?: Changes | null | undefined;
  readonly target?: { readonly type: string; readonly id: string } | null | undefined;
  readonly outcome?: 'success' | 'denied' | 'failed' | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}
