import type { Recording } from '../event.ts';
import type { NamedOperation } from '../operation.ts';
import { Refusal } from '../output/reply.ts';
import type { Executor } from '../scoped-db.ts';
import type { CallerCheck, MutationNotes, MutationOrigin, RunOnce, Stages } from '../stages.ts';
import { assertRowPermitted } from './access.ts';
import { applies } from './applies.ts';
import type { Steps } from './run-steps.ts';
import { contextOf, hasTarget, loadTarget, projected, targetIdOf, type CallState } from './state.ts';

/**
 * The last stages of a mutation: target → condition → dry run, or transaction{ run → audit entry + events } → answer.
 */
export function* mutate(state: CallState, caller: CallerCheck | undefined, runOnce: RunOnce | null): Steps {
  const { stages, op, call, input, scope, notes, principal } = state;
  if (hasTarget(state)) yield stages.read(scope, (tx) => loadTarget(state, tx));
  assertRowPermitted(state);
  if (op.dryRun && scope && input['dryRun'] === true) {
    const prepared = yield prepare(state);
    const target = { principal, rights: state.resolved?.rights, scope, targetId: targetIdOf(state), notes };
    return stages.dryRun(op, target, async (tx) => {
      const { output } = await change(state, tx, prepared);
      return output;
    });
  }
  const origin: MutationOrigin = { scope, principal, call, caller };
  const perform = (transaction: Stages['transaction']) => commitChange(state, origin, transaction);
  if (runOnce) return runOnce(input, origin, perform, notes);
  return perform(applies(op.groupCommit, input) ? stages.groupCommit : stages.transaction);
}

/** Runs `prepare` without a transaction, because long work must not hold a connection. */
const prepare = (state: CallState) =>
  state.op.prepare?.(contextOf(state, undefined, state.scope ? undefined : state.stages.pool));

/** Runs the operation in the transaction. `consequences` are to be recorded after the operation's own recordings. */
async function change(
  state: CallState,
  tx: Executor,
  prepared: unknown,
): Promise<{ readonly output: unknown; readonly consequences: readonly Recording[] }> {
  const { stages, op, scope, notes } = state;
  const mayAdd = op.permissionChange === 'additions';
  const endKeys = mayAdd && scope ? await stages.watchGainedPermissions(tx, scope) : undefined;
  const result = await stages.within(tx, scope, async () => op.run(contextOf(state, prepared, tx)));
  const consequences = (await endKeys?.((topic) => notes.topics.add(topic))) ?? [];
  return { output: result instanceof Refusal ? result : projected(op, result), consequences };
}

async function commitChange(
  state: CallState,
  origin: MutationOrigin,
  transaction: Stages['transaction'],
): Promise<unknown> {
  const { stages, op, call, notes } = state;
  const prepared = await prepare(state);
  const answer = await stages.commit(transaction, op, origin, notes, async (tx) => {
    const { output, consequences } = await change(state, tx, prepared);
    if (notes.recordings.length === 0 && !notes.unchanged && !(output instanceof Refusal)) {
      notes.recordings.push(derivedRecording(op, output as Record<string, unknown>, notes));
    }
    // After the recordings of the operation, because the first recording is its audit entry.
    notes.recordings.push(...consequences);
    return output;
  });
  Object.assign(call.effects, notes.cookies);
  // A refusal has no revision: it would reveal that something was written, and so that an address or a key exists.
  if (answer instanceof Refusal) throw answer.error;
  if (notes.revision) call.effects.headers['X-Doorward-Revision'] = notes.revision;
  return answer;
}

/** The recording of a CRUD mutation, which records nothing itself: its answer is the target and the event data. */
function derivedRecording(op: NamedOperation, out: Record<string, unknown>, notes: MutationNotes): Recording {
  const type = op.permissionNoun ?? null;
  const id = typeof out['id'] === 'string' ? out['id'] : null;
  const target = type && id ? { type, id } : null;
  return { event: op.emits, data: out, changes: notes.changes, target };
}
