import { z } from 'zod';
import { uuid } from '../../kernel/input/values.ts';

/** The comparison because of which a condition is not met. */
const failedAt = z
  .object({
    operator: z.string().describe('The operator of the comparison.'),
    path: z.string().describe('The attribute that it reads.'),
    actual: z.unknown().optional().describe('The value of that attribute.'),
    expected: z.unknown().optional().describe('The value that the condition requires.'),
    outcome: z.enum(['false', 'unknown']).describe('false, or unknown if the value is missing.'),
  })
  .meta({
    description:
      'The comparison that decided, without values that are missing. A negated operator begins with "Not "; the outcome is that of the whole condition.',
  });

const candidate = z.object({
  permissionId: uuid.describe('Id of the permission.'),
  roleId: uuid.describe('Id of the role that grants it.'),
  groupId: uuid.describe('Id of the group that contains it.'),
  result: z
    .enum(['unconditional', 'met', 'notMet'])
    .describe('Whether the permission counts: it has no condition, or a condition that is met or not.'),
  failedAt: failedAt.optional(),
});

const remedy = z
  .object({
    kind: z.enum(['assignRole', 'addPermissionToGroup', 'setAttribute']).describe('The kind of change.'),
    roleId: uuid
      .optional()
      .describe(
        'assignRole: id of the role to assign. setAttribute: id of the role whose metadata to change.',
      ),
    groupId: uuid
      .optional()
      .describe(
        'addPermissionToGroup: id of the group to add to. setAttribute: id of the group whose metadata to change.',
      ),
    permissionId: uuid
      .optional()
      .describe(
        'addPermissionToGroup: id of the permission to add. setAttribute: id of the permission whose condition this change meets.',
      ),
    path: z.string().optional().describe('The attribute to set.'),
    expected: z.unknown().optional().describe('The value to set it to.'),
  })
  .meta({
    description:
      'One change after which the same question is allowed. In an organization, an assigned role replaces the current one.',
  });

/** Why a decision was made (authorization §10.1). The object is loose, so that GraphQL types it as JSON. */
export const Explanation = z
  .looseObject({
    subject: z
      .object({
        type: z.enum(['user', 'apiKey']).describe('A user or an API key.'),
        id: uuid.describe('Id of the user or key.'),
      })
      .meta({ description: 'Whose rights decided: a key of one user has the rights of that user.' }),
    scope: z
      .object({
        tenant: z.string().describe('The kind of scope.'),
        id: z.string().describe('Id of the scope.'),
      })
      .describe('The scope of the question.'),
    roles: z
      .array(
        z.object({
          id: uuid.describe('Id of the role.'),
          name: z.string().describe('Display name of the role.'),
        }),
      )
      .describe('The roles of the subject in the scope.'),
    candidates: z.array(candidate).describe('Every permission of the subject for this resource and action.'),
    nearest: z
      .array(remedy)
      .describe('Changes after which the subject would be allowed, the smallest first.'),
    unknown: z
      .object({
        part: z.enum(['resource', 'action']).describe('Which of the two does not exist.'),
        nearest: z.string().optional().describe('The existing name with the most similar spelling.'),
      })
      .optional()
      .meta({
        description:
          'The part of the question that does not exist in the scope, and the most similar name that does.',
      }),
  })
  .meta({ id: 'Explanation', description: 'How a decision came about, and what would change it.' });
