import type { TestApp } from '../support/app.ts';
import type { Answer, Via } from '../support/client.ts';
import { actOf } from './acts.ts';
import type { Attempt, Question } from './case-file.ts';
import type { Answered, Outcome } from './pure.ts';
import type { StandingWorld } from './standing-world.ts';
import { readWhere } from './world-names.ts';

/** The same cases against the running service, over one transport. */

export async function decideOver(
  via: Via,
  app: TestApp,
  standing: StandingWorld,
  question: Question,
): Promise<Answered> {
  const { asks, askedBy, resource, who } = question;
  const at = asks.indexOf(':');
  const input = {
    scope: standing.scope(readWhere(standing.world, question.where)),
    permission: { resource: asks.slice(0, at), action: asks.slice(at + 1) },
    ...(resource === undefined ? {} : { context: { resource: standing.fill(resource) } }),
    ...(askedBy === undefined ? {} : { subject: { userId: standing.person(who ?? '') } }),
  };
  const token = standing.token(askedBy === undefined ? question : { who: askedBy });
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
  standing: StandingWorld,
  attempt: Attempt,
): Promise<Outcome> {
  const { act, what } = actOf(attempt.tries);
  const named = readWhere(standing.world, attempt.where);
  const where = act.where?.(named, what) ?? named;
  const input = { scope: standing.scope(where), ...act.input(standing, where, what) };
  return outcomeOf(await app.raw(act.operation, input, { via, token: standing.token(attempt) }));
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
