import { and, eq, isNull, lte } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { selectionOf } from '../../db/query/entity-columns.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { visible } from '../../db/query/visible-rows.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Run } from '../../services.ts';
import type { ReadContext, RowOf } from '../../kernel/entity.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { findAddressOwner } from '../../people/address.ts';
import { assertReachable } from '../../sign-in/addresses/registration.ts';
import { consumeMailQuota } from '../../sign-in/protection/mail-limit.ts';
import { flushMails } from '../../people/flush-mails.ts';
import {
  assertNoKeyForOwner,
  assertRecentForOwner,
  isMembership,
  rolesToAssign,
  type MembershipRun,
  type RoleRef,
} from '../../members/role-assignment.ts';
import { organizationMembers } from '../../schema/rights/membership.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { roles } from '../../schema/rights/role.ts';
import { users } from '../../schema/people/user.ts';
import { assertCanAssignIn, type InvitedGrant } from './invited-grants.ts';
import { invitationMail } from './invitation-mail.ts';
import {
  Invitation,
  invitations,
  invitationTokens,
  inviterName,
} from '../../schema/tenants/organization-invitation.ts';

/*
 * State transitions of an invitation by its senders (model §3): it is pending until it is accepted, revoked or expired.
 * Each transition locks the row first, so the second of two concurrent ones reads the state that the first has set.
 * Acceptance is in `by-token.ts`.
 */

export type InvitationRow = RowOf<typeof Invitation>;
type State = InvitationRow['status'];
type InvitingRun = Run & MembershipRun & { readonly db: ScopedDb };

const isTokenOf = (invitationId: string) => eq(invitationTokens.invitationId, invitationId);

/** The invitation, locked until the commit. @throws NOT_FOUND */
export async function lockInvitation(tx: Executor, at: ReadContext, id: string) {
  const [row] = await tx
    .select(selectionOf(Invitation, at))
    .from(invitations)
    .where(and(eq(invitations.id, id), visible(Invitation, at.scope)))
    .for('update');
  if (!row) throw fail('NOT_FOUND');
  return row as InvitationRow & { readonly roleTenantId: string };
}

async function lockInState({ tx, scope, services }: InvitingRun, id: string, allowed: readonly State[]) {
  const row = await lockInvitation(tx, { scope, now: services.clock.now() }, id);
  if (!allowed.includes(row.status)) throw fail('INVALID_STATE', { params: { state: row.status } });
  return row;
}

/**
 * Creates an invitation and mails its link.
 * @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, CONFLICT, VALIDATION_ERROR
 */
export async function invite(
  ctx: InvitingRun,
  input: {
    readonly email: string;
    readonly roleId: string;
    readonly grants?: readonly InvitedGrant[] | undefined;
  },
): Promise<InvitationRow> {
  const { db, services } = ctx;
  const { email, roleId, grants = [] } = input;
  assertReachable(services, email, 'email');
  const [role] = (await rolesToAssign(ctx, [roleId])) as [RoleRef];
  await assertCanAssignIn(ctx, grants);
  await assertInvitable(ctx, email);
  const created = await db.insert(Invitation, {
    email,
    roleId: role.id,
    roleTenantId: role.tenantId,
    invitedBy: callerOf(ctx).userId,
    grants: grants.map(({ grantId, roleIds }) => ({ grantId, roleIds: [...new Set(roleIds)].sort() })),
    ...newPeriod(ctx),
  });
  await sendLink(ctx, created);
  return created;
}

/**
 * Mails a new link, which replaces the earlier one. The expiry of the invitation stays the same.
 * @throws NOT_FOUND, INVALID_STATE
 */
export async function resend(ctx: InvitingRun, id: string): Promise<InvitationRow> {
  const { roleId } = await lockInState(ctx, id, ['pending']);
  assertNoKeyForOwner(ctx, [roleId]);
  const { row } = await ctx.db.update(Invitation, id, { lastSentAt: ctx.services.clock.now() });
  await sendLink(ctx, row);
  return row;
}

/**
 * Sends the invitation again, with a new link and the full period. To offer ownership again, the caller needs a recent
 * sign-in, as for a new invitation.
 * @throws NOT_FOUND, INVALID_STATE, STEP_UP_REQUIRED, CONFLICT
 */
export async function renew(ctx: InvitingRun, id: string): Promise<InvitationRow> {
  const { email, roleId, status } = await lockInState(ctx, id, ['pending', 'expired']);
  assertRecentForOwner(ctx, [roleId]);
  // An expired invitation does not keep its role from being deleted. The share lock keeps the role until the commit.
  const [role] = await ctx.tx
    .select({ id: roles.id })
    .from(roles)
    .where(and(eq(roles.id, roleId), isNull(roles.deletedAt)))
    .for('share');
  if (!role) {
    const fix = 'The role of this invitation was deleted: revoke it, and invite with another role.';
    throw fail('INVALID_STATE', { params: { state: status }, fix });
  }
  await assertInvitable(ctx, email);
  const { row } = await ctx.db.update(Invitation, id, { status: 'pending', ...newPeriod(ctx) });
  await sendLink(ctx, row);
  return row;
}

/** Revokes the invitation; its link is invalid from now on. @throws NOT_FOUND, INVALID_STATE */
export async function revoke(ctx: InvitingRun, id: string): Promise<InvitationRow> {
  const { roleId } = await lockInState(ctx, id, ['pending', 'expired']);
  assertNoKeyForOwner(ctx, [roleId]);
  const revokedAt = ctx.services.clock.now();
  const { row } = await ctx.db.update(Invitation, id, { status: 'revoked', revokedAt });
  await ctx.tx.delete(invitationTokens).where(isTokenOf(id));
  return row;
}

function newPeriod({ services: { clock, config } }: InvitingRun) {
  const now = clock.now();
  return {
    lastSentAt: now,
    expiresAt: new Date(now.getTime() + config.auth.invitationDays * 86_400_000),
  };
}

/**
 * Refuses the address of a member. The unique index refuses a second pending invitation, so invitations that have
 * expired are set to `expired` here first.
 * @throws CONFLICT
 */
async function assertInvitable({ tx, scope, services }: InvitingRun, email: string): Promise<void> {
  const owner = await withoutRls(tx, () => findAddressOwner(tx, email));
  if (owner) {
    const [member] = await tx
      .select({ id: organizationMembers.userId })
      .from(organizationMembers)
      .where(isMembership(organizationMembers, scope.nodeId, owner.id));
    if (member) throw fail('CONFLICT', { details: [{ path: 'email', code: 'taken' }] });
  }
  const now = services.clock.now();
  await tx
    .update(invitations)
    .set({ status: 'expired', updatedAt: now })
    .where(
      and(
        eq(invitations.email, email),
        eq(invitations.status, 'pending'),
        lte(invitations.expiresAt, now),
        visible(Invitation, scope),
      ),
    );
}

/**
 * Queues the mail with a new link. When the address has reached its mail limit, no mail is sent, the response is the
 * same, and the earlier link stays valid. Mails are counted here and not in `prepare`, because refused calls send none:
 * of concurrent calls for one address, the one that succeeds must not find the limit used up by the others.
 */
async function sendLink(ctx: InvitingRun, invitation: InvitationRow): Promise<void> {
  const { tx, services, call } = ctx;
  const { id, email, expiresAt } = invitation;
  if (!(await consumeMailQuota(services, 'invitation', email))) return;
  const token = newOneTimeToken();
  const hash = hashOneTimeToken(token);
  await tx
    .insert(invitationTokens)
    .values({ hash, invitationId: id })
    .onConflictDoUpdate({
      target: invitationTokens.invitationId,
      set: { hash, createdAt: services.clock.now() },
    });
  const [names] = await tx
    .select({
      ...{ organization: organizations.name, role: roles.name, inviter: inviterName() },
      brand: { colour: organizations.primaryColor, logoUrl: organizations.logoUrl },
    })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.tenantId))
    .innerJoin(roles, eq(roles.id, invitations.roleId))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(eq(invitations.id, id));
  if (!names) throw new Error('an invitation without organization, role or inviter');
  await withoutRls(tx, async () => {
    const language = (await findAddressOwner(tx, email))?.locale ?? call.language;
    const mail = invitationMail(services.config, { to: email, language, token, expiresAt, ...names });
    await services.mail.queue(tx, mail);
  });
  flushMails(ctx);
}
