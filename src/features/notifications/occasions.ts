import { and, asc, count, eq, gt, inArray, isNull, lt, ne, or, sql } from 'drizzle-orm';
import { ORGANIZATION_OWNER } from '../../access/built-in.ts';
import { networkOf } from '../../access/cidrs.ts';
import type { RelayedEvent } from '../../events/relay.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { apiKeys } from '../api-keys/api-key.ts';
import { ownerOf } from '../identity/address.ts';
import { sessions } from '../me/session.ts';
import { isMembership } from '../memberships/giving-roles.ts';
import { organizationMembers, projectUsers } from '../memberships/membership.ts';
import { invitations } from '../organization-invitations/invitation.ts';
import { organizations } from '../organizations/organization.ts';
import { projects } from '../projects/project.ts';
import { roles } from '../roles/role.ts';
import { users } from '../users/user.ts';
import { notifications } from './notification.ts';
import type { ToldType, Words } from './texts.ts';
import { webhookDisabled, webhookFailing } from './webhook-occasions.ts';

/**
 * What an event is to whom: which type of notification, for which users, and the words of its text. Everything is read
 * when the event is relayed, a moment after it happened: whoever has left by then is told no more of a place than that
 * he left it, and a place that is gone has nothing to tell.
 */
export type Occasion = {
  readonly [T in ToldType]: {
    readonly type: T;
    readonly userIds: readonly string[];
    readonly words: Words[T];
    readonly target: { readonly type: string; readonly id: string };
    /** The user whose name is among the words. */
    readonly namedUserId?: string;
  };
}[ToldType];

export interface At {
  readonly tx: Executor;
  readonly event: RelayedEvent;
  readonly now: Date;
}
export type Told = Promise<Occasion | undefined>;

const DAY_MS = 86_400_000;
/** Whoever can name an address can invite it, as often as he likes and by the names that he likes. */
const INVITATIONS_A_DAY = 20;

/** A member of the event's data; what was erased meanwhile is empty, and leads nowhere. */
const idIn = ({ body }: RelayedEvent, name: string): string => String(body.data[name] ?? body.data['id']);

async function organizationOf({ tx, event }: At): Promise<string | undefined> {
  const [found] = await tx
    .select({ name: organizations.name })
    .from(organizations)
    .where(and(eq(organizations.id, event.tenantId), isNull(organizations.deletedAt)));
  return found?.name;
}

async function projectOf({ tx, event }: At): Promise<string | undefined> {
  const [found] = await tx
    .select({ name: projects.name })
    .from(projects)
    .where(and(eq(projects.id, event.tenantId), isNull(projects.deletedAt)));
  return found?.name;
}

async function rolesOf(tx: Executor, ids: readonly string[]): Promise<string> {
  if (ids.length === 0) return '';
  const found = await tx
    .select({ name: roles.name })
    .from(roles)
    .where(inArray(roles.id, [...ids]))
    .orderBy(asc(roles.name));
  return found.map(({ name }) => `“${name}”`).join(', ');
}

async function invited(at: At): Told {
  const { tx, event, now } = at;
  const id = idIn(event, 'id');
  const [found] = await tx
    .select({
      email: invitations.email,
      inviterId: users.id,
      words: { organization: organizations.name, role: roles.name, inviter: users.name },
    })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.tenantId))
    .innerJoin(roles, eq(roles.id, invitations.roleId))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(eq(invitations.id, id), eq(invitations.status, 'pending'), isNull(organizations.deletedAt)));
  const invitee = found && (await ownerOf(tx, found.email));
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
  const { words, inviterId: namedUserId } = found;
  return { type: 'invitation_received', userIds: [invitee.id], words, target, namedUserId };
}

async function joined(at: At): Told {
  const { tx, event } = at;
  const userId = idIn(event, 'userId');
  const organization = await organizationOf(at);
  const [member] = await tx
    .select({ person: users.name, role: roles.name })
    .from(organizationMembers)
    .innerJoin(users, eq(users.id, organizationMembers.userId))
    .innerJoin(roles, eq(roles.id, organizationMembers.roleId))
    .where(isMembership(organizationMembers, event.tenantId, userId));
  if (organization === undefined || !member) return undefined;
  const owners = await tx
    .select({ id: organizationMembers.userId })
    .from(organizationMembers)
    .where(
      and(
        eq(organizationMembers.tenantId, event.tenantId),
        eq(organizationMembers.roleId, ORGANIZATION_OWNER),
        ne(organizationMembers.userId, userId),
      ),
    );
  return {
    type: 'member_joined',
    userIds: owners.map(({ id }) => id),
    words: { organization, ...member },
    target: { type: 'OrganizationMember', id: userId },
    namedUserId: userId,
  };
}

/** In an organization or a project, of whoever is still in it. */
const rolesChanged =
  (
    table: typeof organizationMembers | typeof projectUsers,
    nameOf: (at: At) => Promise<string | undefined>,
    type: 'OrganizationMember' | 'User',
  ) =>
  async (at: At): Told => {
    const { tx, event } = at;
    const userId = idIn(event, 'userId');
    const { roleId, roleIds } = event.body.data as { roleId?: string; roleIds?: readonly string[] };
    const [member] = await tx
      .select({ id: table.userId })
      .from(table)
      .where(isMembership(table, event.tenantId, userId));
    const place = await nameOf(at);
    if (!member || place === undefined) return undefined;
    const words = { place, roles: await rolesOf(tx, roleIds ?? (roleId === undefined ? [] : [roleId])) };
    return { type: 'role_changed', userIds: [userId], words, target: { type, id: userId } };
  };

async function removed(at: At): Told {
  const organization = await organizationOf(at);
  if (organization === undefined) return undefined;
  return {
    type: 'removed_from_organization',
    userIds: [idIn(at.event, 'userId')],
    words: { organization },
    target: { type: 'Organization', id: at.event.tenantId },
  };
}

async function keyCreated(at: At): Told {
  const { event } = at;
  const project = await projectOf(at);
  if (project === undefined) return undefined;
  const { name } = event.body.data;
  return {
    type: 'api_key_created',
    userIds: [idIn(event, 'userId')],
    words: { project, key: typeof name === 'string' ? name : '' },
    target: { type: 'ApiKey', id: idIn(event, 'id') },
  };
}

/** The creator, if the project is still his business: as owner of its account, or as who belongs to it. */
async function keyExpiring(at: At): Told {
  const { tx, event } = at;
  const id = idIn(event, 'id');
  const [found] = await tx
    .select({
      key: apiKeys.name,
      expiresAt: apiKeys.expiresAt,
      userId: apiKeys.createdBy,
      project: projects.name,
    })
    .from(apiKeys)
    .innerJoin(projects, eq(projects.id, apiKeys.tenantId))
    .where(
      and(
        eq(apiKeys.id, id),
        isNull(apiKeys.deletedAt),
        isNull(apiKeys.revokedAt),
        isNull(projects.deletedAt),
        sql`(exists (select 1 from accounts a where a.id = ${projects.ownerId} and a.owner_id = ${apiKeys.createdBy})
          or exists (select 1 from organization_members m
            where m.tenant_id = ${projects.ownerId} and m.user_id = ${apiKeys.createdBy})
          or exists (select 1 from project_users u
            where u.tenant_id = ${projects.id} and u.user_id = ${apiKeys.createdBy}))`,
      ),
    );
  if (!found?.expiresAt) return undefined;
  const { key, expiresAt, userId, project } = found;
  const target = { type: 'ApiKey', id };
  return {
    type: 'api_key_expiring',
    userIds: [userId],
    words: { project, key: key ?? '', expiresAt },
    target,
  };
}

/**
 * A network is new when no session of the last 30 days was opened from it. Those of apps tell nothing: it is often the
 * app's server that opens them. The first sign-in of a new user is no news
 * to him; that of one who has not come for so long that his sessions are forgotten is.
 */
async function signedIn({ tx, event }: At): Told {
  const id = idIn(event, 'id');
  const [opened] = await tx
    .select({ session: sessions, since: users.createdAt })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, id));
  if (!opened?.session.ipAddress || opened.session.kind === 'projectApp') return undefined;
  const { userId, ipAddress, userAgent, authenticatedAt, createdAt } = opened.session;
  const earlier = and(
    eq(sessions.userId, userId),
    ne(sessions.kind, 'projectApp'),
    or(lt(sessions.createdAt, createdAt), and(eq(sessions.createdAt, createdAt), lt(sessions.id, id))),
  );
  const month = new Date(authenticatedAt.getTime() - 30 * DAY_MS);
  const addresses = await tx
    .selectDistinct({ ipAddress: sessions.ipAddress })
    .from(sessions)
    .where(and(earlier, gt(sessions.lastUsedAt, month)));
  const network = networkOf(ipAddress);
  if (addresses.some((one) => one.ipAddress !== null && networkOf(one.ipAddress) === network)) {
    return undefined;
  }
  // Both are the database's times.
  if (opened.since.getTime() > createdAt.getTime() - 30 * DAY_MS) {
    const [any] = await tx.select({ id: sessions.id }).from(sessions).where(earlier).limit(1);
    if (!any) return undefined;
  }
  const device = [...(userAgent ?? '')].slice(0, 200).join('');
  const target = { type: 'Session', id };
  return { type: 'new_sign_in', userIds: [userId], words: { address: ipAddress, device }, target };
}

async function tokenReused({ tx, event }: At): Told {
  const id = idIn(event, 'id');
  const [session] = await tx.select({ userId: sessions.userId }).from(sessions).where(eq(sessions.id, id));
  if (!session) return undefined;
  return { type: 'session_reuse', userIds: [session.userId], words: {}, target: { type: 'Session', id } };
}

const ofUser =
  (type: 'password_changed' | 'mfa_changed') =>
  async ({ event }: At): Told => {
    const id = idIn(event, 'id');
    return { type, userIds: [id], words: {}, target: { type: 'User', id } };
  };

async function methodsChanged({ event }: At): Told {
  const id = idIn(event, 'id');
  const { change, provider, label } = event.body.data as Partial<Words['sign_in_methods_changed']>;
  // The user was erased meanwhile, and with them the data of the event.
  if (!change || !provider || label === undefined) return undefined;
  const words = { change, provider, label };
  return { type: 'sign_in_methods_changed', userIds: [id], words, target: { type: 'User', id } };
}

/** By event. */
export const occasions: ReadonlyMap<string, (at: At) => Told> = new Map([
  ['invitation.created', invited],
  ['organization.member_added', joined],
  [
    'organization.member_role_changed',
    rolesChanged(organizationMembers, organizationOf, 'OrganizationMember'),
  ],
  ['project.user_roles_changed', rolesChanged(projectUsers, projectOf, 'User')],
  ['organization.member_removed', removed],
  ['api_key.created', keyCreated],
  ['api_key.expiring', keyExpiring],
  ['webhook.failing', webhookFailing],
  ['webhook.disabled', webhookDisabled],
  ['session.created', signedIn],
  ['session.reuse_detected', tokenReused],
  ['user.password_changed', ofUser('password_changed')],
  ['user.sign_in_methods_changed', methodsChanged],
  ['user.mfa_changed', ofUser('mfa_changed')],
]);
