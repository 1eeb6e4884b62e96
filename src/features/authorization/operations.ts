import { z } from 'zod';
import { evaluate } from '../../access/evaluate.ts';
import { revision } from '../../db/revisions.ts';
import { decisionReasons, fail } from '../../errors.ts';
import { query } from '../../kernel/operation.ts';
import { Scope } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/values.ts';
import { contextResource } from './context-resource.ts';

const DecisionReason = z.enum(decisionReasons).meta({ id: 'DecisionReason' });

const Decision = z
  .object({
    authorized: z.boolean(),
    reason: DecisionReason,
    matchedPermission: z
      .object({ id: uuid, name: z.string(), resource: z.string(), action: z.string() })
      .meta({ id: 'MatchedPermission' })
      .optional(),
    matchedCondition: z.record(z.string(), z.unknown()).nullish(),
    evaluatedContext: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Decision', description: 'Whether the subject may do it, and why (authorization §6).' });

export const isAuthorized = query({
  rest: 'POST /auth/is-authorized',
  access: 'any',
  summary: 'Ask whether this subject may do this, here, now, and why',
  description: 'Always 200 for a decision. A check never writes, and grants nothing.',
  tenants: ['account', 'organization', 'accountProject', 'organizationProject', 'projectUser'],
  scopeOptional: true,
  asksOnly: true,
  rate: 'check',
  limit: { class: 'check', key: () => '' },
  input: {
    permission: z
      .strictObject({ resource: z.string().min(1).max(128), action: z.string().min(1).max(128) })
      .meta({ id: 'PermissionQuestionInput', description: 'The pair in question.' }),
    context: z
      .strictObject({ resource: contextResource.nullish() })
      .optional()
      .meta({ id: 'CheckContextInput', description: 'Attributes that conditions may read.' }),
    scope: Scope,
    subject: z
      .strictObject({ userId: uuid })
      .optional()
      .meta({ id: 'CheckSubjectInput', description: 'Somebody else; needs Authorization:Check.' }),
    minRevision: revision.optional(),
  },
  output: Decision,
  codes: ['FORBIDDEN'],
  run: ({ input, scope, rights, services }) => {
    // The scope does not exist for this caller: that is the answer, not a failure.
    if (!scope || !rights) return { authorized: false, reason: 'INVALID_SCOPE' as const };
    const { resource, action } = input.permission;
    const question = { resource, action, attributes: input.context?.resource ?? null };
    if (!input.subject) return evaluate(rights.grants, question);
    const may = evaluate(rights.grants, { resource: 'Authorization', action: 'Check' });
    if (!may.authorized) throw fail('FORBIDDEN', { reason: may.reason });
    return services.resolver
      .rightsOfUser(scope, input.subject.userId)
      .then((subject) => evaluate(subject.grants, question));
  },
});
