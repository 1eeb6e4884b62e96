import { z } from 'zod';
import { uuid } from '../../values.ts';

/** What an explanation says (authorization §10.1). Loose, so that GraphQL shows it as JSON, as the contract has it. */
const failedAt = z
  .object({
    operator: z.string(),
    path: z.string(),
    actual: z.unknown().optional(),
    expected: z.unknown().optional(),
    outcome: z.enum(['false', 'unknown']),
  })
  .meta({
    description:
      'The comparison that decided: missing values are left out. "Not " stands before an operator that is negated; outcome is that of the whole condition.',
  });

const candidate = z.object({
  permissionId: uuid,
  roleId: uuid,
  groupId: uuid,
  result: z.enum(['unconditional', 'met', 'notMet']),
  failedAt: failedAt.optional(),
});

const remedy = z
  .object({
    kind: z.enum(['assignRole', 'addPermissionToGroup', 'setAttribute']),
    roleId: uuid.optional(),
    groupId: uuid.optional(),
    permissionId: uuid.optional(),
    path: z.string().optional(),
    expected: z.unknown().optional(),
  })
  .meta({
    description:
      'One change after which the same question is allowed. In an organization an assigned role takes the place of the one worn.',
  });

export const Explanation = z
  .looseObject({
    subject: z
      .object({ type: z.enum(['user', 'apiKey']), id: uuid })
      .meta({ description: 'Whose rights decided: a key of one user has that user’s.' }),
    scope: z.object({ tenant: z.string(), id: z.string() }),
    roles: z.array(z.object({ id: uuid, name: z.string() })),
    candidates: z.array(candidate),
    nearest: z.array(remedy),
  })
  .meta({ id: 'Explanation', description: 'How a decision came about, and what would change it.' });
