import { and, count, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import { ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { nodes } from '../../schema/nodes.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../services.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { sealContextOfConnection } from '../../providers/connections.ts';
import { rolesToAssign, type MembershipRun, type RoleRef } from '../../members/role-assignment.ts';
import { organizationDomains } from '../../schema/tenants/organization-domain.ts';
import { organizationConnections } from '../../schema/tenants/organization-connection.ts';

/* Checks the references of a connection and the number of connections. */

const MAX_CONNECTIONS = 5;

const isLive = ({ nodeId }: ScopedDb['scope']) =>
  and(eq(organizationConnections.tenantId, nodeId), isNull(organizationConnections.deletedAt));

/** Encrypts the client secret of a connection. */
export const sealSecret = ({ kek }: Pick<Services, 'kek'>, id: string, secret: string): string =>
  kek.seal(Buffer.from(secret), sealContextOfConnection(id));

/**
 * Locks the organization's node. Changes of its connections and domains wait for each other, so that checks under the
 * lock hold until the commit.
 */
export const lockConnections = (tx: Executor, { nodeId }: ScopedDb['scope']) =>
  tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, nodeId)).for('no key update');

/** Refuses a connection beyond the limit of the organization. @throws CONFLICT */
export async function assertWithinLimit(tx: Executor, scope: ScopedDb['scope']): Promise<void> {
  const [total] = await tx.select({ count: count() }).from(organizationConnections).where(isLive(scope));
  if ((total?.count ?? 0) <= MAX_CONNECTIONS) return;
  throw fail('CONFLICT', {
    details: [{ path: 'scope', code: 'limit' }],
    fix: `An organization has at most ${MAX_CONNECTIONS} connections: delete one that is not needed.`,
  });
}

/**
 * Asserts that the domains belong to this organization, and to none of its other connections. Call it under
 * `lockConnections`.
 * @throws NOT_FOUND, CONFLICT
 */
export async function assertDomainsFree(
  tx: Executor,
  scope: ScopedDb['scope'],
  id: string,
  domainIds: readonly string[],
): Promise<void> {
  const own = await tx
    .select({ id: organizationDomains.id })
    .from(organizationDomains)
    .where(
      and(
        inArray(organizationDomains.id, [...domainIds]),
        eq(organizationDomains.tenantId, scope.nodeId),
        isNull(organizationDomains.deletedAt),
      ),
    );
  if (own.length !== domainIds.length) {
    throw fail('NOT_FOUND', {
      fix: 'Name only domains of this organization (GET /api/organization-domains).',
    });
  }
  const shared = sql`${organizationConnections.domainIds} && ${`{${domainIds.join()}}`}::uuid[]`;
  const [other] = await tx
    .select({ name: organizationConnections.name })
    .from(organizationConnections)
    .where(and(isLive(scope), ne(organizationConnections.id, id), shared));
  if (!other) return;
  throw fail('CONFLICT', {
    details: [{ path: 'domainIds', code: 'taken' }],
    fix: `A domain leads to one connection: take it out of "${other.name}" first.`,
  });
}

/**
 * The default role of a connection. The caller must be able to assign it. It cannot be Organization Owner, because no
 * person becomes an owner by signing in.
 * @throws VALIDATION_ERROR, NOT_FOUND, PRIVILEGE_ESCALATION
 */
export async function defaultRole(
  ctx: MembershipRun,
  roleId: string,
): Promise<{ readonly defaultRoleId: string; readonly defaultRoleTenantId: string }> {
  if (roleId === ORGANIZATION_OWNER) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'defaultRoleId', code: 'not_allowed' }],
      fix: 'Name a role other than Organization Owner: owners are named by owners.',
    });
  }
  const [role] = (await rolesToAssign(ctx, [roleId])) as [RoleRef];
  return { defaultRoleId: role.id, defaultRoleTenantId: role.tenantId };
}
