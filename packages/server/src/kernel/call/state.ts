import { fail } from '../../errors.ts';
import type { Call, CookieEffects, Principal } from '../context.ts';
import type { Recording } from '../event.ts';
import type { CallInput, NamedOperation } from '../operation.ts';
import { projector } from '../output/projector.ts';
import { BareReply } from '../output/reply.ts';
import type { RelatedAccess, SelectedRelation } from '../related.ts';
import { canonicalTenant, type ResolvedScope, type ScopeInput } from '../scope.ts';
import type { Executor } from '../scoped-db.ts';
import {
  createNotes,
  type CallerCheck,
  type MutationNotes,
  type ScopeAndRights,
  type Stages,
} from '../stages.ts';

/** State that a transport and a call exchange in addition to input and output. */
export interface TransportState {
  /** Set by the call: the resolved scope, and which related rows the caller may see in it. */
  scope?: ResolvedScope | undefined;
  relatedAccess?: RelatedAccess;
  /**
   * True if the transport itself selects the fields of the output schema, so that the output of a query need not be
   * copied.
   */
  readonly selectsFields?: boolean;
  /** Relations that the transport will read. The call is refused if the caller may not see their rows. */
  readonly relations?: readonly SelectedRelation[];
  /** Whether the transport has already counted the call in its operation's rate class. */
  readonly isCharged?: boolean;
}

/** A call on its way through the stages of `invoke`. */
export interface CallState {
  readonly stages: Stages;
  readonly op: NamedOperation;
  readonly call: Call;
  readonly transport: TransportState | undefined;
  /** The parsed input; `scope` is set if the call has one. */
  readonly input: CallInput;
  principal: Principal | null;
  /** The scope as requested; undefined for an operation without a scope. */
  readonly requestedScope: ScopeInput | undefined;
  /** Cached rights for the first check; undefined if the check must resolve them. */
  peeked: ScopeAndRights | null | undefined;
  /** Checks the caller again in an operation that waits. */
  caller: CallerCheck | undefined;
  /** The caller's current rights; null without a scope. */
  resolved: ScopeAndRights | null;
  /** The scope as resolved by the first check. It stays the same when the caller is checked again. */
  scope: ResolvedScope | undefined;
  /** Whether the permission could be decided without the target row; if not, `assertRowPermitted` decides later. */
  isDecided: boolean;
  readonly relatedAccess: RelatedAccess;
  /** The row that the path names. */
  target: Record<string, unknown> | undefined;
  readonly notes: MutationNotes;
}

export function createCallState(
  stages: Stages,
  op: NamedOperation,
  call: Call,
  transport: TransportState | undefined,
  parsed: CallInput,
  principal: Principal | null,
): CallState {
  const requestedScope = op.scoped && principal ? requestedScopeOf(op, principal, parsed.scope) : undefined;
  const input =
    requestedScope && requestedScope !== parsed.scope ? { ...parsed, scope: requestedScope } : parsed;
  const state: CallState = {
    stages,
    op,
    call,
    transport,
    input,
    principal,
    requestedScope,
    peeked: peekRights(stages, op, input, principal, requestedScope),
    caller: undefined,
    resolved: null,
    scope: undefined,
    isDecided: true,
    relatedAccess: {
      filterOf: (selected) =>
        state.resolved ? stages.guard.permitRelated(selected, state.resolved.rights, call.work) : null,
      budget: call.budget,
    },
    target: undefined,
    notes: createNotes(),
  };
  return state;
}

/** The scope of the input. A token that is limited to one scope may omit it if the operation allows that. */
function requestedScopeOf(
  op: NamedOperation,
  principal: Principal,
  scope: ScopeInput | undefined,
): ScopeInput {
  const requested = scope ?? (op.scopeOptional ? principal.pinned : null);
  if (!requested) {
    const inQuery = op.method === 'GET' || op.method === 'DELETE';
    const [place, fix] = inQuery
      ? ['scopeId and tenant in the query', 'Add ?tenant=<tenant>&scopeId=<id> to the address']
      : ['scope in the body', 'Add "scope": {"tenant": <tenant>, "id": <id>} to the body'];
    throw fail('SCOPE_REQUIRED', { params: { place }, fix: `${fix} (GraphQL: input.scope).` });
  }
  const tenant = canonicalTenant(requested.tenant);
  if (op.tenants && !op.tenants.includes(tenant)) {
    throw fail('TENANT_NOT_ALLOWED', { params: { tenant }, fix: `Use one of: ${op.tenants.join(', ')}.` });
  }
  return requested;
}

/** Returns the caller's rights if everything that the check needs is cached, so that the check does not wait. */
function peekRights(
  stages: Stages,
  op: NamedOperation,
  input: CallInput,
  principal: Principal | null,
  requestedScope: ScopeInput | undefined,
): ScopeAndRights | null | undefined {
  if (!requestedScope || !principal || op.rate !== 'check' || !op.fromMemory) return undefined;
  const needs = op.fromMemory === true ? undefined : op.fromMemory(input, principal);
  if (needs === 'rows') return undefined;
  return stages.peek(principal, requestedScope, needs?.userId);
}

const scopedDbOf = ({ stages, scope, op, notes, principal, relatedAccess }: CallState, tx: Executor) =>
  scope && stages.scopedDb(tx, scope, op, notes, principal, relatedAccess);

/** The target's id in the path; undefined if the path has none. */
export const targetIdOf = ({ op, input }: CallState): string | undefined =>
  op.pathParameter && (input[op.pathParameter] as string);

/** Whether `loadTarget` has a row to load. */
export const hasTarget = (state: CallState): boolean =>
  state.op.target !== undefined && Boolean(targetIdOf(state));

/** Loads the row that the path names, if the operation declares a target. @throws NOT_FOUND */
export async function loadTarget(state: CallState, tx: Executor): Promise<void> {
  const id = targetIdOf(state);
  if (state.op.target && id) state.target = await scopedDbOf(state, tx)?.get(state.op.target, id);
}

/**
 * Builds the argument of `run` and `prepare` as one literal without accessors: getters would create a hidden class per
 * call.
 */
export function contextOf(state: CallState, prepared: unknown, tx: Executor | undefined): never {
  const { stages, input, call, principal, scope, target, notes } = state;
  // Each operation declares the type of its own argument, but `Operation` no longer contains that type.
  return {
    input,
    call,
    principal,
    scope,
    db: tx && scopedDbOf(state, tx),
    rights: state.resolved?.rights,
    target,
    prepared,
    services: stages.services,
    tx,
    read: <T>(work: (tx: Executor) => Promise<T>) => stages.read(scope, work),
    record: (recording: Recording) => void notes.recordings.push(recording),
    unchanged: () => void (notes.unchanged = true),
    invalidate: (...topics: string[]) => topics.forEach((topic) => notes.topics.add(topic)),
    assertStillPermitted: async () => state.caller?.checkAgain(),
    setCookies: (cookies: CookieEffects) => void Object.assign(notes.cookies, cookies),
    afterCommit: (work: () => void | Promise<void>) => void notes.afterCommit.push(work),
  } as never;
}

/** Keeps only the members that the output schema names, unless the transport selects fields itself. */
export const projected = (op: NamedOperation, value: unknown, selectsFields = false): unknown =>
  selectsFields || value instanceof BareReply ? value : projector(op.output)(value);
