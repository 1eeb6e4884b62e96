import { z } from 'zod';
import { builtInFilter, equals } from '../../db/query/filters.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { Resource } from '../../schema/rights/resource.ts';
import {
  assertActionsUnused,
  assertCanChangePermissionsOf,
  assertPermissionsNotHeld,
  createPermissionsOf,
  deletePermissionsOf,
} from './store.ts';

const readable: readonly Tenant[] = ['account', 'organization', 'accountProject', 'organizationProject'];
const writable: readonly Tenant[] = ['accountProject', 'organizationProject'];

export const resources = query({
  rest: 'GET /resources',
  access: 'Resource:Query',
  summary: 'List the resources of a scope',
  tenants: readable,
  input: {
    scope: Scope,
    ...paging(Resource),
    isSystem: z.boolean().optional().describe('true: only built-in ones; false: only your own.'),
    isActive: z
      .boolean()
      .optional()
      .describe('true: only active ones, whose permissions count; false: only inactive ones.'),
  },
  output: pageOf(Resource),
  run: ({ db, input }) =>
    db.page(Resource, input, [
      builtInFilter(Resource, input.isSystem),
      equals(Resource, 'isActive', input.isActive),
    ]),
});

export const resource = query({
  rest: 'GET /resources/:id',
  access: 'Resource:Query',
  summary: 'Read one resource',
  tenants: readable,
  input: { scope: Scope, id: uuid, ...relationsOf(Resource) },
  output: Resource.schema,
  target: Resource,
  run: ({ db, input, target }) => db.withRelations(Resource, target, input.relations),
});

export const createResource = mutation({
  rest: 'POST /resources',
  whileImpersonating: 'allowed',
  access: 'Resource:Create',
  summary: 'Create a resource, optionally with one permission per action',
  tenants: writable,
  input: { scope: Scope, ...Resource.create },
  output: Resource.schema,
  status: 201,
  codes: ['PRIVILEGE_ESCALATION', 'CONFLICT', 'NOT_FOUND'],
  emits: 'resource.created',
  run: async ({ db, input, rights, scope }) => {
    const created = await db.insert(Resource, input);
    if (!input.createPermissions) return created;
    return { ...created, permissions: await createPermissionsOf(db, scope, rights, created) };
  },
});

export const updateResource = mutation({
  rest: 'PATCH /resources/:id',
  whileImpersonating: 'allowed',
  access: 'Resource:Update',
  summary: 'Change a resource, except its slug',
  permissionChange: 'additions',
  tenants: writable,
  input: { scope: Scope, id: uuid, ...Resource.patch },
  output: Resource.schema,
  target: Resource,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY', 'IN_USE'],
  emits: 'resource.updated',
  run: async ({ db, input, tx, scope, rights, target }) => {
    // Activating or deactivating a resource grants or revokes all permissions on it.
    if (input.isActive !== undefined && input.isActive !== target.isActive)
      await assertCanChangePermissionsOf(tx, scope, rights, target);
    const { row } = await db.update(Resource, input.id, input);
    if (input.actions) await assertActionsUnused(tx, input.id, input.actions);
    return row;
  },
});

export const deleteResource = mutation({
  rest: 'DELETE /resources/:id',
  whileImpersonating: 'allowed',
  access: 'Resource:Delete',
  summary: 'Delete a resource and its permissions',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Resource.schema,
  target: Resource,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'resource.deleted',
  run: async ({ db, input, tx, scope, rights, target }) => {
    await assertCanChangePermissionsOf(tx, scope, rights, target);
    const removed = await db.remove(Resource, input.id);
    await assertPermissionsNotHeld(tx, input.id);
    await deletePermissionsOf(tx, input.id);
    return removed;
  },
});
