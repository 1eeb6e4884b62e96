/*
 * The audit entry and events that a mutation records in the transaction of its change. For a CRUD mutation they are
 * derived from `emits` and the output; other mutations call `record`.
 */

import type { ScopeRef } from './scope.ts';

/** `{field: {from, to}}` of public fields that an update changed. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** The tenant node that an entry belongs to, and the scope that the entry shows for it. */
export interface NodeRef {
  readonly id: string;
  readonly scope: ScopeRef;
  /**
   * Record even if the node is deleted, because the entry is about the deletion or about a person, not about rows of
   * the node. Without this, a mutation fails if its node was deleted in the meantime, so that no live row remains.
   */
  readonly evenDeleted?: true;
}

/** The user, key, app or system that made the change. */
export interface Actor {
  readonly type: 'user' | 'apiKey' | 'projectApp' | 'system' | 'anonymous';
  readonly id: string | null;
  readonly userId: string | null;
  readonly name: string | null;
  /** The operator who acted for the user. */
  readonly impersonator?: { readonly id: string; readonly name: string | null };
}

export interface Recording {
  /** Default: the caller. Sign-in and exchange record the owner of the credentials. */
  readonly actor?: Actor | undefined;
  /** Default: the node of the call's scope. */
  readonly node?: NodeRef | undefined;
  /** Event name (`noun.past_tense`). If it is absent, no event is published. */
  readonly event?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly changes?: Changes | null | undefined;
  readonly target?: { readonly type: string; readonly id: string } | null | undefined;
  readonly outcome?: 'success' | 'denied' | 'failed' | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Also write an audit entry to the log of `node`. The first recording of a mutation always gets an audit entry. Set
   * this if a change belongs in two logs, such as an operator's change, or in the log of another tenant. Readers of
   * that log do not see the caller's address and browser.
   */
  readonly audited?: true;
}
