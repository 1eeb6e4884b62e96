import { and, asc, count, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { apiKeys } from '../../schema/machines/api-key.ts';
import { findAddressOwner } from '../../people/address.ts';
import { isMembership } from '../../members/role-assignment.ts';
import { organizationMembers, projectUsers } from '../../schema/rights/membership.ts';
import { invitations, inviterName } from '../../schema/tenants/organization-invitation.ts';
import { organizationDomains } from '../../schema/tenants/organization-domain.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { projectGrants } from '../../schema/tenants/project-grant.ts';
import { projects } from '../../schema/tenants/project.ts';
import { projectNodeOf } from '../../members/slices.ts';
import { roles } from '../../schema/rights/role.ts';
import { users } from '../../schema/people/user.ts';
import { notifications } from '../../schema/people/notification.ts';
import { idIn, type DraftResult, type RuleInput } from './notification-draft.ts';
import { onUserChanged, onMethodsChanged, onSignedIn, onTokenReused } from './security-rules.ts';
import { onEntered, onImpersonated, onOperatorAct, onOperatorAdded, ownersOf } from './operator-rules.ts';
import { onWebhookDisabled, onWebhookFailing } from './webhook-rules.ts';

const DAY_MS = 86_400_000;
/**
 * A limit for each recipient, because any member who may invite can address any user, at any rate and with any names.
 */
const INVITATIONS_A_DAY = 20;

async function organizationOf({ tx, event }: RuleInput): Promise<string | undefined> {
  const [row] = await tx
    .select({ name: organizations.name })
    .from(organizations)
    .where(and(eq(organizations.id, event.tenantId), isNull(organizations.deletedAt)));
  return row?.name;
}

async function projectOf({ tx, event }: RuleInput): Promise<string | undefined> {
  const place = await projectNodeOf(tx, event.tenantId);
  return place?.project.deletedAt === null ? place.project.name : undefined;
}

async function rolesOf(tx: Executor, ids: readonly string[]): Promise<string> {
  if (ids.length === 0) return '';
  const rows = await tx
    .select({ name: roles.name })
    .from(roles)
    .where(inArray(roles.id, [...ids]))
    .orderBy(asc(roles.name));
  return rows.map(({ name }) => `“${name}”`).join(', ');
}

async function onInvited(input: RuleInput): DraftResult {
  const { tx, event, now } = input;
  const id = idIn(event, 'id');
  const [row] = await tx
    .select({
      email: invitations.email,
      inviterId: users.id,
      words: { organization: organizations.name, role: roles.name, inviter: inviterName() },
    })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.tenantId))
    .innerJoin(roles, eq(roles.id, invitations.roleId))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(eq(invitations.id, id), eq(invitations.status, 'pending'), isNull(organizations.deletedAt)));
  const invitee = row && (await findAddressOwner(tx, row.email));
  if (!invitee) return undefined;
  const [before] = await tx
    .select({ count: count() })
    .from(notifications)
    .where(
      and(
        eq(notifications.userId, invitee.id),
        gt(notifications.createdAt, new Date(now.getTime() - DAY_MS)),
        eq(notifications.type, 'invitation_received'),
      ),
    );
  if ((before?.count ?? 0) >= INVITATIONS_A_DAY) return undefined;
  const target = { type: 'OrganizationInvitation', id };
  const { words, inviterId: namedUserId } = row;
  return { type: 'invitation_received', userIds: [invitee.id], words, target, namedUserId };
}

async function onJoined(input: RuleInput): DraftResult {
  const { tx, event } = input;
  const userId = idIn(event, 'userId');
  const organization = await organizationOf(input);
  const [member] = await tx
    .select({ person: users.name, role: roles.name })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .innerJoin(roles, eq(roles.id, organizationMembers.roleId))
    .where(isMembership(organizationMembers, event.tenantId, userId));
  if (organization === undefined || !member) return undefined;
  return {
    type: 'member_joined',
    userIds: (await ownersOf(tx, event.tenantId)).filter((id) => id !== userId),
    words: { organization, ...member },
    target: { type: 'OrganizationMember', id: userId },
    namedUserId: userId,
  };
}

/** Notifies a user of a changed role in an organization or a project, if the user still belongs to it. */
const onRolesChanged =
  (
    table: typeof organizationMembers | typeof projectUsers,
    nameOf: (input: RuleInput) => Promise<string | undefined>,
    type: 'OrganizationMember' | 'User',
  ) =>
  async (input: RuleInput): DraftResult => {
    const { tx, event } = input;
    const userId = idIn(event, 'userId');
    const { roleId, roleIds } = event.body.data as { roleId?: string; roleIds?: readonly string[] };
    const [member] = await tx
      .select({ id: table.userId })
      .from(table)
      .where(isMembership(table, event.tenantId, userId));
    const place = await nameOf(input);
    if (!member || place === undefined) return undefined;
    const words = { place, roles: await rolesOf(tx, roleIds ?? (roleId === undefined ? [] : [roleId])) };
    return { type: 'role_changed', userIds: [userId], words, target: { type, id: userId } };
  };

async function onRemoved(input: RuleInput): DraftResult {
  const organization = await organizationOf(input);
  if (organization === undefined) return undefined;
  return {
    type: 'removed_from_organization',
    userIds: [idIn(input.event, 'userId')],
    words: { organization },
    target: { type: 'Organization', id: input.event.tenantId },
  };
}

async function onKeyCreated(input: RuleInput): DraftResult {
  const { event } = input;
  const project = await projectOf(input);
  if (project === undefined) return undefined;
  const { name } = event.body.data;
  return {
    type: 'api_key_created',
    userIds: [idIn(event, 'userId')],
    words: { project, key: typeof name === 'string' ? name : '' },
    target: { type: 'ApiKey', id: idIn(event, 'id') },
  };
}

/** Notifies the creator of the key if they still have access to its tenant: as owner of the account, or as a member. */
async function onKeyExpiring(input: RuleInput): DraftResult {
  const { tx, event } = input;
  const id = idIn(event, 'id');
  // For a key of a slice this is the project, not the slice.
  const tenantId = sql`coalesce(${projectGrants.tenantId}, ${apiKeys.tenantId})`;
  const ownerId = sql`coalesce(${projects.ownerId}, ${apiKeys.tenantId})`;
  const [row] = await tx
    .select({
      key: apiKeys.name,
      expiresAt: apiKeys.expiresAt,
      userId: apiKeys.createdBy,
      project: projects.name,
      organization: organizations.name,
    })
    .from(apiKeys)
    .leftJoin(projectGrants, eq(projectGrants.id, apiKeys.tenantId))
    .innerJoin(nodes, and(eq(nodes.id, tenantId), isNull(nodes.deletedAt)))
    .leftJoin(projects, eq(projects.id, tenantId))
    .leftJoin(organizations, eq(organizations.id, tenantId))
    .where(
      and(
        eq(apiKeys.id, id),
        isNull(apiKeys.deletedAt),
        isNull(apiKeys.revokedAt),
        // The creator has access as owner of the account or as a member; for a key of a slice, as a member of the
        // customer.
        sql`(${projectGrants.id} is null and exists (select 1 from accounts a where a.id = ${ownerId} and a.owner_id = ${apiKeys.createdBy})
          or exists (select 1 from organization_members m
            where m.tenant_id = coalesce(${projectGrants.organizationId}, ${ownerId}) and m.user_id = ${apiKeys.createdBy})
          or exists (select 1 from project_users u
            where u.tenant_id = ${apiKeys.tenantId} and u.user_id = ${apiKeys.createdBy}))`,
      ),
    );
  if (!row?.expiresAt) return undefined;
  const { key, expiresAt, userId, project, organization } = row;
  return {
    type: 'api_key_expiring',
    userIds: [userId],
    words: { project, organization, key: key ?? '', expiresAt },
    target: { type: 'ApiKey', id },
  };
}

const grantChanges: ReadonlyMap<string, 'granted' | 'changed' | 'suspended' | 'resumed' | 'revoked'> =
  new Map([
    ['project_grant.created', 'granted'],
    ['project_grant.accepted', 'granted'],
    ['project_grant.updated', 'changed'],
    ['project_grant.suspended', 'suspended'],
    ['project_grant.resumed', 'resumed'],
    ['project_grant.revoked', 'revoked'],
  ]);

/**
 * Notifies the owners of a customer. The same event in the log of the project has no recipients, because that log does
 * not belong to an organization.
 */
async function onGrantChanged(input: RuleInput): DraftResult {
  const { tx, event } = input;
  const organization = await organizationOf(input);
  const change = grantChanges.get(event.type);
  if (organization === undefined || change === undefined) return undefined;
  const id = idIn(event, 'id');
  const [grant] = await tx
    .select({ project: projects.name })
    .from(projectGrants)
    .innerJoin(projects, eq(projects.id, projectGrants.tenantId))
    .where(
      and(
        eq(projectGrants.id, id),
        eq(projectGrants.organizationId, event.tenantId),
        isNull(projects.deletedAt),
      ),
    );
  if (!grant) return undefined;
  return {
    type: 'project_grant_changed',
    userIds: await ownersOf(tx, event.tenantId),
    words: { organization, project: grant.project, change },
    target: { type: 'ProjectGrant', id },
  };
}

async function onDomainLapsed(input: RuleInput): DraftResult {
  const { tx, event } = input;
  const id = idIn(event, 'id');
  const organization = await organizationOf(input);
  const [row] = await tx
    .select({ domain: organizationDomains.domain })
    .from(organizationDomains)
    .where(
      and(
        eq(organizationDomains.id, id),
        eq(organizationDomains.status, 'lapsed'),
        isNull(organizationDomains.deletedAt),
      ),
    );
  if (organization === undefined || !row) return undefined;
  return {
    type: 'domain_lapsed',
    userIds: await ownersOf(tx, event.tenantId),
    words: { organization, domain: row.domain },
    target: { type: 'OrganizationDomain', id },
  };
}

async function onConnectionBypassed(input: RuleInput): DraftResult {
  const { tx, event } = input;
  const organization = await organizationOf(input);
  const userId = idIn(event, 'userId');
  const [owner] = await tx.select({ name: users.name }).from(users).where(eq(users.id, userId));
  if (organization === undefined || !owner) return undefined;
  return {
    type: 'connection_bypassed',
    userIds: await ownersOf(tx, event.tenantId),
    words: { organization, owner: owner.name },
    target: { type: 'User', id: userId },
  };
}

/** The rules by event type. */
export const notificationRules: ReadonlyMap<string, (input: RuleInput) => DraftResult> = new Map([
  ['invitation.created', onInvited],
  ...[...grantChanges.keys()].map((type) => [type, onGrantChanged] as const),
  ['organization_domain.lapsed', onDomainLapsed],
  ['organization_connection.bypassed', onConnectionBypassed],
  ['organization.member_added', onJoined],
  [
    'organization.member_role_changed',
    onRolesChanged(organizationMembers, organizationOf, 'OrganizationMember'),
  ],
  ['project.user_roles_changed', onRolesChanged(projectUsers, projectOf, 'User')],
  ['organization.member_removed', onRemoved],
  ['api_key.created', onKeyCreated],
  ['api_key.expiring', onKeyExpiring],
  ['webhook.failing', onWebhookFailing],
  ['webhook.disabled', onWebhookDisabled],
  ['session.created', onSignedIn],
  ['session.reuse_detected', onTokenReused],
  ['user.password_changed', onUserChanged('password_changed')],
  ['user.sign_in_methods_changed', onMethodsChanged],
  ['user.mfa_changed', onUserChanged('mfa_changed')],
  ['operator.added', onOperatorAdded],
  ['operator.acted', onOperatorAct],
  ['impersonation.started', onImpersonated],
  ['impersonation.entered', onEntered],
]);
