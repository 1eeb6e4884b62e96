import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { evaluate } from '@doorward/decision/evaluate';
import { installationRoleIdOf, installationRoles } from '../../access/installation-roles.ts';
import { lockUser } from '../../people/lock-user.ts';
import { addOperator, assertOperatorRemains, lockOperators, removeOperator } from '../../people/operators.ts';
import { isVerifiedAddress, verifiedOwnerOf } from '../prepared.ts';
import { readOperators } from '../read-operators.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';
import { email, uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { Operator } from '../../schema/operators/operator.ts';
import { installation, reason } from './inputs.ts';

export const operators = query({
  ...installation,
  rest: 'GET /installation/operators',
  access: 'Operator:Query',
  summary: 'List the operators of the installation',
  description:
    'Those of the configuration too. A user whom another operator made, and whose address is in OPERATORS, is listed twice.',
  input: { scope: Scope },
  output: z
    .object({ items: z.array(Operator).describe('The operators, the first one first.') })
    .meta({ id: 'Operators', description: 'All operators of the installation.' }),
  run: async ({ tx, services }) => ({ items: await readOperators(tx, services.config.operators) }),
});

export const createOperator = mutation({
  ...installation,
  rest: 'POST /installation/operators',
  access: 'Operator:Create',
  summary: 'Make a user an operator of the installation',
  description:
    'Exactly one of userId and email names the user, whose e-mail address must be verified. Every operator gets a mail about it.',
  stepUp: true,
  permissionChange: 'none',
  input: {
    scope: Scope,
    userId: uuid.optional().meta({ description: 'Id of the user.' }),
    email: email
      .optional()
      .meta({ description: 'A verified address of the user.', examples: ['ada@example.com'] }),
    roleId: uuid.meta({
      description: 'One of the built-in roles of the installation: Operator, Support or Auditor.',
      examples: [installationRoleIdOf('Installation Support')],
    }),
    reason,
  },
  output: Operator,
  status: 201,
  codes: ['NOT_FOUND', 'CONFLICT', 'INVALID_STATE', 'PRIVILEGE_ESCALATION'],
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { roleId } = input;
    assertCanGrantRole(ctx.rights, roleId);
    const candidateId = await findCandidate(tx, input);
    // Users are locked first, as in every mutation.
    const user = candidateId === undefined ? undefined : await lockUser(ctx, candidateId, 'share');
    if (!user || user.isManaged) throw fail('NOT_FOUND');
    if (user.status !== 'active') throw fail('INVALID_STATE', { params: { state: user.status } });
    if (!(await hasVerifiedAddress(tx, user.id))) {
      throw fail('INVALID_STATE', {
        params: { state: 'unverified' },
        fix: 'The user must verify an e-mail address first; an address that only an identity provider reports does not count.',
      });
    }
    await lockOperators(tx);
    const createdBy = callerOf(ctx).userId;
    const operator = { userId: user.id, roleId, source: 'api', createdBy, reason: input.reason } as const;
    if (!(await addOperator(ctx, services.config.operators, operator))) {
      throw fail('CONFLICT', { fix: 'Remove the operator first to give them another role.' });
    }
    const added = (await readOperators(tx, services.config.operators)).find(
      ({ userId, source }) => userId === user.id && source === 'api',
    );
    if (!added) throw new Error('the new operator is not among the operators');
    return added;
  },
});

export const deleteOperator = mutation({
  ...installation,
  rest: 'DELETE /installation/operators/:userId',
  access: 'Operator:Delete',
  summary: 'End the rights of an operator, at once',
  description:
    'Operators of the configuration end when their address is taken from OPERATORS and the service restarts.',
  stepUp: true,
  permissionChange: 'none',
  input: { scope: Scope, userId: uuid.describe('Id of the user.'), reason },
  output: Operator,
  codes: ['NOT_FOUND', 'INVALID_STATE', 'LAST_OWNER'],
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId } = input;
    await lockOperators(tx);
    const rows = (await readOperators(tx, services.config.operators)).filter(
      (operator) => operator.userId === userId,
    );
    const removable = rows.find(({ source }) => source !== 'configuration');
    if (rows.length === 0) throw fail('NOT_FOUND');
    if (!removable) {
      throw fail('INVALID_STATE', {
        params: { state: 'configuration' },
        fix: 'Take the address from OPERATORS and restart the service.',
      });
    }
    // A user who is also in the configuration stays an operator.
    if (rows.length === 1) await assertOperatorRemains(tx, services.config.operators, userId);
    await removeOperator(ctx, userId, input.reason);
    return removable;
  },
});

/** @throws VALIDATION_ERROR for an unknown role, PRIVILEGE_ESCALATION for one that the caller does not fully hold */
function assertCanGrantRole({ grants }: CallerRights, roleId: string): void {
  const role = installationRoles.find(({ id }) => id === roleId);
  if (!role) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'roleId', code: 'enum' }],
      fix: `Use one of: ${installationRoles.map(({ id, name }) => `${id} (${name})`).join(', ')}.`,
    });
  }
  const lacking = role.permissions.filter((permission) => {
    const [resource = '', action = ''] = permission.split(':');
    return !evaluate(grants, { resource, action }).authorized;
  });
  if (lacking.length > 0) {
    throw fail('PRIVILEGE_ESCALATION', { details: [{ path: 'roleId', code: 'permission' }] });
  }
}

/** The id of the user whom the input names. @throws VALIDATION_ERROR unless it has either `userId` or `email` */
async function findCandidate(
  tx: Executor,
  { userId, email: address }: { readonly userId?: string | undefined; readonly email?: string | undefined },
): Promise<string | undefined> {
  if (userId !== undefined && address !== undefined)
    throw fail('VALIDATION_ERROR', { details: [{ path: 'email', code: 'excluded' }] });
  if (userId !== undefined) return userId;
  if (address === undefined)
    throw fail('VALIDATION_ERROR', { details: [{ path: 'userId', code: 'required' }] });
  return verifiedOwnerOf(tx, address);
}

async function hasVerifiedAddress(tx: Executor, userId: string): Promise<boolean> {
  const rows = await tx
    .select({ id: authenticationMethods.id })
    .from(authenticationMethods)
    .where(and(isVerifiedAddress, eq(authenticationMethods.userId, userId)));
  return rows.length > 0;
}
