import type { ScopeRef } from './scope.ts';

/**
 * A mutation records one audit entry and its events in the transaction of its change. For a CRUD mutation they are derived
 * from `emits` and the answer; other mutations call `record`.
 */

/** `{field: {from, to}}` of public fields that an update changed. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** The tenant node that an entry belongs to, and how it is shown. */
export interface NodeRef {
  readonly id: string;
  readonly scope: ScopeRef;
  /**
   * Recorded even if the node is deleted, because the entry is about the deletion or about a person, not about rows of
   * the node. Without this, a mutation whose node was deleted meanwhile fails, so that it leaves no live row.
   */
  readonly evenDeleted?: true;
}

/** The user, key, app or system that did it. */
export interface Actor {
  readonly type: 'user' | 'apiKey' | 'projectApp' | 'system' | 'anonymous';
  readonly id: string | null;
  readonly userId: string | null;
  readonly name: string | null;
  /** The operator who acted for the user. */
  readonly impersonator?: { readonly id: string; readonly name: string | null };
}

export interface Recording {
  /** Absent: the caller. Sign-in and exchange record the owner of the credentials. */
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
  /**
   * Also in the audit log of its node. The first recording of a mutation always is; this is for an act that is in two logs,
   * such as one of an operator, and for a log of another tenant, whose readers do not learn the address and browser of the
   * caller.
   */
  readonly audited?: true;
}
