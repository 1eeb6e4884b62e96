import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { assertCondition } from '../../access/condition.ts';
import { assertCanChange } from '../../access/delegation/delegation.ts';
import { Impact } from '../../access/dry-run/impact.ts';
import { assertNoEscalation } from '../../access/delegation/escalation.ts';
import { builtInFilter, equals } from '../../db/query/filters.ts';
import { fail } from '../../errors.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { Resource, resources } from '../../schema/rights/resource.ts';
import { Permission } from '../../schema/rights/permission.ts';

const readable: readonly Tenant[] = ['account', 'organization', 'accountProject', 'organizationProject'];
const writable: readonly Tenant[] = ['organization', 'accountProject', 'organizationProject'];

export const permissions = query({
  rest: 'GET /permissions',
  access: 'Permission:Query',
  summary: 'List the permissions of a scope',
  tenants: readable,
  input: {
    scope: Scope,
    ...paging(Permission),
    isSystem: z.boolean().optional().describe('true: only built-in ones; false: only your own.'),
    resourceId: uuid.optional().describe('Only permissions on this resource.'),
    action: z.string().min(1).max(64).optional().describe('Only permissions for this action.'),
  },
  output: pageOf(Permission),
  run: ({ db, input }) =>
    db.page(Permission, input, [
      builtInFilter(Permission, input.isSystem),
      equals(Permission, 'resourceId', input.resourceId),
      equals(Permission, 'action', input.action),
    ]),
});

export const permission = query({
  rest: 'GET /permissions/:id',
  access: 'Permission:Query',
  summary: 'Read one permission',
  tenants: readable,
  input: { scope: Scope, id: uuid, ...relationsOf(Permission) },
  output: Permission.schema,
  target: Permission,
  run: ({ db, input, target }) => db.withRelations(Permission, target, input.relations),
});

export const createPermission = mutation({
  rest: 'POST /permissions',
  whileImpersonating: 'allowed',
  access: 'Permission:Create',
  summary: 'Create a permission on one action of a resource',
  tenants: writable,
  input: { scope: Scope, ...Permission.create },
  output: Permission.schema,
  dryRun: Impact,
  status: 201,
  codes: ['PRIVILEGE_ESCALATION', 'INVALID_CONDITION', 'CONFLICT'],
  emits: 'permission.created',
  run: async ({ db, input, rights, tx }) => {
    const condition = assertCondition(input.condition);
    const resource = await db.get(Resource, input.resourceId);
    // The share lock keeps the resource and its actions unchanged until commit.
    const [row] = await tx
      .select({ tenantId: resources.tenantId, actions: resources.actions })
      .from(resources)
      .where(and(eq(resources.id, resource.id), isNull(resources.deletedAt)))
      .for('share');
    if (!row) throw fail('NOT_FOUND');
    if (!row.actions.includes(input.action)) {
      throw fail('VALIDATION_ERROR', {
        details: [{ path: 'action', code: 'enum' }],
        fix: `Use one of the resource's actions: ${row.actions.join(', ')}.`,
      });
    }
    const { slug, isSystem } = resource;
    assertNoEscalation(rights.grants, [
      { resource: slug, action: input.action, managementPlane: isSystem, condition },
    ]);
    return db.insert(Permission, {
      ...input,
      condition,
      name: input.name ?? `${slug}:${input.action}`,
      resourceTenantId: row.tenantId,
    });
  },
});

export const updatePermission = mutation({
  rest: 'PATCH /permissions/:id',
  whileImpersonating: 'allowed',
  access: 'Permission:Update',
  summary: 'Change a permission, except its resource and action',
  permissionChange: 'additions',
  tenants: writable,
  input: { scope: Scope, id: uuid, ...Permission.patch },
  output: Permission.schema,
  dryRun: Impact,
  target: Permission,
  codes: [
    'INVALID_STATE',
    'DELETION_NOT_ALLOWED',
    'PRIVILEGE_ESCALATION',
    'SYSTEM_ENTITY',
    'INVALID_CONDITION',
  ],
  emits: 'permission.updated',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertCanChange(tx, scope, rights, { permissionIds: [input.id] }, target);
    const patch = { ...input };
    if (input.condition !== undefined) {
      patch.condition = assertCondition(input.condition);
      const { slug, isSystem } = target.resource;
      const wanted = { resource: slug, action: target.action, managementPlane: isSystem };
      assertNoEscalation(rights.grants, [{ ...wanted, condition: patch.condition }]);
    }
    return (await db.update(Permission, input.id, patch)).row;
  },
});

export const deletePermission = mutation({
  rest: 'DELETE /permissions/:id',
  whileImpersonating: 'allowed',
  access: 'Permission:Delete',
  summary: 'Delete a permission and remove it from every group',
  tenants: writable,
  input: { scope: Scope, id: uuid },
  output: Permission.schema,
  dryRun: Impact,
  target: Permission,
  codes: ['INVALID_STATE', 'DELETION_NOT_ALLOWED', 'PRIVILEGE_ESCALATION', 'SYSTEM_ENTITY'],
  emits: 'permission.deleted',
  run: async ({ db, input, scope, rights, tx, target }) => {
    await assertCanChange(tx, scope, rights, { permissionIds: [input.id] }, target);
    return db.remove(Permission, input.id);
  },
});
