import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { escaped } from '@doorward/decision/document/escape';
import { evaluateWithoutConditions } from '@doorward/decision/evaluate';
import { impactOf } from '../../access/dry-run/dry-run.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { fail } from '../../errors.ts';
import type { Context } from '../../services.ts';
import { jsonObject, text } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { createPauses } from '../../kernel/call/pauses.ts';
import { apply, writerOf } from './apply.ts';
import { common, inProject } from './in-project.ts';
import { parseDocument } from './document/document.ts';
import { allowedAddresses, mayNameAddresses } from './kinds/addresses.ts';
import { AppliedPolicy, PolicyPlan, PolicyState } from './outputs.ts';
import { assertConsistent } from './document/references.ts';
import { examine } from './examination.ts';
import { affectedRoles, planOf, type Proposal } from './plan.ts';
import { keptDocument, lastVersion, storedDocument } from './policy-versions.ts';
import { Source } from '../../schema/rights/policy-version.ts';
import { exportDocument } from './document/export.ts';
import { loadState } from './document/state.ts';
import { changesWithImpact } from './changes-with-impact.ts';
import { write } from './write.ts';

/* A project's policy as one document: read, planned, applied and rolled back (policy-as-code §2). */

const policyInput = jsonObject.meta({
  description: 'The policy document; its JSON Schema is at /schemas/policy-1.json.',
  examples: [{ version: 1, roles: { Clerk: { groups: ['Role: Query'] } } }],
});
const allowDelete = z
  .boolean()
  .default(false)
  .describe('true: rows that the last document managed and this one lacks are deleted.');
const ifVersion = z
  .string()
  .max(64)
  .nullable()
  .default(null)
  .describe('The version of the plan, or null if no policy was ever applied. Any other value gives 409.');
const planHash = z
  .string()
  .max(64)
  .optional()
  .describe('That of the plan: exactly this plan is applied, or the answer is 409.');
const message = text(0, 500, { multiline: true }).optional().describe('Why, for the list of versions.');
const applied = { ifVersion, planHash, allowDelete, message, source: Source.optional() };

/** Planning or applying costs as much as several other calls. */
const limit = { class: 'general', key: () => '', points: () => 9 } as const;

export const policy = query({
  ...common,
  rest: 'GET /projects/:id/policy',
  access: 'Policy:Query',
  summary: 'Read the rights model of a project as one document',
  description:
    'Applying this document unchanged changes no rights. Rows that share a name are not in it: `warnings` names them.',
  input: {
    ...inProject,
    include: z.enum(['all', 'managed']).default('all').describe('managed: only rows of the last document.'),
  },
  output: PolicyState,
  run: async ({ tx, scope, services, input }) => {
    const state = await loadState(tx, scope.nodeId, services.builtIns);
    const last = await lastVersion(tx, scope.nodeId);
    const { document, warnings } = exportDocument(state, services.builtIns, {
      include: input.include,
      last: last?.document ?? null,
    });
    return {
      version: state.version,
      number: last?.number ?? null,
      document: { ...escaped(document) },
      warnings: [...warnings],
    };
  },
});

export const planPolicy = mutation({
  ...common,
  rest: 'POST /projects/:id/policy/plan',
  whileImpersonating: 'allowed',
  access: 'Policy:Plan',
  summary: 'Show what a policy document would change, and for whom; changes nothing',
  permissionChange: 'none',
  input: {
    ...inProject,
    policy: policyInput.optional(),
    number: z.int().min(1).optional().describe('In place of `policy`: the document of this version.'),
    allowDelete,
  },
  output: PolicyPlan,
  codes: ['INVALID_CONDITION', 'QUERY_TOO_COMPLEX', 'WEBHOOK_URL_NOT_ALLOWED', 'CONFLICT', 'NOT_FOUND'],
  limit,
  waits: ({ policy }) => mayNameAddresses(policy),
  prepare: prepared,
  run: async (ctx) => {
    const { tx, scope, rights, principal, services, prepared: proposal } = ctx;
    ctx.unchanged();
    const plan = await planOf(ctx, proposal);
    const { comparison, version, documentDiffers, tests, blocked, drift } = plan;
    const mayKnowUsers = evaluateWithoutConditions(rights.grants, { resource: 'User', action: 'Query' });
    const impact =
      mayKnowUsers !== 'conditional' && mayKnowUsers.authorized
        ? // Roles of a project may be granted to customers, whose users are in other tenants.
          await withoutRls(tx, () =>
            impactOf(tx, { principal, rights, scope }, services.builtIns.nouns, async (inner) => {
              const foreseen = { ...comparison, changes: changesWithImpact(comparison) };
              const written = await write(inner, scope.nodeId, foreseen, writerOf(ctx));
              const roleIds = affectedRoles(comparison);
              return {
                answer: written,
                changed: { noun: undefined, id: undefined, roleIds, userIds: [], keyIds: [] },
              };
            }),
          )
        : null;
    return {
      version,
      planHash: plan.planHash,
      changes: comparison.changes.map((change) => ({ ...change, fields: { ...change.fields } })),
      documentDiffers,
      impact: impact && { affected: impact.impact.affected, truncated: impact.impact.truncated },
      tests: tests.map((test) => ({
        ...test,
        expected: { ...test.expected },
        decision: { ...test.decision },
      })),
      blocked: [...blocked],
      drift: drift.map((row) => ({ ...row, fields: { ...row.fields } })),
      warnings: [
        ...(plan.selfLockout ? [{ code: 'selfLockout' as const, key: null }] : []),
        ...plan.emptyRoles.map((key) => ({ code: 'roleGrantsNothing' as const, key })),
        ...plan.neverMet.map((key) => ({ code: 'conditionNeverMet' as const, key })),
      ],
    };
  },
});

const refusals = [
  'INVALID_CONDITION',
  'QUERY_TOO_COMPLEX',
  'WEBHOOK_URL_NOT_ALLOWED',
  'PRIVILEGE_ESCALATION',
  'SESSION_REQUIRED',
  'STEP_UP_REQUIRED',
  'CONFLICT',
  'DELETION_NOT_ALLOWED',
  'IN_USE',
  'POLICY_TEST_FAILED',
] as const;
type Output = z.output<typeof AppliedPolicy>;
const applying = {
  ...common,
  whileImpersonating: 'refused',
  access: 'Policy:Apply',
  output: AppliedPolicy,
  status: 201,
  restAnswers: {
    answer: (output: Output) => ({ status: output.applied ? 201 : 200, data: output }),
    answerSchemas: { 200: AppliedPolicy, 201: AppliedPolicy },
  },
  secrets: ['secrets'],
  codes: refusals,
  permissionChange: 'additions',
  limit,
} as const;

export const applyPolicy = mutation({
  ...applying,
  rest: 'POST /projects/:id/policy/apply',
  summary: 'Make the rights model of a project what a document says; all or nothing',
  description: 'Answers 200 and `applied: null` if there is nothing to change.',
  input: { ...inProject, policy: policyInput, ...applied },
  waits: ({ policy }) => mayNameAddresses(policy),
  prepare: prepared,
  run: (ctx) => apply(ctx, { ...ctx.input, ...ctx.prepared }),
});

export const rollbackPolicy = mutation({
  ...applying,
  rest: 'POST /projects/:id/policy/rollback',
  summary: 'Apply the document of a former version again, as a new version',
  description: 'planPolicy with its `number` shows what would change.',
  input: {
    ...inProject,
    number: z
      .int()
      .min(1)
      .meta({ description: 'The version to go back to.', examples: [1] }),
    ...applied,
  },
  waits: true,
  prepare: prepared,
  run: (ctx) => apply(ctx, { ...ctx.input, ...ctx.prepared, rollbackOf: ctx.input.number }),
});

interface Requested {
  readonly policy?: Readonly<Record<string, unknown>> | undefined;
  readonly number?: number | undefined;
  readonly allowDelete: boolean;
}
type Preparing = Parameters<typeof allowedAddresses>[0] &
  Pick<Context, 'call' | 'services'> & { readonly input: Requested };

/**
 * Returns the document that the caller sends or names by its version number, and the addresses in it that the service
 * may call.
 */
async function prepared(ctx: Preparing): Promise<Proposal & { readonly addresses: ReadonlySet<string> }> {
  const proposal = await proposalOf(ctx, ctx.input);
  return { ...proposal, addresses: await allowedAddresses(ctx, proposal.document) };
}

async function proposalOf(
  { read, scope, call, services }: Pick<Preparing, 'read' | 'scope' | 'call' | 'services'>,
  { policy: raw, number, allowDelete: mayDelete }: Requested,
): Promise<Proposal> {
  if (raw !== undefined && number !== undefined)
    throw fail('VALIDATION_ERROR', { details: [{ path: 'number', code: 'excluded' }] });
  // The body, of up to a megabyte, was parsed and validated in this tick, so other requests get a chance to run.
  await nextTurn();
  const pause = createPauses();
  await pause();
  const { document, formerKeys } =
    number === undefined
      ? parseDocument(raw)
      : {
          document: keptDocument(await read((tx) => storedDocument(tx, scope.nodeId, number))),
          formerKeys: new Map(),
        };
  await pause();
  assertConsistent(document, services.builtIns);
  await pause();
  return {
    document,
    formerKeys,
    allowDelete: mayDelete,
    examination: await examine(document, scope, call.work, services.builtIns.nouns),
  };
}
