import { ORGANIZATION_ADMIN, ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { freeSlug } from '../../db/tenancy/free-slug.ts';
import { createNode, deleteNode } from '../../db/tenancy/tenant-tree.ts';
import { recordEndedGrants } from '../../members/grant-entries.ts';
import { fail } from '../../errors.ts';
import { callerOf, isManagementKey } from '../../kernel/context.ts';
import { pageOf, paging, relationsOf } from '../../kernel/input/inputs.ts';
import { mutation, query } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import { uuid } from '../../kernel/input/values.ts';
import { logoFile, logoUpload, prepareLogo } from '../../apps/branding/logo-upload.ts';
import { storeLogo } from '../../apps/branding/logo.ts';
import { lockUser } from '../../people/lock-user.ts';
import { joinOrganization } from '../../members/organization.ts';
import { assertOrganizationLimit, lockAccountOwner } from './founding.ts';
import { Organization } from '../../schema/tenants/organization.ts';

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
  admits: ['suspended-member'],
  tenants: ['organization'],
  input: { scope: Scope, id: uuid, ...relationsOf(Organization) },
  output: Organization.schema,
  target: Organization,
  run: ({ db, input, target }) => db.withRelations(Organization, target, input.relations),
});

export const createOrganization = mutation({
  rest: 'POST /organizations',
  whileImpersonating: 'allowed',
  access: 'Organization:Create',
  summary: 'Create an organization; the creator becomes its first owner',
  description:
    'By a key of the account: the owner of the account becomes its owner, and the service user of the key joins as Organization Admin.',
  sessionOnly: (_, principal) => !isManagementKey(principal),
  tenants: ['account'],
  input: { scope: Scope, ...Organization.create },
  output: Organization.schema,
  status: 201,
  codes: ['ACCOUNT_TYPE_MISMATCH', 'CONFLICT', 'INVALID_STATE', 'NOT_FOUND'],
  run: async (ctx) => {
    const { db, input, scope, tx, services } = ctx;
    const principal = callerOf(ctx);
    if (scope.accountType !== 'organization') {
      throw fail('ACCOUNT_TYPE_MISMATCH', {
        params: { type: 'organization' },
        fix: 'Create an account of type organization at POST /api/me/accounts and use its scope.',
      });
    }
    const id = services.ids.next();
    // The deletion of a user locks the user before their account; locking in the same order here avoids a deadlock.
    if (!(await lockUser(ctx, principal.userId, 'share'))) throw fail('UNAUTHENTICATED');
    const ownerId = isManagementKey(principal) ? await lockAccountOwner(ctx) : principal.userId;
    await createNode(tx, { id, kind: 'organization', parentId: scope.nodeId });
    const slug = input.slug ?? (await freeSlug(tx, 'organizations', input.name, null));
    const created = await db.insert(Organization, { ...input, id, slug, accountId: scope.nodeId });
    const node = { id, scope: { tenant: 'organization' as const, id } };
    ctx.record({ node, event: 'organization.created', data: created, target: { type: 'Organization', id } });
    const role = { id: ORGANIZATION_OWNER, tenantId: SYSTEM_NODE };
    await joinOrganization(ctx, { organizationId: id, userId: ownerId, role, field: 'userId' });
    if (isManagementKey(principal)) {
      const { userId } = principal;
      const admin = { id: ORGANIZATION_ADMIN, tenantId: SYSTEM_NODE };
      await joinOrganization(ctx, { organizationId: id, userId, role: admin, field: 'userId' });
    }
    await assertOrganizationLimit(ctx);
    return created;
  },
});

export const updateOrganization = mutation({
  rest: 'PATCH /organizations/:id',
  whileImpersonating: 'allowed',
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

export const uploadOrganizationLogo = mutation({
  ...logoUpload,
  rest: 'POST /organizations/:id/logo',
  whileImpersonating: 'refused',
  access: 'Organization:Update',
  summary: 'Upload the logo of an organization, or remove it',
  tenants: ['organization'],
  permissionChange: 'none',
  input: { scope: Scope, id: uuid, file: logoFile },
  output: Organization.schema,
  target: Organization,
  emits: 'organization.updated',
  prepare: ({ services, input }) => prepareLogo(services, input),
  run: async (ctx) => {
    const { db, input, prepared } = ctx;
    const logoUrl = await storeLogo(ctx, { id: input.id, tenantId: input.id }, prepared);
    return (await db.update(Organization, input.id, { logoUrl })).row;
  },
});

export const deleteOrganization = mutation({
  rest: 'DELETE /organizations/:id',
  whileImpersonating: 'refused',
  access: 'Organization:Delete',
  summary: 'Delete an organization with its projects, members and other rows',
  sessionOnly: true,
  tenants: ['organization'],
  stepUp: true,
  input: { scope: Scope, id: uuid },
  output: Organization.schema,
  target: Organization,
  run: async (ctx) => {
    const removed = await ctx.db.remove(Organization, ctx.input.id);
    const deleted = await deleteNode(ctx.tx, removed.id);
    ctx.invalidate(...deleted.topics);
    const { id } = removed;
    const node = { id, scope: { tenant: 'organization' as const, id }, evenDeleted: true as const };
    ctx.record({ node, event: 'organization.deleted', data: removed, target: { type: 'Organization', id } });
    await recordEndedGrants(ctx, deleted);
    return removed;
  },
});
