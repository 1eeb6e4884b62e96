import { z } from 'zod';
import { evaluate } from '@doorward/decision/evaluate';
import { revision } from '../../db/cache/revisions.ts';
import type { Context } from '../../services.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import { query } from '../../declare.ts';
import { Scope, tenants } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { assertCallerMay, isForeignScope } from '../../access/caller-may.ts';
import { Decision } from './decision.ts';
import { explainDecision } from './explain-operation.ts';
import { assertOnePermission, question, questionOf, type CheckQuestion } from './question.ts';

const subject = z
  .strictObject({ userId: uuid.describe('Id of the user whose rights are checked.') })
  .optional()
  .meta({
    id: 'CheckSubjectInput',
    description: 'Another user, whose rights are checked; needs Authorization:Check.',
  });

export const isAuthorized = query({
  rest: 'POST /auth/is-authorized',
  access: 'any',
  summary: 'Check whether a subject may do something in a scope now, and why',
  description: 'A decision is always 200, also a refusal. A check changes nothing.',
  tenants,
  scopeOptional: true,
  admits: ['outsider', 'project-owner'],
  fromMemory: ({ subject, explain }) => (explain ? 'rows' : subject),
  cors: 'app',
  limit: { class: 'check', key: () => '' },
  input: {
    ...question,
    scope: Scope,
    subject,
    explain: z.boolean().default(false).meta({
      description: 'Also how the decision came about, and what would change it; needs Authorization:Explain.',
    }),
    minRevision: revision.optional(),
  },
  output: Decision,
  codes: ['FORBIDDEN'],
  run: (ctx) => {
    const { rights, input } = ctx;
    assertOnePermission(input, '');
    // A scope that does not exist for this caller results in a decision, not in an error.
    if (isForeignScope(ctx) || isAboutOwner(ctx.rights, input))
      return { authorized: false, reason: 'INVALID_SCOPE' as const };
    if (!input.subject && !input.explain) return evaluate(rights.grants, questionOf(input), ctx.call.work);
    return loadAndDecide(ctx, input);
  },
});

/** Decides about another user, or explains a decision; both read more than a plain check. @throws FORBIDDEN */
async function loadAndDecide(
  ctx: CheckContext & Pick<Context, 'principal' | 'read' | 'call'>,
  input: CheckQuestion & {
    readonly subject?: { readonly userId: string } | undefined;
    readonly explain: boolean;
  },
) {
  const subjectId = input.subject?.userId;
  const rights = subjectId === undefined ? ctx.rights : await rightsOfSubject(ctx, subjectId);
  if (!input.explain) return evaluate(rights.grants, questionOf(input), ctx.call.work);
  assertCallerMay(ctx.rights, 'Authorization:Explain');
  const { read, scope, principal, call } = ctx;
  return read((tx) => explainDecision({ tx, scope, principal, rights, subjectId, call }, questionOf(input)));
}

export const isAuthorizedBatch = query({
  rest: 'POST /auth/is-authorized/batch',
  access: 'any',
  summary: 'Check up to 100 permissions of one subject in one scope',
  description:
    'Each item is decided separately, as isAuthorized would, and counts as one check. The decisions come in the order of the items, without the condition and the values that it compared.',
  tenants,
  scopeOptional: true,
  admits: ['outsider', 'project-owner'],
  fromMemory: ({ subject }) => subject,
  cors: 'app',
  limit: { class: 'check', key: () => '', points: ({ items }) => items.length },
  input: {
    items: z
      .array(z.strictObject(question).meta({ id: 'CheckItemInput', description: 'One question of a batch.' }))
      .min(1)
      .max(100)
      .describe('The questions, each decided separately.'),
    scope: Scope,
    subject,
    minRevision: revision.optional(),
  },
  output: z
    .object({ items: z.array(Decision).describe('The decisions, in the order of the questions.') })
    .meta({ id: 'DecisionBatch', description: 'A decision for each question.' }),
  codes: ['FORBIDDEN'],
  run: async (ctx) => {
    const { rights, input, call } = ctx;
    input.items.forEach((item, index) => assertOnePermission(item, `items.${index}.`));
    if (isForeignScope(ctx) || isAboutOwner(ctx.rights, input))
      return { items: input.items.map(() => ({ authorized: false, reason: 'INVALID_SCOPE' as const })) };
    const { grants } = input.subject ? await rightsOfSubject(ctx, input.subject.userId) : rights;
    const items = [];
    for (const item of input.items) {
      const { authorized, reason, matchedPermission } = evaluate(grants, questionOf(item), call.work);
      items.push({ authorized, reason, ...(matchedPermission && { matchedPermission }) });
      await call.work.pause();
    }
    return { items };
  },
});

/** Whether the owner of a project asks about themselves in the scope of a customer, where they have no permissions. */
const isAboutOwner = ({ asOwner }: CallerRights, { subject }: { readonly subject?: unknown }): boolean =>
  asOwner === true && subject === undefined;

type CheckContext = Pick<Context<{ scope: typeof Scope }>, 'scope' | 'rights' | 'services'>;

/** Loads the rights of another user in the scope, if the caller may check them. @throws FORBIDDEN */
function rightsOfSubject(
  { scope, rights, services }: CheckContext,
  userId: string,
): Promise<CallerRights> | CallerRights {
  assertCallerMay(rights, 'Authorization:Check');
  return services.resolver.rightsOfUser(scope, userId);
}
