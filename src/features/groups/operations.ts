import { z } from 'zod';
import { assertMayChange, assertMayGive } from '../../access/giving.ts';
import { Impact } from '../../access/impact.ts';
import { builtInFilter } from '../../db/filters.ts';
import { pageOf, paging, relationsOf } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../values.ts';
import { Group } from './group.ts';

const readable: readonly Tenant[] = ['account', 'organization', 'accountProject', 'organizationProject'];
const writable: readonly Tenant[] = ['organization', 'accountProject', 'organizationProject'];

export const groups = query({
  rest: 'GET /groups',
  access: 'Group:Query',
  summary: 'List the groups of a scope',
  tenants: readable,
  input: {
    scope: Scope,
    ...paging(Group),
    isSystem: z.boolean().optional().describe('true: only built-in ones; false: only your own.'),
  },
  output: pageOf(Group),
  run: ({ db, input }) => db.page(Group, input, [builtInFilter(Group, input.isSystem)]),
});

export const group = query({
  rest: 'GET /groups/:id',
  access: 'Group:Query',
  summary: 'Read one group',
  tenants: readable,
  input: { scope: Scope, id: uuid, ...relationsOf(Group) },
  output: Group.schema,
  target: Group,
  run: ({ db, input, target }) => db.withRelations(Group, target, input.relations),
});

export const createGroup = mutation({
  rest: 'POST /groups',
  access: 'Group:Create',
  summary: 'Create a group',
  tenants: writable,
  input: { scope: Scope, ...Group.create },
  output: Group.schema,
  dryRun: Impact,
  status: 201,
  codes: ['PRIVILEGE_ESCALATION', 'CONFLICT', 'NOT_FOUND'],
  emits: 'group.created',
  run: async ({ db, input, scope, rights, tx }) => {
    await assertMayGive(tx, scope, rights, { permissionIds: input.permissionIds });
    return db.insert(Group, input);
  },
});

export const updateGroup = mutation({
  rest: 'PATCH /groups/:id',
  access: 'Group:Update',
  summary: 'Change a group; permissionIds and tagIds replace the whole set',
  addsRights: true,
  tenants: writable,
  input: { scope: Scope, id: uuid, ...Group.patch },
  output: Group.schema,
  dryRun: Impact,
  target: Group,
  codes: ['PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'group.updated',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertMayChange(tx, scope, rights, { groupIds: [input.id] }, target);
    await assertMayGive(tx, scope, rights, { permissionIds: input.permissionIds });
    return (await db.update(Group, input.id, input)).row;
  },
});

export const deleteGroup = mutation({
  rest: 'DELETE /groups/:id',
  access: 'Group:Delete',
  summary: 'Delete a group and take it out of every role',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Group.schema,
  dryRun: Impact,
  target: Group,
  codes: ['PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'group.deleted',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertMayChange(tx, scope, rights, { groupIds: [input.id] }, target);
    return db.remove(Group, input.id);
  },
});
