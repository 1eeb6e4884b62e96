import { evaluate } from '@doorward/decision/evaluate';
import { assertNoEscalation } from '../../src/access/delegation/escalation.ts';
import { DoorwardError } from '../../src/errors.ts';
import { actOf } from './acts.ts';
import type { Attempt, Question, World } from './case-file.ts';
import { rightsOf } from './model.ts';
import { pureId } from './role-graph.ts';
import { readWhere, withIds } from './world-names.ts';

/** Runs a case against the pure core alone, without a database or a transport. */

/** The answer to a question, with the members that a case expects. */
export interface Answered {
  readonly authorized: boolean;
  readonly reason: string;
  readonly permission?: string | undefined;
}

/** The result of an attempt. */
export interface Outcome {
  readonly result: string;
  readonly missing?: readonly string[] | undefined;
  readonly reason?: string | undefined;
}

export function decidePurely(world: World, question: Question): Answered {
  const { asks, caller, resource } = question;
  const { grants } = rightsOf(world, question, readWhere(world, question.where), caller !== undefined);
  const at = asks.indexOf(':');
  const decision = evaluate(grants, {
    resource: asks.slice(0, at),
    action: asks.slice(at + 1),
    attributes: withIds(resource ?? null, pureId),
  });
  const { authorized, reason, matchedPermission } = decision;
  return { authorized, reason, permission: matchedPermission?.name };
}

export function tryPurely(world: World, attempt: Attempt): Outcome {
  const { act, what } = actOf(attempt.tries);
  const named = readWhere(world, attempt.where);
  const where = act.where?.(named, what) ?? named;
  const { grants, projectGrants } = rightsOf(world, attempt, where);
  const [resource = '', action = ''] = act.permission.split(':');
  const decision = evaluate(grants, { resource, action, attributes: act.attributes?.(what) ?? null });
  if (!decision.authorized) return { result: 'FORBIDDEN', reason: decision.reason };
  try {
    for (const wanted of act.weighed({ world, subject: attempt, where }, what))
      assertNoEscalation(projectGrants, wanted);
    return { result: 'allowed' };
  } catch (error) {
    if (!(error instanceof DoorwardError)) throw error;
    return { result: error.code, missing: error.extras.details?.map(({ path }) => path) };
  }
}
