import { z } from 'zod';
import { assertCanChange, assertCanGrant } from '../../access/delegation/delegation.ts';
import { Impact } from '../../access/dry-run/impact.ts';
import { builtInFilter } from '../../db/query/filters.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { Group } from '../../schema/rights/group.ts';

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
    isSystem: z.boolean().optional().describe('true: only built-in groups; false: only your own.'),
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
  whileImpersonating: 'allowed',
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
    await assertCanGrant(tx, scope, rights, { permissionIds: input.permissionIds });
    return db.insert(Group, input);
  },
});

export const updateGroup = mutation({
  rest: 'PATCH /groups/:id',
  whileImpersonating: 'allowed',
  access: 'Group:Update',
  summary: 'Change a group; permissionIds and tagIds replace the whole set',
  permissionChange: 'additions',
  tenants: writable,
  input: { scope: Scope, id: uuid, ...Group.patch },
  output: Group.schema,
  dryRun: Impact,
  target: Group,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'group.updated',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertCanChange(tx, scope, rights, { groupIds: [input.id] }, target);
    await assertCanGrant(tx, scope, rights, { permissionIds: input.permissionIds });
    return (await db.update(Group, input.id, input)).row;
  },
});

export const deleteGroup = mutation({
  rest: 'DELETE /groups/:id',
  whileImpersonating: 'allowed',
  access: 'Group:Delete',
  summary: 'Delete a group and remove it from every role',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Group.schema,
  dryRun: Impact,
  target: Group,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'group.deleted',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertCanChange(tx, scope, rights, { groupIds: [input.id] }, target);
    return db.remove(Group, input.id);
  },
});
