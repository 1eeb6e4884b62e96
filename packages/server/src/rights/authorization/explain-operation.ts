import type { z } from 'zod';
import { evaluate, locate, type Decision, type Question } from '@doorward/decision/evaluate';
import { explain, type Accepts } from '@doorward/decision/explain';
import { rolesOf } from '../../access/grants/grants.ts';
import { loadExplainContext } from '../../access/explain/explain-context.ts';
import { unknownPair } from '../../access/explain/unknown-pair.ts';
import { callerOf, isManagementKey, type Call, type Principal } from '../../kernel/context.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { metadata } from '../../kernel/input/values.ts';
import { contextResource } from './context-resource.ts';
import type { Explanation } from './explanation.ts';

/** The caller, the subject and the scope of an explanation. */
interface ExplainRequest {
  readonly tx: Executor;
  readonly scope: ResolvedScope;
  readonly principal: Principal | null;
  /** The rights of the subject. */
  readonly rights: CallerRights;
  /** Id of the subject, if it is not the caller. */
  readonly subjectId: string | undefined;
  readonly call: Pick<Call, 'budget' | 'work'>;
}

type ExplainedDecision = Decision & { readonly explanation: z.output<typeof Explanation> };

const accepts: Accepts = {
  resource: (value) => contextResource.safeParse(value).success,
  metadata: (value) => metadata.safeParse(value).success,
};

/**
 * Decides with the current rights, and explains the decision. The explanation for an inactive subject is empty, so that
 * the caller cannot tell an unknown user from a disabled user or a user of another tenant.
 */
export async function explainDecision(
  request: ExplainRequest,
  question: Question,
): Promise<ExplainedDecision> {
  const { tx, scope, rights, call } = request;
  // An explanation repeats the compared values of up to fifty paths, each of which may be a list from the question.
  call.budget.measure();
  const { grants } = rights;
  const subject = explainedSubject(request);
  const { tenant, id } = scope;
  const common = { subject: subject.output, scope: { tenant, id } };
  if (grants.membership !== 'active' || rights.projectGrants) {
    return {
      ...evaluate(grants, question, call.work),
      explanation: { ...common, roles: [], candidates: [], nearest: [] },
    };
  }
  const target = locate(grants.held, question.resource, question.action);
  const { roles, context: explainContext } = await loadExplainContext(tx, scope, subject, target);
  const { decision, candidates, nearest } = explain(grants, question, explainContext, accepts, call.work);
  const unknown = decision.reason === 'NO_PERMISSION' ? await unknownPair(tx, scope, target) : undefined;
  return {
    ...decision,
    explanation: {
      ...common,
      roles: [...roles],
      candidates: [...candidates],
      nearest: [...nearest],
      ...(unknown && { unknown }),
    },
  };
}

/**
 * The subject of an explanation: a project's key has its own rights; any other credential has the rights of its user.
 */
function explainedSubject({ principal, rights, subjectId }: ExplainRequest) {
  const { subject, keyRoleId } = rights;
  const caller = callerOf({ principal });
  const ofProject =
    caller.type === 'ApiKey' && caller.pinned?.tenant !== 'projectUser' && !isManagementKey(caller);
  const userId = subjectId ?? caller.userId;
  if (subjectId === undefined && ofProject) {
    const roleIds = keyRoleId === null ? [] : [keyRoleId];
    return {
      kind: 'apiKey',
      userId,
      status: subject,
      roleIds,
      output: subjectRef('apiKey', caller.credentialId),
    } as const;
  }
  return {
    kind: 'user',
    userId,
    status: subject,
    roleIds: rolesOf(subject),
    output: subjectRef('user', userId),
  } as const;
}

const subjectRef = <T extends 'user' | 'apiKey'>(type: T, id: string) => ({ type, id });
