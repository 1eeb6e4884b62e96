import { ORGANIZATION_OWNER } from '../../access/built-in.ts';
import { SYSTEM_NODE } from '../../db/nodes.ts';
import { createNode, deleteNode, freeSlug } from '../../db/tenant-tree.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { pageOf, paging, relationsOf } from '../../kernel/inputs.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { Scope } from '../../kernel/scope.ts';
import { uuid } from '../../values.ts';
import { lockUser } from '../identity/verification.ts';
import { joinOrganization } from '../memberships/organization.ts';
import { Organization } from './organization.ts';

export const organizations = query({
  rest: 'GET /organizations',
  access: 'Organization:Query',
  summary: 'List organizations of an account, or the organization itself',
  description: 'In an account: those it owns, and those where its owner is a member.',
  tenants: ['account', 'organization'],
  input: { scope: Scope, ...paging(Organization) },
  output: pageOf(Organization),
  run: ({ db, input }) => db.page(Organization, input),
});

export const organization = query({
  rest: 'GET /organizations/:id',
  access: 'Organization:Query',
  summary: 'Read an organization',
  tenants: ['organization'],
  input: { scope: Scope, id: uuid, ...relationsOf(Organization) },
  output: Organization.schema,
  target: Organization,
  run: ({ db, input, target }) => db.withRelations(Organization, target, input.relations),
});

export const createOrganization = mutation({
  rest: 'POST /organizations',
  access: 'Organization:Create',
  summary: 'Create an organization; the creator becomes its first owner',
  sessionOnly: true,
  tenants: ['account'],
  input: { scope: Scope, ...Organization.create },
  output: Organization.schema,
  status: 201,
  codes: ['ACCOUNT_TYPE_MISMATCH', 'CONFLICT', 'NOT_FOUND'],
  run: async (ctx) => {
    const { db, input, scope, tx, services } = ctx;
    if (scope.accountType !== 'organization') {
      throw fail('ACCOUNT_TYPE_MISMATCH', {
        params: { type: 'organization' },
        fix: 'Create an account of type organization at POST /api/me/accounts and use its scope.',
      });
    }
    const id = services.ids.next();
    const { userId } = callerOf(ctx);
    // Its first member is locked before the account: his own end takes both, in this order.
    if (!(await lockUser(ctx, userId, 'share'))) throw fail('UNAUTHENTICATED');
    await createNode(tx, { id, kind: 'organization', parentId: scope.nodeId });
    const slug = input.slug ?? (await freeSlug(tx, 'organizations', input.name, null));
    const created = await db.insert(Organization, { ...input, id, slug, accountId: scope.nodeId });
    const node = { id, scope: { tenant: 'organization' as const, id } };
    ctx.record({ node, event: 'organization.created', data: created, target: { type: 'Organization', id } });
    const role = { id: ORGANIZATION_OWNER, tenantId: SYSTEM_NODE };
    await joinOrganization(ctx, { organizationId: id, userId, role, field: 'userId' });
    return created;
  },
});

export const updateOrganization = mutation({
  rest: 'PATCH /organizations/:id',
  access: 'Organization:Update',
  summary: 'Change an organization',
  tenants: ['organization'],
  input: { scope: Scope, id: uuid, ...Organization.patch },
  output: Organization.schema,
  target: Organization,
  codes: ['CONFLICT'],
  emits: 'organization.updated',
  run: async ({ db, input }) => (await db.update(Organization, input.id, input)).row,
});

export const deleteOrganization = mutation({
  rest: 'DELETE /organizations/:id',
  access: 'Organization:Delete',
  summary: 'Delete an organization with its projects, members and own rows',
  tenants: ['organization'],
  stepUp: true,
  input: { scope: Scope, id: uuid },
  output: Organization.schema,
  target: Organization,
  run: async (ctx) => {
    const removed = await ctx.db.remove(Organization, ctx.input.id);
    for (const topic of await deleteNode(ctx.tx, removed.id)) ctx.touch(topic);
    const { id } = removed;
    const node = { id, scope: { tenant: 'organization' as const, id }, evenDeleted: true as const };
    ctx.record({ node, event: 'organization.deleted', data: removed, target: { type: 'Organization', id } });
    return removed;
  },
});
