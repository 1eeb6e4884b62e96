import { and, eq, isNull, sql } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { roles } from '../../schema/rights/role.ts';
import type { LiveApp } from '../../apps/access/app.ts';
import {
  appFor,
  organizationOfMember,
  organizationsOf,
  type AppOrganization,
} from './sign-in-organization.ts';
import { requiredConnection, type LiveConnection } from '../connections/live-connection.ts';
import { boundOrganization } from '../flow/bound-person.ts';
import type { Proof } from '../flow/flow-data.ts';
import type { AppRequest } from '../../apps/access/app-request.ts';
import type { Run } from '../../services.ts';
import { userAsActor } from '../../people/user-node.ts';
import { addProjectUser } from '../../members/project.ts';
import { projectUserRoles, projectUsers } from '../../schema/rights/membership.ts';
import type { SignInCandidate } from './app-sign-in.ts';

type OrganizationDecision =
  | 'denied'
  | 'choose'
  /** The organization requires its own identity provider. */
  | { readonly through: LiveConnection }
  | {
      readonly app: LiveApp;
      readonly candidate: SignInCandidate;
      /** The request with the decision, so that later steps decide the same. */
      readonly asked: AppRequest;
    };

/** The choices that a user has. */
interface SignInChoices {
  readonly organizations: readonly AppOrganization[];
  /** Whether they use the project directly, without being a member of its owner. */
  readonly withoutOrganization: boolean;
}

/** The organizations that the user can sign in for. */
export async function choicesOf(tx: Run['tx'], app: LiveApp, userId: string): Promise<SignInChoices> {
  const organizations = await organizationsOf(tx, app, userId);
  const isMember = organizations.some(({ grantId }) => grantId === null);
  return { organizations, withoutOrganization: !isMember && (await usesProjectDirectly(tx, app, userId)) };
}

/** Whether the user is a project user, or owns the account that owns the project. */
async function usesProjectDirectly(
  tx: Run['tx'],
  { tenantId, owner }: LiveApp,
  userId: string,
): Promise<boolean> {
  const [row] = await rowsOf<{ uses_directly: boolean }>(
    tx,
    sql`select exists (select 1 from project_users p where p.tenant_id = ${tenantId}::uuid and p.user_id = ${userId}::uuid)
      or exists (select 1 from accounts a where a.id = ${owner.id}::uuid and a.owner_id = ${userId}::uuid
        and a.deleted_at is null) as uses_directly`,
  );
  return row?.uses_directly ?? false;
}

/**
 * Decides which organization the candidate signs in for (openid §12): the one that the app names or that the user
 * chose, else the only one they have. A user who also uses the project without an organization can choose that too. An
 * unknown organization and a foreign one give the same result.
 */
export async function decideOrganization(
  { tx }: Pick<Run, 'tx'>,
  app: LiveApp,
  asked: AppRequest,
  { candidate, proof }: { readonly candidate: SignInCandidate; readonly proof: Proof },
): Promise<OrganizationDecision> {
  if (asked.toService) return { app, candidate, asked };
  // An id or slug; null if the user chose no organization; undefined if not decided yet.
  const named = asked.organization;
  if (candidate.member) {
    const { organizationId } = candidate.member.connection;
    const own = await organizationOfMember(tx, app, organizationId, candidate.user?.id ?? null);
    const isWanted = own !== undefined && (typeof named !== 'string' || [own.id, own.slug].includes(named));
    return isWanted ? forOrganization(app, asked, candidate, own) : 'denied';
  }
  const { user } = candidate;
  const enter = async (organization: AppOrganization): Promise<OrganizationDecision> => {
    const isBound = boundOrganization({ proof }) === organization.id;
    const through = user && !isBound && (await requiredConnection(tx, app, organization.id, user.id));
    return through ? { through } : forOrganization(app, asked, candidate, organization);
  };
  const choices = user && (await choicesOf(tx, app, user.id));
  const { organizations = [], withoutOrganization = false } = choices ?? {};
  if (typeof named === 'string') {
    const organization =
      organizations.find(({ id }) => id === named) ?? organizations.find(({ slug }) => slug === named);
    return organization ? enter(organization) : 'denied';
  }
  const [only] = organizations;
  // The page offers "no organization" only to people who also use the project directly. Otherwise a member of the owner
  // could bypass the owner's identity provider.
  if (named === null && only !== undefined && !withoutOrganization) return 'denied';
  if (named === null || only === undefined) {
    if (candidate.joins && !(app.allowSignUp && app.signUpRoleId !== null)) return 'denied';
    return { app, candidate, asked: { ...asked, organization: null } };
  }
  if (organizations.length > 1 || withoutOrganization) return 'choose';
  return enter(only);
}

const forOrganization = (
  app: LiveApp,
  asked: AppRequest,
  candidate: SignInCandidate,
  organization: AppOrganization,
): OrganizationDecision => ({
  app: appFor(app, organization),
  // A sign-in for an organization does not add the user to the project itself.
  candidate: { ...candidate, joins: false },
  asked: { ...asked, organization: organization.id },
});

/**
 * Gives a member without a role in the slice the default role of the grant. Returns false if they cannot get it: the
 * membership or the grant has ended in the meantime, the role was removed from the grant, or the grant allows no more
 * users.
 */
export async function admitToSlice(
  ctx: Run,
  app: LiveApp,
  { id: userId, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  const { sliceId, organization } = app;
  if (sliceId === null || organization === null) return true;
  const { tx } = ctx;
  // Serializes sign-ins of the customer, so that together they do not exceed the number of users.
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, sliceId)).for('no key update');
  const current = (await organizationsOf(tx, app, userId)).find(({ id }) => id === organization.id);
  if (!current || current.hasRole) return current !== undefined;
  const { defaultRoleId } = current;
  if (defaultRoleId === null) return false;
  const [role] = await tx
    .select({ id: roles.id, tenantId: roles.tenantId })
    .from(roles)
    .where(and(eq(roles.id, defaultRoleId), isNull(roles.deletedAt)))
    .for('share');
  if (!role) return false;
  const node = { id: sliceId, scope: app.scope };
  const by = { actor: userAsActor({ id: userId, name }), node };
  const joined = await addProjectUser(ctx, sliceId, { userId, roles: [role], by }, app.tenantId);
  if (!joined) {
    await tx
      .insert(projectUserRoles)
      .values({ tenantId: sliceId, userId, roleId: role.id, roleTenantId: role.tenantId });
    await tx
      .update(projectUsers)
      .set({ updatedAt: ctx.services.clock.now() })
      .where(and(eq(projectUsers.tenantId, sliceId), eq(projectUsers.userId, userId)));
    ctx.invalidate(`user:${userId}`);
    ctx.record({
      ...by,
      event: 'project.user_roles_changed',
      data: { id: userId, projectId: app.tenantId, userId, roleIds: [role.id] },
      target: { type: 'User', id: userId },
      changes: { roleIds: { from: [], to: [role.id] } },
    });
  }
  const { kind, id: ownerId } = app.owner;
  ctx.record({
    actor: by.actor,
    node: { id: app.tenantId, scope: { tenant: `${kind}Project`, id: `${ownerId}:${app.tenantId}` } },
    event: 'project_grant.user_changed',
    data: { id: sliceId, grantId: sliceId, organizationId: organization.id, userId, roleIds: [role.id] },
    target: { type: 'ProjectGrant', id: sliceId },
  });
  return true;
}
