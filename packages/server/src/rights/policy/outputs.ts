import { documentKinds } from '@doorward/decision/document/document';
import { z } from 'zod';
import { Affected } from '../../access/dry-run/impact.ts';
import { uuid } from '../../kernel/input/values.ts';
import { obstacleCodes } from './plan.ts';
import { PolicyVersion } from '../../schema/rights/policy-version.ts';

/* The outputs of the policy operations. */

const kind = z
  .enum(documentKinds)
  .meta({ id: 'PolicyKind', description: 'A part of a policy document.' })
  .describe('The part of the document.');
const key = z.string().describe('The key of the row in that part.');
const fields = z
  .record(z.string(), z.unknown())
  .describe('The members that differ: {member: {from, to}}, with keys in place of ids.');

const PolicyChange = z
  .object({
    kind,
    key,
    action: z
      .enum(['create', 'adopt', 'update', 'rename', 'delete'])
      .meta({ id: 'PolicyChangeAction', description: 'What happens to a row.' })
      .describe('adopt: a row that no document managed until now; rename: its key changed.'),
    id: uuid.nullable().describe('Id of the row; null before it is created.'),
    fields,
    protected: z.boolean().describe('Whether the document before protects it.'),
  })
  .meta({ id: 'PolicyChange', description: 'What a policy document changes in one row.' });

const PolicyDrift = z.object({ kind, key, fields }).meta({
  id: 'PolicyDrift',
  description: 'A row that was changed or deleted by hand since the last application.',
});

const PolicyObstacle = z
  .object({
    kind,
    key,
    code: z
      .enum(obstacleCodes)
      .meta({ id: 'PolicyObstacleCode', description: 'Why a change cannot be made.' })
      .describe('The error with which applying the document would end.'),
    cause: z
      .string()
      .nullable()
      .describe(
        'The permission that the caller lacks, or what is in the way: `allowDelete`, `protect`, `firstParty`, or who uses the row.',
      ),
  })
  .meta({ id: 'PolicyObstacle', description: 'A change that cannot be made, or not by the caller.' });

const PolicyTestResult = z
  .object({
    name: z.string().describe('Name of the test.'),
    passed: z.boolean().describe('Whether the decision is the expected one.'),
    expected: z.record(z.string(), z.unknown()).describe('What the test expects.'),
    decision: z.record(z.string(), z.unknown()).describe('What the document decides, with its reason.'),
  })
  .meta({ id: 'PolicyTestResult', description: 'A test of a policy document.' });

export const PolicyPlan = z
  .object({
    version: z.string().describe('The state of the rows: pass it as `ifVersion`.'),
    planHash: z.string().describe('Identifies exactly this plan: pass it to apply this and nothing else.'),
    changes: z.array(PolicyChange).describe('What would change, in this order.'),
    documentDiffers: z
      .boolean()
      .describe(
        'Whether tests or mode differ from the last applied document: a version without changes of rows.',
      ),
    impact: z
      .object({
        affected: z.array(Affected).describe('Who gains and loses what.'),
        truncated: z.boolean().describe('true: there are more, who were not compared.'),
      })
      .nullable()
      .meta({ id: 'PolicyImpact', description: 'Who a policy document affects.' })
      .describe('Null for callers without User:Query.'),
    tests: z.array(PolicyTestResult).describe('The tests of the document that name roles.'),
    blocked: z.array(PolicyObstacle).describe('Why it could not be applied as it is, or not by the caller.'),
    drift: z
      .array(PolicyDrift)
      .describe('What was changed by hand since the last application, and would be undone.'),
    warnings: z
      .array(
        z
          .object({
            code: z
              .enum(['selfLockout', 'roleGrantsNothing', 'conditionNeverMet'])
              .meta({ id: 'PolicyWarningCode', description: 'What looks wrong in a policy document.' })
              .describe(
                '`selfLockout`: the caller could not apply another policy afterwards. `conditionNeverMet`: a condition contradicts itself.',
              ),
            key: z.string().nullable().describe('The role or permission; null for the document as a whole.'),
          })
          .meta({ id: 'PolicyWarning', description: 'Something that is allowed and looks wrong.' }),
      )
      .describe('What is allowed and looks wrong.'),
  })
  .meta({
    id: 'PolicyPlan',
    description: 'What a policy document would change, and for whom. Nothing was changed.',
  });

const PolicySecret = z
  .object({ kind, key, secret: z.string().describe('The secret, which no other answer has.') })
  .meta({
    id: 'PolicySecret',
    description: 'The secret of a row that was made when the document was applied.',
  });
export type NewSecret = z.output<typeof PolicySecret>;

export const AppliedPolicy = z
  .object({
    version: z.string().describe('The state of the rows now.'),
    applied: PolicyVersion.schema
      .nullable()
      .describe('The new version; null if there was nothing to change.'),
    secrets: z
      .array(PolicySecret)
      .nullable()
      .describe(
        'Secrets of new webhooks and confidential apps, shown only once; null in an idempotent replay.',
      ),
  })
  .meta({ id: 'AppliedPolicy', description: 'The result of the application of a policy document.' });

export const PolicyState = z
  .object({
    version: z.string().describe('The state of the rows.'),
    number: z.int().nullable().describe('The last version that was applied; null if there is none.'),
    document: z.record(z.string(), z.unknown()).describe('The rows as a policy document.'),
    warnings: z
      .array(
        z
          .object({
            code: z
              .enum(['rowLeftOut', 'dependentLeftOut', 'referenceLeftOut'])
              .meta({ id: 'PolicyExportWarningCode', description: 'Why a document lacks something.' })
              .describe(
                '`rowLeftOut`: another row has its name. `dependentLeftOut`: it refers to such a row. `referenceLeftOut`: the row is in the document, without its reference to such a row.',
              ),
            kind,
            key: z.string().describe('Name of the row.'),
          })
          .meta({ id: 'PolicyExportWarning', description: 'What a policy document cannot hold.' }),
      )
      .describe('What the document lacks.'),
  })
  .meta({ id: 'PolicyState', description: 'The rows of a project as a policy document.' });

export const PolicyVersionWithDocument = PolicyVersion.schema
  .extend({
    document: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The document; null if it is not kept any more.'),
  })
  .meta({ id: 'PolicyVersionWithDocument', description: 'A version of a policy with its document.' });

export const PolicyDifference = z
  .object({
    changes: z
      .array(
        z
          .object({
            kind,
            key,
            action: z
              .enum(['create', 'update', 'delete'])
              .meta({ id: 'PolicyDifferenceAction', description: 'How a row differs between two documents.' })
              .describe('create: only in the second one; delete: only in the first one.'),
            fields,
          })
          .meta({ id: 'PolicyDifferenceItem', description: 'A row that differs between two documents.' }),
      )
      .describe('What has to change to get from the first to the second one.'),
  })
  .meta({ id: 'PolicyDifference', description: 'How two policy documents differ.' });
