import type { z } from 'zod';
import { evaluate, locate, type Decision, type Question } from '../../access/evaluate.ts';
import { explain, type Accepts } from '../../access/explain.ts';
import { rolesOf } from '../../access/grants.ts';
import { loadSurroundings } from '../../access/surroundings.ts';
import { unknownPair } from '../../access/unknown-pair.ts';
import { callerOf, type CallerRights, type Principal } from '../../kernel/context.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { metadata } from '../../values.ts';
import { contextResource } from './context-resource.ts';
import type { Explanation } from './explanation.ts';

/** A question with its answer explained. */
interface Explaining {
  readonly tx: Executor;
  readonly scope: ResolvedScope;
  readonly principal: Principal | null;
  /** Of whom the question is about. */
  readonly rights: CallerRights;
  /** Who that is, if not the caller. */
  readonly subjectId: string | undefined;
}

type Explained = Decision & { readonly explanation: z.output<typeof Explanation> };

const accepts: Accepts = {
  resource: (value) => contextResource.safeParse(value).success,
  metadata: (value) => metadata.safeParse(value).success,
};

/**
 * The decision on what is held at this moment, and its explanation. Of a subject that may not act nothing is told, so
 * that a user who is unknown, elsewhere or disabled looks alike.
 */
export async function explained(about: Explaining, question: Question): Promise<Explained> {
  const { tx, scope, rights } = about;
  const { grants } = rights;
  const subject = explaineeOf(about);
  const { tenant, id } = scope;
  const told = { subject: subject.told, scope: { tenant, id } };
  if (grants.standing !== 'active' || rights.projectGrants) {
    return {
      ...evaluate(grants, question),
      explanation: { ...told, roles: [], candidates: [], nearest: [] },
    };
  }
  const target = locate(grants.held, question.resource, question.action);
  const { roles, surroundings } = await loadSurroundings(tx, scope, subject, target);
  const { decision, candidates, nearest } = explain(grants, question, surroundings, accepts);
  const unknown = decision.reason === 'NO_PERMISSION' ? await unknownPair(tx, scope, target) : undefined;
  return {
    ...decision,
    explanation: {
      ...told,
      roles: [...roles],
      candidates: [...candidates],
      nearest: [...nearest],
      ...(unknown && { unknown }),
    },
  };
}

/** A key of the project has rights of its own; any other token, and a key of one user, has its user's. */
function explaineeOf({ principal, rights, subjectId }: Explaining) {
  const { standing, keyRoleId } = rights;
  const caller = callerOf({ principal });
  const ofProject = caller.type === 'ApiKey' && caller.pinned?.tenant !== 'projectUser';
  const userId = subjectId ?? caller.userId;
  if (subjectId === undefined && ofProject) {
    const roleIds = keyRoleId === null ? [] : [keyRoleId];
    return { kind: 'apiKey', userId, standing, roleIds, told: told('apiKey', caller.credentialId) } as const;
  }
  return { kind: 'user', userId, standing, roleIds: rolesOf(standing), told: told('user', userId) } as const;
}

const told = <T extends 'user' | 'apiKey'>(type: T, id: string) => ({ type, id });
