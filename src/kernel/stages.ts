import type { Authentication, Call, CallerRights, Principal, Services } from './context.ts';
import type { Recording } from './event.ts';
import type { NamedOperation, RateClass } from './operation.ts';
import type { RelatedAccess, RowFilter, SelectedRelation } from './related.ts';
import type { Rehearsed } from './reply.ts';
import type { ResolvedScope, ScopeInput } from './scope.ts';
import type { Executor, ScopedDb } from './scoped-db.ts';

/** What `invoke` asks of the layers above the kernel, step by step; `src/app.ts` puts it together. */
/** A scope that exists, and what the caller holds there. */
export interface Found {
  readonly scope: ResolvedScope;
  readonly rights: CallerRights;
}

export interface Stages {
  readonly services: Services;
  /** Who calls, once nothing cached is older than the revision: sessions and keys, scopes, rights. */
  reach(revision: string, call: Call): Promise<Authentication> | Authentication;
  limit(cls: RateClass, key: string, call: Call, points?: number): Promise<void> | void;
  admit: Admit;
  /** Notes that a caller belongs to a scope: from now on their calls there wait with those of its owner. */
  belongs(principal: Principal, asked: ScopeInput, found: Found): void;
  /** The answer of `resolve` from memory; undefined when it, or the rights of `userId`, must be loaded. */
  peek(principal: Principal, scope: ScopeInput, userId?: string): Found | null | undefined;
  /** Resolves a scope and loads what the caller holds there; null when the scope does not exist for anyone. */
  resolve(principal: Principal, scope: ScopeInput): Promise<Found | null> | Found | null;
  guard: Guard;
  /** Statements of the service, on any connection. */
  readonly pool: Executor;
  /** Row-level security (src/db/rls.ts): reads in a scope, or as the service without one; and work in a transaction. */
  read<T>(scope: ResolvedScope | undefined, work: (tx: Executor) => Promise<T>): Promise<T>;
  within<T>(tx: Executor, scope: ResolvedScope | undefined, work: () => Promise<T>): Promise<T>;
  /** Before a change that may give rights; after it, ends what must not have them, and answers what to record of that. */
  watchGains(
    tx: Executor,
    scope: ResolvedScope,
  ): Promise<(touch: (topic: string) => void) => Promise<readonly Recording[]>>;
  scopedDb(
    tx: Executor,
    scope: ResolvedScope,
    op: NamedOperation,
    notes: MutationNotes,
    principal: Principal | null,
    related: RelatedAccess,
  ): ScopedDb;
  readonly transaction: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;
  /** Null when the call has no `Idempotency-Key` or the operation takes none. @throws VALIDATION_ERROR */
  once(op: NamedOperation, call: Call): Once | null;
  /** Makes a change, takes it back, and tells what it would do to rights; the answer of a dry run. */
  rehearse(op: NamedOperation, at: Trial, change: (tx: Executor) => Promise<unknown>): Promise<Rehearsed>;
  /** Commits the work with what it notes: audit entry, events, stale topics; answers when every cache is told. */
  commit<T>(
    transaction: Stages['transaction'],
    op: NamedOperation,
    by: Recorded,
    notes: MutationNotes,
    work: (tx: Executor) => Promise<T>,
  ): Promise<T>;
}

/** Where a dry run takes place, the row that it names, and what the change noted by then. */
export interface Trial {
  readonly scope: ResolvedScope;
  readonly targetId: string | undefined;
  readonly notes: MutationNotes;
}

/** Who did it, and where. */
export interface Recorded {
  readonly scope: ResolvedScope | undefined;
  readonly principal: Principal | null;
  readonly call: Call;
  /** Absent where there is no caller to check: public operations and jobs. */
  readonly caller?: CallerCheck | undefined;
}

/**
 * Starts to watch before a caller is checked, for the first time or again. The returned function says whether they must
 * be checked (once more).
 */
export type WatchCaller = (
  isAgain?: boolean,
) => (principal: Principal, scope: ResolvedScope | undefined) => boolean;

/** Whether the caller of a mutation that waited may still do it. */
export interface CallerCheck {
  readonly isDue: () => boolean;
  /** Outside of the transaction, which may hold the only connection. @throws as the call would if it came now */
  readonly askAgain: () => Promise<void>;
}

/** Lets the request work with what is scarce, when its turn comes; answers whether it waited. @throws UNAVAILABLE */
export type Admit = (
  op: NamedOperation,
  input: object,
  call: Call,
  principal: Principal | null,
) => Promise<boolean> | boolean;

/** Performs a mutation in the transaction that it hands over, or gives the answer kept of it (conventions §9). */
export type Once = (
  input: Readonly<Record<string, unknown>>,
  by: Recorded,
  perform: (transaction: Stages['transaction']) => Promise<unknown>,
) => Promise<unknown>;

/** The refusing side of access; `false` from `permit` means that only a condition can decide. */
export interface Guard {
  readonly watch: WatchCaller;
  enter(op: NamedOperation, principal: Principal, found: Found | null): void;
  permit(op: NamedOperation, rights: CallerRights): boolean;
  gates(op: NamedOperation, principal: Principal, found: Found | null): void;
  permitRow(op: NamedOperation, rights: CallerRights, attributes: Record<string, unknown> | null): void;
  /** Which rows of a relation the caller is shown. @throws FORBIDDEN if they hold no right to any */
  permitRelated(selected: SelectedRelation, rights: CallerRights): RowFilter;
}

/** What one mutation notes down while it runs. */
export interface MutationNotes {
  readonly recordings: Recording[];
  readonly topics: Set<string>;
  readonly afterCommit: (() => void | Promise<void>)[];
  changes?: Recording['changes'];
  /** Set when the mutation turned out to change nothing. */
  unchanged?: boolean;
  /** Which state the mutation made, for callers who later ask for one at least as new. */
  revision?: string;
}

export const noNotes = (): MutationNotes => ({ recordings: [], topics: new Set(), afterCommit: [] });
