import { and, eq, isNull, lt, or } from 'drizzle-orm';
import type { LiveApp } from '../../apps/access/app.ts';
import { watchForExcessKeys } from '../../members/excess-keys/excess-keys.ts';
import type { Identity } from '../../providers/provider.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { userAsActor } from '../../people/user-node.ts';
import { isMembership } from '../../members/role-assignment.ts';
import { organizationMembers } from '../../schema/rights/membership.ts';
import { endUnboundSessions } from '../../members/app-sessions.ts';
import { joinOrganization } from '../../members/organization.ts';
import { organizationConnections } from '../../schema/tenants/organization-connection.ts';
import { roles } from '../../schema/rights/role.ts';
import { connectionById, vouchesFor, type LiveConnection } from './live-connection.ts';

/** A sign-in through an organization's connection. */
export interface ConnectedMember {
  readonly connection: LiveConnection;
  /** Whether they will become a member of the organization, with its default role. */
  readonly joins: boolean;
}

/**
 * The sign-in as a member; undefined if the connection does not admit the person. The provider vouches only for
 * addresses in its verified domains, people who are not members join only if `justInTime` is on, and an existing user
 * whose account is not linked yet must have proved the address by a mailed code.
 */
export async function connectedMember(
  ctx: Run,
  app: LiveApp,
  identity: Identity,
  { user, isLinked }: { readonly user: UserRow | null; readonly isLinked: boolean },
): Promise<ConnectedMember | undefined> {
  const { tx } = ctx;
  const { connection: named, address } = identity;
  const connection = named && (await connectionById(tx, app, named.id));
  if (!connection || address === null || !(await vouchesFor(tx, connection, address))) return undefined;
  if (user !== null && !isLinked && !identity.isProvedByMail) return undefined;
  const joins = user === null || !(await isMember(ctx, connection.organizationId, user.id));
  return joins && !connection.justInTime ? undefined : { connection, joins };
}

async function isMember({ tx }: Run, organizationId: string, userId: string): Promise<boolean> {
  const [row] = await tx
    .select({ userId: organizationMembers.userId })
    .from(organizationMembers)
    .where(isMembership(organizationMembers, organizationId, userId));
  return row !== undefined;
}

/** Makes the user a member if they are not one yet. Returns false if the default role no longer exists. */
export async function admitMember(
  ctx: Run,
  { connection, joins }: ConnectedMember,
  user: { readonly id: string; readonly name: string },
): Promise<boolean> {
  await noteUse(ctx, connection);
  if (!joins) return true;
  const { tx, services } = ctx;
  const { organizationId, defaultRoleId } = connection;
  const [role] = await tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(eq(roles.id, defaultRoleId), isNull(roles.deletedAt)))
    .for('share');
  if (!role) return false;
  const endOutgrownKeys = await watchForExcessKeys(tx, services.builtIns.nouns, organizationId);
  const actor = userAsActor(user);
  const recording = {
    ...ctx,
    record: (entry: Parameters<Run['record']>[0]) => ctx.record({ actor, ...entry }),
  };
  await joinOrganization(recording, { organizationId, userId: user.id, role, field: 'userId' });
  await endUnboundSessions(ctx, organizationId, { userId: user.id });
  (await endOutgrownKeys(ctx.invalidate)).forEach(ctx.record);
  return true;
}

const USE_MS = 60_000;

/**
 * Records the use of the connection, at most once a minute, so that sign-ins of an organization do not wait for each
 * other. The first use proves that the connection works.
 */
async function noteUse({ tx, services }: Run, { id }: LiveConnection): Promise<void> {
  const now = services.clock.now();
  const { lastUsedAt, provedAt } = organizationConnections;
  const isDue = or(isNull(lastUsedAt), isNull(provedAt), lt(lastUsedAt, new Date(now.getTime() - USE_MS)));
  const [row] = await tx
    .update(organizationConnections)
    .set({ lastUsedAt: now })
    .where(and(eq(organizationConnections.id, id), isDue))
    .returning({ provedAt });
  if (row && row.provedAt === null) {
    await tx.update(organizationConnections).set({ provedAt: now }).where(eq(organizationConnections.id, id));
  }
}
