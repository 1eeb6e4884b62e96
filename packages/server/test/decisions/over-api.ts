import type { TestApp } from '../support/app/app.ts';
import type { Answer, Via } from '../support/app/client.ts';
import { actOf } from './acts.ts';
import type { Attempt, Question } from './case-file.ts';
import type { Answered, Outcome } from './pure.ts';
import type { CaseWorld } from './case-world.ts';
import { readWhere } from './world-names.ts';

/** Runs a case against the running service, over one transport. */

export async function decideOver(
  via: Via,
  app: TestApp,
  caseWorld: CaseWorld,
  question: Question,
): Promise<Answered> {
  const { asks, caller, resource, who } = question;
  const at = asks.indexOf(':');
  const input = {
    scope: caseWorld.scope(readWhere(caseWorld.world, question.where)),
    permission: { resource: asks.slice(0, at), action: asks.slice(at + 1) },
    ...(resource === undefined ? {} : { context: { resource: caseWorld.fill(resource) } }),
    ...(caller === undefined ? {} : { subject: { userId: caseWorld.person(who ?? '') } }),
  };
  const token = caseWorld.token(caller === undefined ? question : { who: caller });
  const answer = await app.raw('isAuthorized', input, { via, token });
  if (!answer.ok) throw new Error(`isAuthorized over ${via} answered no decision: ${answer.body}`);
  const { authorized, reason, matchedPermission } = answer.data as Answered & {
    matchedPermission?: { name: string } | null;
  };
  return { authorized, reason, permission: matchedPermission?.name };
}

export async function tryOver(
  via: Via,
  app: TestApp,
  caseWorld: CaseWorld,
  attempt: Attempt,
): Promise<Outcome> {
  const { act, what } = actOf(attempt.tries);
  const named = readWhere(caseWorld.world, attempt.where);
  const where = act.where?.(named, what) ?? named;
  const input = { scope: caseWorld.scope(where), ...act.input(caseWorld, where, what) };
  return outcomeOf(await app.raw(act.operation, input, { via, token: caseWorld.token(attempt) }));
}

function outcomeOf({ ok, code, reason, details, body }: Answer): Outcome {
  if (ok) return { result: 'allowed' };
  if (code === null) throw new Error(`neither an answer nor an error: ${body}`);
  const missing = details.filter((detail) => detail.code === 'permission').map(({ path }) => path);
  return {
    result: code,
    ...(missing.length > 0 ? { missing } : {}),
    ...(reason === null ? {} : { reason }),
  };
}
