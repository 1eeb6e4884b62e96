import { z } from 'zod';
import { assertCanChange, assertCanGrant } from '../../access/delegation/delegation.ts';
import { Impact } from '../../access/dry-run/impact.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { builtInFilter } from '../../db/query/filters.ts';
import { Role } from '../../schema/rights/role.ts';
import { assertUnassigned } from './assigned-roles.ts';

const readable: readonly Tenant[] = ['account', 'organization', 'accountProject', 'organizationProject'];
const writable: readonly Tenant[] = ['organization', 'accountProject', 'organizationProject'];

export const roles = query({
  rest: 'GET /roles',
  access: 'Role:Query',
  summary: 'List the roles of a scope',
  tenants: readable,
  input: {
    scope: Scope,
    ...paging(Role),
    isSystem: z.boolean().optional().describe('true: only built-in ones; false: only your own.'),
  },
  output: pageOf(Role),
  run: ({ db, input }) => db.page(Role, input, [builtInFilter(Role, input.isSystem)]),
});

export const role = query({
  rest: 'GET /roles/:id',
  access: 'Role:Query',
  summary: 'Read one role',
  tenants: readable,
  input: { scope: Scope, id: uuid, ...relationsOf(Role) },
  output: Role.schema,
  target: Role,
  run: ({ db, input, target }) => db.withRelations(Role, target, input.relations),
});

export const createRole = mutation({
  rest: 'POST /roles',
  whileImpersonating: 'allowed',
  access: 'Role:Create',
  summary: 'Create a role',
  tenants: writable,
  input: { scope: Scope, ...Role.create },
  output: Role.schema,
  dryRun: Impact,
  status: 201,
  codes: ['PRIVILEGE_ESCALATION', 'CONFLICT', 'NOT_FOUND'],
  emits: 'role.created',
  run: async ({ db, input, scope, rights, tx }) => {
    await assertCanGrant(tx, scope, rights, { groupIds: input.groupIds });
    // The scope is never the installation, whose roles are built-in (`tenants`).
    return db.insert(Role, { ...input, level: scope.level as Exclude<typeof scope.level, 'installation'> });
  },
});

export const updateRole = mutation({
  rest: 'PATCH /roles/:id',
  whileImpersonating: 'allowed',
  access: 'Role:Update',
  summary: 'Change a role; groupIds and tagIds replace the whole set',
  permissionChange: 'additions',
  tenants: writable,
  input: { scope: Scope, id: uuid, ...Role.patch },
  output: Role.schema,
  dryRun: Impact,
  target: Role,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'role.updated',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertCanChange(tx, scope, rights, { roleIds: [input.id] }, target);
    await assertCanGrant(tx, scope, rights, { groupIds: input.groupIds });
    return (await db.update(Role, input.id, input)).row;
  },
});

export const deleteRole = mutation({
  rest: 'DELETE /roles/:id',
  whileImpersonating: 'allowed',
  access: 'Role:Delete',
  summary: 'Delete a role that is not assigned',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Role.schema,
  dryRun: Impact,
  target: Role,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY', 'IN_USE'],
  emits: 'role.deleted',
  run: async ({ db, input, scope, rights, tx, target, services }) => {
    await assertCanChange(tx, scope, rights, { roleIds: [input.id] }, target);
    const removed = await db.remove(Role, input.id);
    await assertUnassigned(tx, input.id, services.clock.now());
    return removed;
  },
});
