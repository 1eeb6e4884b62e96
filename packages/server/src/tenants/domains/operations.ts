import { newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { endUnboundSessions } from '../../members/app-sessions.ts';
import { lookUp } from './look-up.ts';
import { equals } from '../../db/query/filters.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { OrganizationDomain, OrganizationDomainStatus } from '../../schema/tenants/organization-domain.ts';
import { assertUnused } from './in-use.ts';
import { assertWithinLimit, verify } from './verification.ts';

const tenants: readonly Tenant[] = ['organization'];

export const organizationDomains = query({
  rest: 'GET /organization-domains',
  access: 'OrganizationDomain:Query',
  summary: 'List the domains of an organization',
  tenants,
  input: {
    scope: Scope,
    ...paging(OrganizationDomain),
    status: OrganizationDomainStatus.optional().describe('Only domains with this status.'),
  },
  output: pageOf(OrganizationDomain),
  run: ({ db, input }) =>
    db.page(OrganizationDomain, input, [equals(OrganizationDomain, 'status', input.status)]),
});

/**
 * The declarations that all changes share: only a person who has signed in recently claims domains for an organization.
 */
const change = {
  tenants,
  whileImpersonating: 'refused',
  sessionOnly: true,
  stepUp: true,
  permissionChange: 'none',
} as const;

export const createOrganizationDomain = mutation({
  ...change,
  rest: 'POST /organization-domains',
  access: 'OrganizationDomain:Create',
  summary: 'Name a domain of an organization; the answer has the record that proves it',
  input: { scope: Scope, ...OrganizationDomain.create },
  output: OrganizationDomain.schema,
  status: 201,
  codes: ['CONFLICT'],
  run: async (ctx) => {
    const created = await ctx.db.insert(OrganizationDomain, { ...ctx.input, token: newOneTimeToken() });
    await assertWithinLimit(ctx);
    return created;
  },
});

export const verifyOrganizationDomain = mutation({
  ...change,
  rest: 'POST /organization-domains/:id/verify',
  access: 'OrganizationDomain:Verify',
  summary: 'Look for the record of a domain, which proves that the organization controls it',
  description:
    'Keep the record: the service looks again every day. A domain whose record has been gone for three days lapses.',
  input: { scope: Scope, id: uuid },
  output: OrganizationDomain.schema,
  target: OrganizationDomain,
  codes: ['INVALID_STATE', 'CONFLICT'],
  emits: 'organization_domain.verified',
  // Each call queries name servers that the caller chose and that may respond slowly on purpose.
  waits: true,
  limit: {
    class: 'auth',
    key: (_input, { authentication }) =>
      authentication.ok ? `verifyOrganizationDomain ${authentication.principal.userId}` : '',
  },
  prepare: ({ services, target }) => lookUp(services.dns, target),
  run: async (ctx) => {
    const { row, isNew } = await verify(ctx, ctx.target, ctx.prepared);
    const target = { type: 'OrganizationDomain', id: row.id };
    ctx.record(isNew ? { event: 'organization_domain.verified', data: row, target } : { target });
    if (!isNew) return row;
    // Verified domains decide whom the organization admits, and by which sign-in methods.
    ctx.invalidate(`node:${ctx.scope.nodeId}`);
    await endUnboundSessions(ctx, ctx.scope.nodeId);
    return row;
  },
});

export const deleteOrganizationDomain = mutation({
  ...change,
  rest: 'DELETE /organization-domains/:id',
  access: 'OrganizationDomain:Delete',
  summary: 'Delete a domain; another organization may verify it then',
  input: { scope: Scope, id: uuid },
  output: OrganizationDomain.schema,
  target: OrganizationDomain,
  emits: 'organization_domain.deleted',
  codes: ['IN_USE'],
  run: async ({ tx, db, input }) => {
    await assertUnused(tx, db.scope, input.id);
    return db.remove(OrganizationDomain, input.id);
  },
});
