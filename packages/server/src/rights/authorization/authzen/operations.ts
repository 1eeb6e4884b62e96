import { setImmediate as nextTick } from 'node:timers/promises';
import { z } from 'zod';
import { evaluate } from '@doorward/decision/evaluate';
import { DoorwardError } from '../../../errors.ts';
import type { Principal } from '../../../kernel/context.ts';
import type { Context } from '../../../services.ts';
import { parseInput } from '../../../kernel/input/validate.ts';
import { query } from '../../../declare.ts';
import { bare } from '../../../kernel/output/reply.ts';
import { Scope, tenants } from '../../../kernel/scope.ts';
import { isForeignScope } from '../../../access/caller-may.ts';
import { AuthzenDecision, AuthzenDecisions, decisionOf, errorOf, refusalFor } from './answers.ts';
import { createComposer } from './attributes.ts';
import { Evaluation, evaluation, Options, Subject, type Semantic } from './request.ts';
import { isOtherUser, loadSubjects } from './subjects.ts';

/*
 * The evaluation endpoints of OpenID AuthZEN Authorization API 1.0: the decisions of `isAuthorized` in the format of
 * other vendors' gateways (authzen §3).
 */

const common = {
  access: 'any',
  only: 'rest',
  bare: true,
  protocol: 'authzen',
  tenants,
  scopeOptional: true,
  admits: ['outsider'],
  cors: 'app',
  codes: ['FORBIDDEN'],
} as const;

export const authzenEvaluation = query({
  ...common,
  rest: 'POST ~/access/v1/evaluation',
  summary: 'Decide one question (AuthZEN)',
  description:
    'Below the issuer of a project the path is the scope; at the root it is that of the key or app token. About another user it needs Authorization:Check. A refused access is 200.',
  // Always 'rows' about another user: how the call waits must not reveal whether the rights of that user are in memory.
  fromMemory: ({ subject }, principal) => (isOtherUser(subject, principal) ? 'rows' : undefined),
  limit: { class: 'check', key: () => '' },
  input: { ...evaluation, scope: Scope },
  output: AuthzenDecision,
  run: async (ctx) => bare(await decideOne(ctx, ctx.input)),
});

/** The maximum number of questions in one request. */
const MAX_EVALUATIONS = 100;
const item = z.unknown().meta({
  description: '`subject`, `action`, `resource` and `context` of one question.',
  examples: [{ resource: { type: 'invoice', id: '42' } }],
});
const byDefault = (name: string) =>
  z
    .unknown()
    .optional()
    .meta({ description: `The ${name} of the questions that have none; as for authzenEvaluation.` });

export const authzenEvaluations = query({
  ...common,
  rest: 'POST ~/access/v1/evaluations',
  summary: 'Decide up to 100 questions (AuthZEN)',
  description:
    'Each question counts as one check. A member of a question replaces the whole member of the request. A question that is not valid, or about a user whom the caller may not ask about, is answered with an error of its own. Without `evaluations` the answer is that of authzenEvaluation.',
  fromMemory: (input, principal) => (mayNeedOthers(input, principal) ? 'rows' : undefined),
  limit: {
    class: 'check',
    key: () => '',
    points: ({ evaluations }) => Math.max(evaluations?.length ?? 0, 1),
  },
  input: {
    subject: byDefault('subject'),
    action: byDefault('action'),
    resource: byDefault('resource'),
    context: byDefault('context'),
    evaluations: z.array(item).max(MAX_EVALUATIONS).optional().describe('The questions.'),
    options: Options.optional(),
    scope: Scope,
  },
  output: z.union([AuthzenDecisions, AuthzenDecision]),
  run: async (ctx) => {
    const { evaluations = [], options, ...defaults } = ctx.input;
    if (evaluations.length === 0) return bare(await decideOne(ctx, parseInput(Evaluation, defaults)));
    return bare({ evaluations: await decideMany(ctx, defaults, evaluations, options?.evaluations_semantic) });
  },
});

type EvaluationContext = Pick<
  Context<{ scope: typeof Scope }>,
  'scope' | 'rights' | 'services' | 'principal' | 'call' | 'read'
>;

/**
 * Decides one question. @throws VALIDATION_ERROR, and FORBIDDEN if it is about another user whom the caller may not ask
 * about
 */
async function decideOne(ctx: EvaluationContext, question: Evaluation): Promise<AuthzenDecision> {
  return (await createDecider(ctx, [question]))(question);
}

/** Loads the data that the questions need. The returned function decides each question on its own. */
async function createDecider(ctx: EvaluationContext, questions: readonly Evaluation[]) {
  const compose = createComposer();
  const grantsOf = isForeignScope(ctx)
    ? null
    : await loadSubjects(
        ctx,
        questions.map(({ subject }) => subject),
      );
  return async (question: Evaluation): Promise<AuthzenDecision> => {
    const { subject, resource, action } = question;
    const attributes = compose(question);
    if (!grantsOf) return refusalFor('INVALID_SCOPE');
    const grants = await grantsOf(subject);
    if (!grants) return refusalFor('SUBJECT_INACTIVE');
    const requested = { resource: resource.type, action: action.name, attributes };
    return decisionOf(evaluate(grants, requested, ctx.call.work));
  };
}

/** The decision after which the remaining questions are not answered; undefined: all are answered. */
const lastDecision: Readonly<Record<Semantic, boolean | undefined>> = {
  execute_all: undefined,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
};

const QUESTIONS_PER_TICK = 10;

async function decideMany(
  ctx: EvaluationContext,
  defaults: Members,
  items: readonly unknown[],
  semantic: Semantic = 'execute_all',
): Promise<AuthzenDecision[]> {
  const questions = items.map((item) => parseQuestion({ defaults, item }));
  const decide = await createDecider(
    ctx,
    questions.filter((question): question is Evaluation => !(question instanceof DoorwardError)),
  );
  const answers: AuthzenDecision[] = [];
  for (const question of questions) {
    const answer =
      question instanceof DoorwardError ? errorOf(question) : await decide(question).catch(itemErrorOf);
    answers.push(answer);
    if (answer.decision === lastDecision[semantic]) break;
    // Composing the attributes of a hundred questions takes long, so other requests run in between.
    if (answers.length % QUESTIONS_PER_TICK === 0) await nextTick();
    else await ctx.call.work.pause();
  }
  return answers;
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a question; members that it does not have come from the request. Returns the error of an invalid question. */
function parseQuestion({ defaults, item }: { defaults: Members; item: unknown }): Evaluation | DoorwardError {
  try {
    return parseInput(Evaluation, isObject(item) ? { ...defaults, ...item } : item);
  } catch (error) {
    if (error instanceof DoorwardError) return error;
    throw error;
  }
}

/**
 * The result for a question that fails by itself. @throws errors that concern the whole request, such as a lost
 * database
 */
function itemErrorOf(error: unknown): AuthzenDecision {
  if (error instanceof DoorwardError && (error.code === 'VALIDATION_ERROR' || error.code === 'FORBIDDEN'))
    return errorOf(error);
  throw error;
}

/** Whether a question may be about another user. Invalid members are ignored. */
function mayNeedOthers(
  {
    subject,
    evaluations = [],
  }: { readonly subject?: unknown; readonly evaluations?: readonly unknown[] | undefined },
  principal: Principal,
): boolean {
  const subjects =
    evaluations.length === 0
      ? [subject]
      : evaluations.map((item) => (isObject(item) && 'subject' in item ? item['subject'] : subject));
  return subjects.some((value) => {
    const { success, data } = Subject.safeParse(value);
    return success && isOtherUser(data, principal);
  });
}
