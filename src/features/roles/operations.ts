import { assertMayChange, assertMayGive } from '../../access/giving.ts';
import { Impact } from '../../access/impact.ts';
import { pageOf, paging, relationsOf } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../values.ts';
import { z } from 'zod';
import { builtInFilter } from '../../db/filters.ts';
import { Role } from './role.ts';
import { assertNotWorn } from './store.ts';

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
    await assertMayGive(tx, scope, rights, { groupIds: input.groupIds });
    return db.insert(Role, { ...input, level: scope.level });
  },
});

export const updateRole = mutation({
  rest: 'PATCH /roles/:id',
  access: 'Role:Update',
  summary: 'Change a role; groupIds and tagIds replace the whole set',
  addsRights: true,
  tenants: writable,
  input: { scope: Scope, id: uuid, ...Role.patch },
  output: Role.schema,
  dryRun: Impact,
  target: Role,
  codes: ['PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'role.updated',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertMayChange(tx, scope, rights, { roleIds: [input.id] }, target);
    await assertMayGive(tx, scope, rights, { groupIds: input.groupIds });
    return (await db.update(Role, input.id, input)).row;
  },
});

export const deleteRole = mutation({
  rest: 'DELETE /roles/:id',
  access: 'Role:Delete',
  summary: 'Delete a role that nobody wears',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Role.schema,
  dryRun: Impact,
  target: Role,
  codes: ['PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY', 'IN_USE'],
  emits: 'role.deleted',
  run: async ({ db, input, scope, rights, tx, target, services }) => {
    await assertMayChange(tx, scope, rights, { roleIds: [input.id] }, target);
    const removed = await db.remove(Role, input.id);
    await assertNotWorn(tx, input.id, services.clock.now());
    return removed;
  },
});
