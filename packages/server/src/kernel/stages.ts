import type { Authentication, Call, CookieEffects, Principal } from './context.ts';
import type { CallerRights } from './call/caller-rights.ts';
import type { Recording } from './event.ts';
import type { CallInput, NamedOperation, RateClass } from './operation.ts';
import type { RelatedAccess, RowFilter, SelectedRelation } from './related.ts';
import type { DryRunResult } from './output/reply.ts';
import type { RequestWork } from './request-work.ts';
import type { ResolvedScope, ScopeInput } from './scope.ts';
import type { Executor, ScopedDb } from './scoped-db.ts';

/** An existing scope and the rights of the caller there. */
export interface ScopeAndRights {
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
}

/** The functions that `invoke` needs from the layers above the kernel; `src/app.ts` assembles them. */
export interface Stages {
  /** Passed on to the operations, which know their type. */
  readonly services: unknown;
  /** Authenticates again after every cache (sessions, keys, scopes, rights) is at least as new as the revision. */
  awaitRevision(revision: string, call: Call): Promise<Authentication> | Authentication;
  limit(cls: RateClass, key: string, call: Call, points?: number): Promise<void> | void;
  admit: Admit;
  /** Remembers that a caller belongs to a scope, so that their later calls there count towards the owner's share. */
  noteMembership(principal: Principal, requested: ScopeInput, scopeAndRights: ScopeAndRights): void;
  /** The result of `resolve` from memory; undefined if it, or the rights of `userId`, must be loaded. */
  peek(principal: Principal, scope: ScopeInput, userId?: string): ScopeAndRights | null | undefined;
  /** Resolves a scope and loads the rights of the caller there; null if the scope does not exist. */
  resolve(principal: Principal, scope: ScopeInput): Promise<ScopeAndRights | null> | ScopeAndRights | null;
  /** Records that an operator who acts for a user enters an organization. */
  noteEntry(principal: Principal, scope: ResolvedScope): Promise<void> | void;
  /** Records that an owner enters an organization without its identity provider. */
  noteBypass(principal: Principal, scope: ResolvedScope): Promise<void> | void;
  /**
   * Resolves a granted scope for questions of the project's owner. The caller gets only the right to ask. Null unless
   * the caller has this right in the project's own scope.
   */
  resolveAsOwner(principal: Principal, scope: ScopeInput): Promise<ScopeAndRights | null>;
  guard: Guard;
  /** Statements of the service itself, on any connection. */
  readonly pool: Executor;
  /** Reads under the row-level security of the scope (src/db/tenancy/rls.ts), or as the service without a scope. */
  read<T>(scope: ResolvedScope | undefined, work: (tx: Executor) => Promise<T>): Promise<T>;
  /** Does work in an open transaction under the row-level security of the scope. */
  within<T>(tx: Executor, scope: ResolvedScope | undefined, work: () => Promise<T>): Promise<T>;
  /**
   * Called before a change that may add permissions. Call the returned function after the change: it ends the keys that
   * must not have the new permissions, and returns the recordings about these keys.
   */
  watchGainedPermissions(
    tx: Executor,
    scope: ResolvedScope,
  ): Promise<(invalidate: (topic: string) => void) => Promise<readonly Recording[]>>;
  scopedDb(
    tx: Executor,
    scope: ResolvedScope,
    op: NamedOperation,
    notes: MutationNotes,
    principal: Principal | null,
    related: RelatedAccess,
  ): ScopedDb;
  readonly transaction: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;
  /** A transaction that concurrent calls share. */
  readonly groupCommit: Stages['transaction'];
  /** Null if a repetition of the call would run again. @throws VALIDATION_ERROR for a malformed `Idempotency-Key` */
  runOnce(op: NamedOperation, call: Call): RunOnce | null;
  /** Makes a change, rolls it back, and returns how it would affect rights. */
  dryRun(
    op: NamedOperation,
    at: DryRunTarget,
    change: (tx: Executor) => Promise<unknown>,
  ): Promise<DryRunResult>;
  /**
   * Commits the work with its audit entry and events; resolves when every cache has been notified of the stale topics.
   */
  commit<T>(
    transaction: Stages['transaction'],
    op: NamedOperation,
    by: MutationOrigin,
    notes: MutationNotes,
    work: (tx: Executor) => Promise<T>,
  ): Promise<T>;
}

/** The caller and the scope of a dry run, the row that the call names, and what the change has noted. */
interface DryRunTarget {
  readonly principal: Principal | null;
  readonly rights: CallerRights | undefined;
  readonly scope: ResolvedScope;
  readonly targetId: string | undefined;
  readonly notes: MutationNotes;
}

/** The caller of a mutation, and its scope. */
export interface MutationOrigin {
  readonly scope: ResolvedScope | undefined;
  readonly principal: Principal | null;
  readonly call: Call;
  /** Absent where there is no caller to check: public operations and jobs. */
  readonly caller?: CallerCheck | undefined;
}

/**
 * Called before a caller is checked, for the first time or again. The returned function says whether a change since
 * then makes another check necessary.
 */
export type WatchCaller = (
  isAgain?: boolean,
) => (principal: Principal, scope: ResolvedScope | undefined) => boolean;

/** Checks whether the caller of an operation that waited may still call it. */
export interface CallerCheck {
  readonly isDue: () => boolean;
  /** Runs outside the transaction, which may hold the only connection. @throws the error that the call would get now */
  readonly checkAgain: () => Promise<void>;
}

/** Waits for a request slot; returns whether the request waited. @throws UNAVAILABLE */
export type Admit = (
  op: NamedOperation,
  input: CallInput,
  call: Call,
  principal: Principal | null,
) => Promise<boolean> | boolean;

/** Passes `perform` a transaction and calls it, or replays the stored answer (conventions §9, identity §12). */
export type RunOnce = (
  input: Readonly<Record<string, unknown>>,
  by: MutationOrigin,
  perform: (transaction: Stages['transaction']) => Promise<unknown>,
  notes: Pick<MutationNotes, 'cookies'>,
) => Promise<unknown>;

interface Entrance {
  /** The caller's address, because operators may be bound to networks. */
  readonly address: string;
  /** Whether the call concerns the caller alone, and so needs no permission. */
  readonly isSelfService: boolean;
}

/** Refuses calls that the caller may not make; `permit` returns false if the decision depends on a condition. */
export interface Guard {
  readonly watch: WatchCaller;
  /** Whether the caller does not belong to the scope. */
  isOutside(scopeAndRights: ScopeAndRights): boolean;
  /** @throws FORBIDDEN, NOT_FOUND, SUSPENDED */
  assertCanEnter(op: NamedOperation, scopeAndRights: ScopeAndRights | null, by: Entrance): void;
  permit(op: NamedOperation, rights: CallerRights): boolean;
  /**
   * Returns true for an owner with two factors, who may enter without the identity provider that the organization
   * requires.
   *
   * @throws SSO_REQUIRED
   */
  assertConnected(principal: Principal, scopeAndRights: ScopeAndRights): boolean;
  assertSessionGates(op: NamedOperation, principal: Principal, scopeAndRights: ScopeAndRights | null): void;
  permitRow(
    op: NamedOperation,
    rights: CallerRights,
    attributes: Record<string, unknown> | null,
    work: RequestWork,
  ): void;
  /** Which rows of a relation the caller may see. @throws FORBIDDEN if they may see none */
  permitRelated(selected: SelectedRelation, rights: CallerRights, work: RequestWork): RowFilter;
}

/** The notes of a running mutation: audit entry, events, stale topics, cookies, work after the commit. */
export interface MutationNotes {
  readonly recordings: Recording[];
  readonly topics: Set<string>;
  readonly afterCommit: (() => void | Promise<void>)[];
  /** The cookies of the answer. They are not set if the transaction is rolled back. */
  cookies: CookieEffects;
  changes?: Recording['changes'];
  /** True if the mutation changed nothing. */
  unchanged?: boolean;
  /** The revision that the mutation created; a later call may ask for a state at least as new. */
  revision?: string;
}

export const createNotes = (): MutationNotes => ({
  recordings: [],
  topics: new Set(),
  afterCommit: [],
  cookies: {},
});
