/* The documents that were applied to a project, and their differences. */

import type { PolicyDocument } from '@doorward/decision/document/document';
import { escaped } from '@doorward/decision/document/escape';
import { z } from 'zod';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { query } from '../../declare.ts';
import { bare } from '../../kernel/output/reply.ts';
import { common, inProject } from './in-project.ts';
import { differenceOf } from './document/difference.ts';
import { policyFileSchema } from './document/file-schema.ts';
import { exportDocument } from './document/export.ts';
import { loadState } from './document/state.ts';
import { PolicyDifference, PolicyVersionWithDocument } from './outputs.ts';
import { keptDocument, lastVersion, storedDocument, versionId } from './policy-versions.ts';
import { PolicyVersion } from '../../schema/rights/policy-version.ts';

export const policyVersions = query({
  ...common,
  rest: 'GET /projects/:id/policy/versions',
  access: 'Policy:Query',
  summary: 'List the policy documents that were applied to a project',
  input: { ...inProject, ...paging(PolicyVersion) },
  output: pageOf(PolicyVersion),
  run: ({ db, input }) => db.page(PolicyVersion, input),
});

export const policyVersion = query({
  ...common,
  rest: 'GET /projects/:id/policy/versions/:number',
  access: 'Policy:Query',
  summary: 'Read one application of a policy document',
  input: { ...inProject, number: z.int().min(1).describe('Number of the version.') },
  output: PolicyVersionWithDocument,
  run: async ({ db, tx, scope, input: { number } }) => {
    const id = await versionId(tx, scope.nodeId, number);
    const document = await storedDocument(tx, scope.nodeId, number);
    return { ...(await db.get(PolicyVersion, id)), document: document && { ...escaped(document) } };
  },
});

const side = z
  .string()
  .regex(/^(current|[1-9]\d{0,8})$/)
  .meta({
    description: 'Number of a version, or `current` for the rows as they are.',
    examples: ['current'],
  });

export const policyDiff = query({
  ...common,
  rest: 'GET /projects/:id/policy/diff',
  access: 'Policy:Query',
  summary: 'Compare two versions of a policy, or a version with the rows as they are',
  input: { ...inProject, from: side, to: side },
  output: PolicyDifference,
  run: async ({ tx, scope, services, input: { from, to } }) => {
    const documentAt = async (which: typeof from): Promise<PolicyDocument> => {
      if (which !== 'current') return keptDocument(await storedDocument(tx, scope.nodeId, Number(which)));
      const last = await lastVersion(tx, scope.nodeId);
      const state = await loadState(tx, scope.nodeId, services.builtIns);
      return exportDocument(state, services.builtIns, {
        ...{ include: 'managed', isForComparison: true },
        last: last?.document ?? null,
      }).document;
    };
    const changes = differenceOf(await documentAt(from), await documentAt(to));
    return { changes: changes.map((change) => ({ ...change, fields: { ...change.fields } })) };
  },
});

export const policySchema = query({
  rest: 'GET ~/schemas/policy-1.json',
  access: 'public',
  summary: 'Read the JSON Schema of policy documents',
  only: 'rest',
  bare: true,
  limit: 'network',
  cors: 'any',
  etag: true,
  input: {},
  output: z.record(z.string(), z.unknown()),
  run: () => bare(policyFileSchema(), { 'cache-control': 'public, max-age=3600', etag: '' }),
});
