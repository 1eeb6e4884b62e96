import { checkAccess, createCallerCheck, assertRowPermitted } from './call/access.ts';
import { applies } from './call/applies.ts';
import { authenticatedPrincipal } from './call/authenticated.ts';
import { runSteps, type Steps } from './call/run-steps.ts';
import { mutate } from './call/mutation.ts';
import { inTurn } from './call/turns.ts';
import {
  contextOf,
  createCallState,
  loadTarget,
  projected,
  type CallState,
  type TransportState,
} from './call/state.ts';
import { chargeFor } from './charge.ts';
import type { Authentication, Call } from './context.ts';
import { parseInput } from './input/validate.ts';
import type { CallInput, NamedOperation } from './operation.ts';
import type { Stages } from './stages.ts';

/** Makes a call. Returns or throws synchronously if it does not have to wait. */
export type Invoke = (op: NamedOperation, raw: unknown, call: Call, transport?: TransportState) => unknown;

/**
 * Every call goes through the same stages, for every transport (conventions §4), and the first failing stage refuses
 * it. The stages: authenticate → validate → limit → admit → scope → kind of token → permission → session gates → target
 * → condition → transaction{ run → audit entry + events } → answer after the commit.
 *
 * The layers above the kernel implement the stages (`Stages`).
 */
export function createInvoke(stages: Stages): Invoke {
  return (op, raw, call, transport) => runSteps(stepsOf(stages, op, raw, call, transport));
}

function* stepsOf(
  stages: Stages,
  op: NamedOperation,
  raw: unknown,
  call: Call,
  transport: TransportState | undefined,
): Steps {
  const principal = authenticatedPrincipal(op, (yield authenticate(stages, op, raw, call)) as Authentication);
  const input = parseInput(op.schema, raw) as CallInput;
  const runOnce = stages.runOnce(op, call);
  const charge = transport?.isCharged ? null : chargeFor(op, input, call, principal, stages.services);
  if (charge) yield stages.limit(charge.cls, charge.key, call, charge.points);

  const state = createCallState(stages, op, call, transport, input, principal);
  const waited = !state.peeked && ((yield stages.admit(op, state.input, call, principal)) as boolean);
  const isGuardedMutation = op.kind === 'mutation' && op.access !== 'public';
  const waits = applies(op.waits, input);
  const caller = isGuardedMutation || waits ? createCallerCheck(state) : undefined;
  // The session or key may have ended while the call waited or its body was sent.
  if (waited || caller)
    state.principal = authenticatedPrincipal(op, (yield call.authenticate()) as Authentication);

  yield* checkAccess(state);
  state.scope = state.resolved?.scope;
  if (waits && !(call.slot.taken instanceof Promise)) call.slot.taken?.release();
  if (op.kind === 'mutation' || op.audited) return yield* mutate(state, caller, runOnce);
  if (waits) state.caller = caller;
  return projected(op, yield runQuery(state), transport?.selectsFields);
}

/** Returns the caller. If the input demands a revision, waits until the caches have reached it. */
function authenticate(
  stages: Stages,
  op: NamedOperation,
  raw: unknown,
  call: Call,
): Promise<Authentication> | Authentication {
  const { minRevision } = raw as { readonly minRevision?: unknown };
  return op.takesRevision && typeof minRevision === 'string'
    ? stages.awaitRevision(minRevision, call)
    : call.authentication;
}

/** The last stages of a query: target → condition → run. */
function runQuery(state: CallState): unknown {
  const { stages, op, scope, call } = state;
  if (op.fromMemory) {
    assertRowPermitted(state);
    return op.run(contextOf(state, undefined, undefined));
  }
  return inTurn(call.slot, async () => {
    call.work.assertNotExceeded();
    return stages.read(scope, async (tx) => {
      await loadTarget(state, tx);
      assertRowPermitted(state);
      return op.run(contextOf(state, undefined, tx));
    });
  });
}
