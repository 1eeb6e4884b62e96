import { setImmediate as othersFirst } from 'node:timers/promises';
import { z } from 'zod';
import { evaluate } from '../../access/evaluate.ts';
import { revision } from '../../db/revisions.ts';
import { decisionReasons, fail } from '../../errors.ts';
import type { CallerRights, Context } from '../../kernel/context.ts';
import { query } from '../../kernel/operation.ts';
import { Scope, tenants } from '../../kernel/scope.ts';
import { uuid } from '../../values.ts';
import { contextResource } from './context-resource.ts';
import { explained } from './explaining.ts';
import { Explanation } from './explanation.ts';
import { pairOf, PermissionName } from './permission-name.ts';

const DecisionReason = z
  .enum(decisionReasons)
  .meta({ id: 'DecisionReason', description: 'Why a decision was taken.' });

const Decision = z
  .object({
    authorized: z.boolean().describe('Whether the subject may do it.'),
    reason: DecisionReason.describe('Why.'),
    matchedPermission: z
      .object({
        id: uuid.describe('Id of the permission.'),
        name: z.string().describe('What people call it.'),
        resource: z.string().describe('Slug of its resource.'),
        action: z.string().describe('Its action.'),
      })
      .meta({ id: 'MatchedPermission', description: 'The permission that allows it.' })
      .optional()
      .describe('The permission that decided, if one allows it.'),
    matchedCondition: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Its condition; null if it has none.'),
    evaluatedContext: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The values that the condition compared.'),
    explanation: Explanation.optional().describe('How the decision came about, if asked for.'),
  })
  .meta({ id: 'Decision', description: 'Whether the subject may do it, and why (authorization §6).' });

const word = z.string().min(1).max(128);

const question = {
  permission: z
    .union([
      z
        .strictObject({
          resource: word.meta({ description: 'Slug of the resource.', examples: ['invoice'] }),
          action: word.meta({ description: 'The action on it.', examples: ['read'] }),
        })
        .meta({ id: 'PermissionQuestionInput', description: 'What is to be done.' }),
      PermissionName.meta({ restOnly: true }),
    ])
    .optional()
    .meta({
      description: 'What is to be done, on REST also as `resource:action`.',
      examples: [{ resource: 'invoice', action: 'read' }],
    }),
  permissionName: PermissionName.optional().meta({
    description: 'The same as `resource:action`, for GraphQL, in place of `permission`.',
  }),
  context: z
    .strictObject({
      resource: contextResource.nullish().meta({
        description: 'Attributes of the thing itself, e.g. its owner.',
        examples: [{ amount: 120 }],
      }),
    })
    .optional()
    .meta({ id: 'CheckContextInput', description: 'Attributes that conditions may read.' }),
};
type Question = z.output<z.ZodObject<typeof question>>;

const subject = z
  .strictObject({ userId: uuid.describe('Id of the user who is asked about.') })
  .optional()
  .meta({ id: 'CheckSubjectInput', description: 'Somebody else; needs Authorization:Check.' });

export const isAuthorized = query({
  rest: 'POST /auth/is-authorized',
  access: 'any',
  summary: 'Ask whether this subject may do this, here, now, and why',
  description: 'Always 200 for a decision. A check never writes, and grants nothing.',
  tenants,
  scopeOptional: true,
  asksOnly: true,
  fromMemory: true,
  alsoNeeds: ({ subject, explain }) => (explain ? 'rows' : subject),
  rate: 'check',
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
    const { scope, rights, input } = ctx;
    // The scope does not exist for this caller: that is the answer, not a failure.
    assertOnePermission(input, '');
    if (!scope || !rights) return { authorized: false, reason: 'INVALID_SCOPE' as const };
    if (!input.subject && !input.explain) return evaluate(rights.grants, questionOf(input));
    return decideWithLoading(ctx, input);
  },
});

/** Questions about somebody else, and explanations, read what the plain question does not. @throws FORBIDDEN */
async function decideWithLoading(
  ctx: Asking & Pick<Context, 'principal' | 'read'>,
  input: Question & { readonly subject?: { readonly userId: string } | undefined; readonly explain: boolean },
) {
  const subjectId = input.subject?.userId;
  const rights = subjectId === undefined ? ctx.rights : await rightsOfSubject(ctx, subjectId);
  if (!input.explain) return evaluate(rights.grants, questionOf(input));
  assertMay(ctx.rights, 'Explain');
  const { read, scope, principal } = ctx;
  return read((tx) => explained({ tx, scope, principal, rights, subjectId }, questionOf(input)));
}

const QUESTIONS_AT_ONCE = 10;

export const isAuthorizedBatch = query({
  rest: 'POST /auth/is-authorized/batch',
  access: 'any',
  summary: 'Ask up to 100 such questions of one subject in one scope',
  description:
    'Answered in the order asked. Each is decided by itself, as isAuthorized would, and counts as one check; what it read is not told.',
  tenants,
  scopeOptional: true,
  asksOnly: true,
  fromMemory: true,
  alsoNeeds: ({ subject }) => subject,
  rate: 'check',
  cors: 'app',
  limit: { class: 'check', key: () => '', points: ({ items }) => items.length },
  input: {
    items: z
      .array(z.strictObject(question).meta({ id: 'CheckItemInput', description: 'One question of a batch.' }))
      .min(1)
      .max(100)
      .describe('The questions, each decided by itself.'),
    scope: Scope,
    subject,
    minRevision: revision.optional(),
  },
  output: z
    .object({ items: z.array(Decision).describe('In the order of the questions.') })
    .meta({ id: 'DecisionBatch', description: 'A decision for each question.' }),
  codes: ['FORBIDDEN'],
  run: async (ctx) => {
    const { scope, rights, input } = ctx;
    input.items.forEach((item, index) => assertOnePermission(item, `items.${index}.`));
    if (!scope || !rights)
      return { items: input.items.map(() => ({ authorized: false, reason: 'INVALID_SCOPE' as const })) };
    const { grants } = input.subject ? await rightsOfSubject(ctx, input.subject.userId) : rights;
    const items = [];
    for (const item of input.items) {
      const { authorized, reason, matchedPermission } = evaluate(grants, questionOf(item));
      items.push({ authorized, reason, ...(matchedPermission && { matchedPermission }) });
      // A batch of a hundred questions with many conditions takes long, so other requests run in between.
      if (items.length % QUESTIONS_AT_ONCE === 0) await othersFirst();
    }
    return { items };
  },
});

/** @throws VALIDATION_ERROR */
function assertOnePermission({ permission, permissionName }: Question, place: string): void {
  if ((permission === undefined) !== (permissionName === undefined)) return;
  const isMissing = permission === undefined;
  const path = `${place}${isMissing ? 'permission' : 'permissionName'}`;
  throw fail('VALIDATION_ERROR', { details: [{ path, code: isMissing ? 'required' : 'excluded' }] });
}

const questionOf = ({ permission, permissionName, context }: Question) => {
  const asked = permission ?? permissionName ?? '';
  const { resource, action } = typeof asked === 'string' ? pairOf(asked) : asked;
  return { resource, action, attributes: context?.resource ?? null };
};

type Asking = Pick<Context<{ scope: typeof Scope }>, 'scope' | 'rights' | 'services'>;

/** What somebody else holds in the scope, for who may ask about him. @throws FORBIDDEN */
function rightsOfSubject(
  { scope, rights, services }: Asking,
  userId: string,
): Promise<CallerRights> | CallerRights {
  assertMay(rights, 'Check');
  return services.resolver.rightsOfUser(scope, userId);
}

/** @throws FORBIDDEN */
function assertMay({ grants }: CallerRights, action: 'Check' | 'Explain'): void {
  const may = evaluate(grants, { resource: 'Authorization', action });
  if (!may.authorized) throw fail('FORBIDDEN', { reason: may.reason });
}
