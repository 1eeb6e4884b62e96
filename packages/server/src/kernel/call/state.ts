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

/** What a transport passes to a call besides its input, and reads besides its answer. */
export interface TransportState {
  /** Set by the call: the resolved scope, and which related rows the caller may see there. */
  scope?: ResolvedScope | undefined;
  relatedAccess?: RelatedAccess;
  /** The transport selects the fields of the output schema itself, so the answer of a query is not copied. */
  readonly selectsFields?: boolean;
  /** Relations that the transport will read; the call is refused first if the caller may not see their rows. */
  readonly relations?: readonly SelectedRelation[];
  /** Whether the transport has counted the call in the rate class of its operation. */
  readonly isCharged?: boolean;
}

/** One call on its way through the stages of `invoke`. */
export interface CallState {
  readonly stages: Stages;
  readonly op: NamedOperation;
  readonly call: Call;
  readonly transport: TransportState | undefined;
  /** Parsed; `scope` is set if the call has one. */
  readonly input: CallInput;
  principal: Principal | null;
  /** The scope of the call as requested; undefined for an operation without scope. */
  readonly requestedScope: ScopeInput | undefined;
  /** The rights from memory, for the first check if the operation may use them; else they are resolved. */
  peeked: ScopeAndRights | null | undefined;
  /** Checks the caller of an operation that waits. */
  caller: CallerCheck | undefined;
  /** The current rights of the caller; null without a scope. */
  resolved: ScopeAndRights | null;
  /** The scope of the first check; it stays when the caller is checked again. */
  scope: ResolvedScope | undefined;
  /** Whether the permission is decided without the row; if not, `assertRowPermitted` decides. */
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

/** The scope of the input; a pinned token may omit it if the operation allows that. */
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

/** The rights of the caller of a check, if everything that the check needs is in memory; it then waits for nothing. */
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

/** The id in the path; undefined if the path has none. */
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

/** The argument of `run` and `prepare`, in one literal without accessors: getters would create a hidden class per call. */
export function contextOf(state: CallState, prepared: unknown, tx: Executor | undefined): never {
  const { stages, input, call, principal, scope, target, notes } = state;
  // Each operation declares the type of its own argument, and `Operation` has forgotten it.
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

/** The members of an answer that the output schema names; all of them if the transport selects fields itself. */
export const projected = (op: NamedOperation, value: unknown, selectsFields = false): unknown =>
  selectsFields || value instanceof BareReply ? value : projector(op.output)(value);
