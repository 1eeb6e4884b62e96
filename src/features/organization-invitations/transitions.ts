import { and, eq, isNull, lte } from 'drizzle-orm';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/one-time-token.ts';
import { selectionOf } from '../../db/columns.ts';
import { withoutRls } from '../../db/rls.ts';
import { visible } from '../../db/visible.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Reading, RowOf } from '../../kernel/entity.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { ownerOf } from '../identity/address.ts';
import { assertReachable } from '../identity/registration.ts';
import type { Run } from '../identity/sign-in.ts';
import { mayMail } from '../sign-in-protection/mail-limit.ts';
import { flushMails } from '../identity/verification.ts';
import {
  assertRecentForOwner,
  isMembership,
  rolesToGive,
  type MembershipRun,
  type RoleRef,
} from '../memberships/giving-roles.ts';
import { organizationMembers } from '../memberships/membership.ts';
import { organizations } from '../organizations/organization.ts';
import { roles } from '../roles/role.ts';
import { users } from '../users/user.ts';
import { invitationMail } from './invitation-mail.ts';
import { Invitation, invitations, invitationTokens } from './invitation.ts';

/**
 * An invitation as those see it who send it (model §3): pending from its creation until it is accepted, revoked, or
 * out of time. Each change locks the row first, so of two that race the second meets the state that the first left.
 * Accepting is in `by-token.ts`.
 */
export type InvitationRow = RowOf<typeof Invitation>;
type State = InvitationRow['status'];
type InvitingRun = Run & MembershipRun & { readonly db: ScopedDb };

const isToken = (invitationId: string) => eq(invitationTokens.invitationId, invitationId);

/** The invitation as of now, locked until commit. @throws NOT_FOUND */
export async function lockInvitation(tx: Executor, at: Reading, id: string) {
  const [row] = await tx
    .select(selectionOf(Invitation, at))
    .from(invitations)
    .where(and(eq(invitations.id, id), visible(Invitation, at.scope)))
    .for('update');
  if (!row) throw fail('NOT_FOUND');
  return row as unknown as InvitationRow & { readonly roleTenantId: string };
}

async function lockIn({ tx, scope, services }: InvitingRun, id: string, allowed: readonly State[]) {
  const row = await lockInvitation(tx, { scope, now: services.clock.now() }, id);
  if (!allowed.includes(row.status)) throw fail('INVALID_STATE', { params: { state: row.status } });
  return row;
}

/** @throws NOT_FOUND, PRIVILEGE_ESCALATION, STEP_UP_REQUIRED, CONFLICT, VALIDATION_ERROR */
export async function invite(
  ctx: InvitingRun,
  { email, roleId }: { readonly email: string; readonly roleId: string },
): Promise<InvitationRow> {
  const { db, services } = ctx;
  assertReachable(services, email, 'email');
  const [role] = (await rolesToGive(ctx, [roleId])) as [RoleRef];
  await assertInvitable(ctx, email);
  const created = await db.insert(Invitation, {
    email,
    roleId: role.id,
    roleTenantId: role.tenantId,
    invitedBy: callerOf(ctx).userId,
    ...fromNow(ctx),
  });
  await send(ctx, created);
  return created;
}

/** The same offer with a new link; the link before is dead. @throws NOT_FOUND, INVALID_STATE */
export async function resend(ctx: InvitingRun, id: string): Promise<InvitationRow> {
  await lockIn(ctx, id, ['pending']);
  const { row } = await ctx.db.update(Invitation, id, { lastSentAt: ctx.services.clock.now() });
  await send(ctx, row);
  return row;
}

/**
 * Sends the invitation again, with a new link and the full time. The caller needs the same rights as for a new
 * invitation, also to offer ownership.
 * @throws NOT_FOUND, INVALID_STATE, STEP_UP_REQUIRED, CONFLICT
 */
export async function renew(ctx: InvitingRun, id: string): Promise<InvitationRow> {
  const { email, roleId, status } = await lockIn(ctx, id, ['pending', 'expired']);
  assertRecentForOwner(ctx, [roleId]);
  // Only pending invitations keep their role from being deleted; it must not go between this look and the commit.
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
  const { row } = await ctx.db.update(Invitation, id, { status: 'pending', ...fromNow(ctx) });
  await send(ctx, row);
  return row;
}

/** Takes the offer back: its link leads nowhere from now on. @throws NOT_FOUND, INVALID_STATE */
export async function revoke(ctx: InvitingRun, id: string): Promise<InvitationRow> {
  await lockIn(ctx, id, ['pending', 'expired']);
  const revokedAt = ctx.services.clock.now();
  const { row } = await ctx.db.update(Invitation, id, { status: 'revoked', revokedAt });
  await ctx.tx.delete(invitationTokens).where(isToken(id));
  return row;
}

function fromNow({ services: { clock, config } }: InvitingRun) {
  const now = clock.now();
  return {
    lastSentAt: now,
    expiresAt: new Date(now.getTime() + config.auth.invitationDays * 86_400_000),
  };
}

/**
 * A member needs no invitation. Another pending one is for the unique index to refuse; what has run out meanwhile is
 * written down as expired, so that it is not in the way. @throws CONFLICT
 */
async function assertInvitable({ tx, scope, services }: InvitingRun, email: string): Promise<void> {
  const owner = await withoutRls(tx, () => ownerOf(tx, email));
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
 * Queues the mail with a new link. When the address may get no more mails the answer is as if one was sent, and the
 * link that it got before goes on working. Counted here and not in `prepare`, because calls that are refused send none:
 * of twenty that invite somebody at once, the one that wins must find a mail left.
 */
async function send(ctx: InvitingRun, invitation: InvitationRow): Promise<void> {
  const { tx, services, call } = ctx;
  const { id, email, expiresAt } = invitation;
  if (!(await mayMail(services, 'invitation', email))) return;
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
    .select({ organization: organizations.name, role: roles.name, inviter: users.name })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.tenantId))
    .innerJoin(roles, eq(roles.id, invitations.roleId))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(eq(invitations.id, id));
  if (!names) throw new Error('an invitation without organization, role or inviter');
  await withoutRls(tx, async () => {
    const language = (await ownerOf(tx, email))?.locale ?? call.language;
    const mail = invitationMail(services.config, { to: email, language, token, expiresAt, ...names });
    await services.mail.queue(tx, mail);
  });
  flushMails(ctx);
}
