import { z } from 'zod';
import { uuid } from '../../values.ts';

/** What an explanation says (authorization §10.1). Loose, so that GraphQL shows it as JSON, as the contract has it. */
const failedAt = z
  .object({
    operator: z.string().describe('The comparison.'),
    path: z.string().describe('What it reads.'),
    actual: z.unknown().optional().describe('The value that it read.'),
    expected: z.unknown().optional().describe('The value that it asks for.'),
    outcome: z.enum(['false', 'unknown']).describe('false, or unknown if the value is missing.'),
  })
  .meta({
    description:
      'The comparison that decided: missing values are left out. "Not " stands before an operator that is negated; outcome is that of the whole condition.',
  });

const candidate = z.object({
  permissionId: uuid.describe('Id of the permission.'),
  roleId: uuid.describe('Id of the role that grants it.'),
  groupId: uuid.describe('Id of the group that bundles it.'),
  result: z
    .enum(['unconditional', 'met', 'notMet'])
    .describe('Whether it counts: without condition, or with one that is met or not.'),
  failedAt: failedAt.optional(),
});

const remedy = z
  .object({
    kind: z
      .enum(['assignRole', 'addPermissionToGroup', 'setAttribute'])
      .describe('What kind of change it is.'),
    roleId: uuid.optional().describe('Id of the role to assign.'),
    groupId: uuid.optional().describe('Id of the group to add to.'),
    permissionId: uuid.optional().describe('Id of the permission to add.'),
    path: z.string().optional().describe('The attribute to set.'),
    expected: z.unknown().optional().describe('The value to set it to.'),
  })
  .meta({
    description:
      'One change after which the same question is allowed. In an organization an assigned role takes the place of the one worn.',
  });

export const Explanation = z
  .looseObject({
    subject: z
      .object({
        type: z.enum(['user', 'apiKey']).describe('A person or a machine.'),
        id: uuid.describe('Id of the user or key.'),
      })
      .meta({ description: 'Whose rights decided: a key of one user has that user’s.' }),
    scope: z
      .object({
        tenant: z.string().describe('The kind of scope.'),
        id: z.string().describe('Id of the scope.'),
      })
      .describe('Where it was asked.'),
    roles: z
      .array(
        z.object({ id: uuid.describe('Id of the role.'), name: z.string().describe('What people call it.') }),
      )
      .describe('The roles of the subject in the scope.'),
    candidates: z.array(candidate).describe('Every permission of the subject for this resource and action.'),
    nearest: z.array(remedy).describe('Changes after which the answer would be yes, the smallest first.'),
    unknown: z
      .object({
        part: z.enum(['resource', 'action']).describe('Which of the two there is not.'),
        nearest: z.string().optional().describe('The name in the scope that is written most like it.'),
      })
      .optional()
      .meta({
        description:
          'The part of the question that names nothing of the scope, and the nearest name that does.',
      }),
  })
  .meta({ id: 'Explanation', description: 'How a decision came about, and what would change it.' });
