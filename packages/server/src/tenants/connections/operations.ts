import { z } from 'zod';
import { endUnboundSessions } from '../../members/app-sessions.ts';
import { equals } from '../../db/query/filters.ts';
import { fail } from '../../errors.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { Scope, type Tenant } from '../../kernel/scope.ts';
import { assertDomainsFree, assertWithinLimit, defaultRole, lockConnections, sealSecret } from './changes.ts';
import {
  clientSecret,
  OrganizationConnection,
  OrganizationConnectionStatus,
} from '../../schema/tenants/organization-connection.ts';

const tenants: readonly Tenant[] = ['organization'];

export const organizationConnections = query({
  rest: 'GET /organization-connections',
  access: 'OrganizationConnection:Query',
  summary: 'List the identity providers of an organization',
  tenants,
  input: {
    scope: Scope,
    ...paging(OrganizationConnection),
    status: OrganizationConnectionStatus.optional().describe('Only connections with this status.'),
  },
  output: pageOf(OrganizationConnection),
  run: ({ db, input }) =>
    db.page(OrganizationConnection, input, [equals(OrganizationConnection, 'status', input.status)]),
});

export const organizationConnection = query({
  rest: 'GET /organization-connections/:id',
  access: 'OrganizationConnection:Query',
  summary: 'Read an identity provider of an organization',
  tenants,
  input: { scope: Scope, id: uuid },
  output: OrganizationConnection.schema,
  target: OrganizationConnection,
  run: ({ target }) => Promise.resolve(target),
});

/**
 * The declarations that all changes share: only a person who has signed in recently decides who vouches for the
 * members.
 */
const change = {
  tenants,
  whileImpersonating: 'refused',
  sessionOnly: true,
  stepUp: true,
} as const;

export const createOrganizationConnection = mutation({
  ...change,
  rest: 'POST /organization-connections',
  access: 'OrganizationConnection:Create',
  summary: 'Connect the identity provider of an organization; the answer has the callback to register there',
  permissionChange: 'none',
  input: { scope: Scope, ...OrganizationConnection.create, clientSecret },
  output: OrganizationConnection.schema,
  status: 201,
  codes: ['CONFLICT', 'PRIVILEGE_ESCALATION'],
  emits: 'organization_connection.created',
  run: async (ctx) => {
    const { tx, db, services, scope, input } = ctx;
    const { clientSecret: secret, ...values } = input;
    const id = services.ids.next();
    await lockConnections(tx, scope);
    await assertDomainsFree(tx, scope, id, values.domainIds);
    const role = await defaultRole(ctx, values.defaultRoleId);
    const sealedSecret = sealSecret(services, id, secret);
    const created = await db.insert(OrganizationConnection, { ...values, ...role, id, sealedSecret });
    await assertWithinLimit(tx, scope);
    return created;
  },
});

export const updateOrganizationConnection = mutation({
  ...change,
  rest: 'PATCH /organization-connections/:id',
  access: 'OrganizationConnection:Update',
  summary: 'Change an identity provider of an organization',
  description:
    'Another issuer or client has to be proved by a sign-in before the connection can be enforced, and is refused while it is.',
  permissionChange: 'none',
  input: { scope: Scope, id: uuid, ...OrganizationConnection.patch, clientSecret: clientSecret.optional() },
  output: OrganizationConnection.schema,
  target: OrganizationConnection,
  codes: ['CONFLICT', 'INVALID_STATE', 'PRIVILEGE_ESCALATION'],
  emits: 'organization_connection.updated',
  run: async (ctx) => {
    const { tx, db, services, scope, input } = ctx;
    const { clientSecret: secret, ...patch } = input;
    const { defaultRoleId } = patch;
    await lockConnections(tx, scope);
    const before = await db.get(OrganizationConnection, input.id);
    if (patch.domainIds) await assertDomainsFree(tx, scope, input.id, patch.domainIds);
    const after: typeof before = { ...before, ...definedOf<typeof before>(patch) };
    const isOther = after.issuer !== before.issuer || after.clientId !== before.clientId;
    // A connection assigns its default role to everyone it admits, so the caller must be able to assign the role.
    const letsIn = isOther || patch.domainIds || patch.justInTime || patch.status === 'active';
    const role = letsIn || defaultRoleId !== undefined ? await defaultRole(ctx, after.defaultRoleId) : {};
    if (isOther && before.enforced) throw stillEnforced();
    const provedAt = isOther ? null : before.provedAt;
    if (after.enforced && (provedAt === null || after.status !== 'active'))
      throw before.enforced ? staysActive() : notProved(after.status);
    const sealedSecret = secret === undefined ? {} : { sealedSecret: sealSecret(services, input.id, secret) };
    const { row } = await db.update(OrganizationConnection, input.id, {
      ...patch,
      ...role,
      ...sealedSecret,
      provedAt,
    });
    // The cached scope of the organization says which sign-ins it accepts.
    ctx.invalidate(`node:${scope.nodeId}`);
    if (after.enforced && (!before.enforced || patch.domainIds)) await endUnboundSessions(ctx, scope.nodeId);
    return row;
  },
});

const definedOf = <T extends object>(patch: { readonly [K in keyof T]?: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as T;

const stillEnforced = () =>
  fail('INVALID_STATE', {
    params: { state: 'enforced' },
    details: [{ path: 'issuer', code: 'not_allowed' }],
    fix: 'Set enforced to false first: members would be locked out if the other provider does not work.',
  });

const staysActive = () =>
  fail('INVALID_STATE', {
    params: { state: 'enforced' },
    details: [{ path: 'status', code: 'not_allowed' }],
    fix: 'Set enforced to false first: an enforced connection has to stay active.',
  });

const notProved = (status: string) =>
  fail('INVALID_STATE', {
    params: { state: status },
    details: [{ path: 'enforced', code: 'not_allowed' }],
    fix: 'Set the status to active and sign in through the connection once, so that its provider is known to work.',
  });

export const deleteOrganizationConnection = mutation({
  ...change,
  rest: 'DELETE /organization-connections/:id',
  access: 'OrganizationConnection:Delete',
  summary: 'Delete an identity provider of an organization; its members keep their membership',
  permissionChange: 'none',
  input: { scope: Scope, id: uuid },
  output: OrganizationConnection.schema,
  target: OrganizationConnection,
  emits: 'organization_connection.deleted',
  run: ({ db, scope, input, invalidate }) => {
    invalidate(`node:${scope.nodeId}`);
    return db.remove(OrganizationConnection, input.id);
  },
});

const ConnectionTest = z
  .object({
    ok: z.boolean().describe('Whether the provider answered as expected.'),
    step: z
      .enum(['metadata', 'keys'])
      .meta({ id: 'ConnectionTestStep', description: 'The last step that was tried.' })
      .describe('The last step that was tried.'),
    message: z.string().describe('What happened, for a person.'),
  })
  .meta({ id: 'ConnectionTest', description: 'Whether the provider of a connection answers.' });

export const testOrganizationConnection = mutation({
  ...change,
  rest: 'POST /organization-connections/:id/test',
  access: 'OrganizationConnection:Test',
  summary: 'Ask the provider of a connection for its metadata and keys',
  description: 'Whether client and secret are right shows at the first sign-in.',
  permissionChange: 'none',
  input: { scope: Scope, id: uuid },
  output: ConnectionTest,
  target: OrganizationConnection,
  // The caller chose the provider's server, which may respond slowly on purpose.
  waits: true,
  limit: {
    class: 'auth',
    key: (_input, { authentication }) =>
      authentication.ok ? `testOrganizationConnection ${authentication.principal.userId}` : '',
  },
  prepare: ({ services, target }) => services.identityProviders.connections.test(target),
  run: (ctx) => {
    ctx.unchanged();
    return Promise.resolve(ctx.prepared);
  },
});
