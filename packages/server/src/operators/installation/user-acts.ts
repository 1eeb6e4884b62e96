import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { INSTALLATION_OPERATOR } from '../../access/installation-roles.ts';
import { flushMails } from '../../people/flush-mails.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import { userData } from '../../sessions/sign-in.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { operatorActor, recordAct, type ActRun } from '../record-act.ts';
import { isOperator } from '../../people/operators.ts';
import { mailResetLinkTo } from '../../sign-in/passwords/reset-link.ts';
import { removeFactors, RESET_DELAY_MS } from '../../sign-in/second-factor/reset.ts';
import { endSessions } from '../../sessions/live-sessions.ts';
import { endProofs } from '../../sessions/pending-proofs.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import { mutation } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { factorResets } from '../../schema/sign-in/mfa-factor.ts';
import { isEnrolled } from '../../people/enrolment.ts';
import { hasPasskey } from '../../sign-in/webauthn/has-passkey.ts';
import { users } from '../../schema/people/user.ts';
import { installation, reason } from './inputs.ts';
import { suspendedMail } from './suspended-mail.ts';
import { InstallationUser } from '../../schema/operators/installation-user.ts';

/** Settings of all operations on a user. None changes a role. Those that change the status invalidate `user:<id>`. */
const act = {
  ...installation,
  stepUp: true,
  permissionChange: 'none',
  input: { scope: Scope, id: uuid, reason },
  target: InstallationUser,
} as const;

export const suspendUser = mutation({
  ...act,
  rest: 'POST /installation/users/:id/suspend',
  access: 'InstallationUser:Suspend',
  summary: 'Suspend a user: they cannot sign in, and their sessions, app tokens and own keys are refused',
  description:
    'Effective at once. Memberships stay. An operator must be removed first. The user gets a mail, and other owners of their organizations a notification, with the reason.',
  output: InstallationUser.schema,
  codes: ['INVALID_STATE', 'NOT_FOUND'],
  run: async (ctx) => {
    const { tx, services, input, db } = ctx;
    const user = await lockTarget(ctx, input.id);
    if (user.status === 'suspended') throw fail('INVALID_STATE', { params: { state: 'suspended' } });
    if (await isOperator(tx, services.config.operators, user.id)) {
      throw fail('INVALID_STATE', {
        params: { state: 'operator' },
        fix: 'Remove the operator at DELETE /api/installation/operators/:userId first, or take their address from OPERATORS.',
      });
    }
    const now = services.clock.now();
    const change = {
      status: 'suspended',
      suspendedAt: now,
      statusBefore: user.status,
      updatedAt: now,
    } as const;
    await tx.update(users).set(change).where(eq(users.id, user.id));
    await endProofs(tx, user.id);
    ctx.invalidate(`user:${user.id}`);
    recordAct(ctx, {
      act: 'userSuspended',
      reason: input.reason,
      target: { type: 'User', id: user.id },
      node: await nodeOfUser(tx, user.id),
      event: 'user.suspended',
      data: userData({ ...user, ...change }),
    });
    if (user.email !== null && user.emailVerified) {
      await services.mail.queue(tx, suspendedMail(user.email, user.locale ?? 'en', input.reason));
      flushMails(ctx);
    }
    return db.get(InstallationUser, user.id);
  },
});

export const reactivateUser = mutation({
  ...act,
  rest: 'POST /installation/users/:id/reactivate',
  access: 'InstallationUser:Reactivate',
  summary: 'End the suspension of a user',
  description: 'A managed user that its tenant had disabled is disabled again.',
  output: InstallationUser.schema,
  codes: ['INVALID_STATE', 'NOT_FOUND'],
  run: async (ctx) => {
    const { tx, services, input, db } = ctx;
    const user = await lockTarget(ctx, input.id);
    if (user.status !== 'suspended') throw fail('INVALID_STATE', { params: { state: user.status } });
    const status = user.statusBefore ?? 'active';
    const change = { status, suspendedAt: null, statusBefore: null, updatedAt: services.clock.now() };
    await tx.update(users).set(change).where(eq(users.id, user.id));
    ctx.invalidate(`user:${user.id}`);
    recordAct(ctx, {
      act: 'userReactivated',
      reason: input.reason,
      target: { type: 'User', id: user.id },
      node: await nodeOfUser(tx, user.id),
      event: 'user.reactivated',
      data: userData({ ...user, ...change }),
    });
    return db.get(InstallationUser, user.id);
  },
});

export const endUserSessions = mutation({
  ...act,
  rest: 'POST /installation/users/:id/end-sessions',
  access: 'InstallationUser:EndSessions',
  summary: 'End all sessions of a user, with this service and with apps, and what could become one',
  output: z
    .object({ ended: z.int().describe('How many sessions were ended.') })
    .meta({ id: 'EndedSessions', description: 'The sessions that were ended.' }),
  codes: ['NOT_FOUND'],
  run: async (ctx) => {
    const { tx, input } = ctx;
    const user = await lockTarget(ctx, input.id);
    recordAct(ctx, {
      act: 'sessionsEnded',
      reason: input.reason,
      target: { type: 'User', id: user.id },
      node: await nodeOfUser(tx, user.id),
    });
    await endProofs(tx, user.id);
    const ended = await endSessions(ctx, user.id, undefined, operatorActor(ctx));
    return { ended: ended.length };
  },
});

export const resetUserSecondFactor = mutation({
  ...act,
  rest: 'POST /installation/users/:id/reset-second-factor',
  access: 'InstallationUser:ResetFactor',
  summary: 'Remove the authenticator apps and recovery codes of a user who lost them; all sessions end',
  description:
    'Takes effect after 24 hours. The user gets a mail at once, and stops it by signing in with the second factor. An Installation Operator can make it effective immediately, and only they can do it to an operator.',
  input: {
    ...act.input,
    immediately: z
      .boolean()
      .default(false)
      .describe('true: without the day in which the user can stop it; Installation Operator only.'),
    passkeys: z.boolean().default(false).describe('true: remove their passkeys too.'),
  },
  output: z
    .object({
      effectiveAt: iso.describe(
        'When the second factor is removed, unless the user signs in with it before.',
      ),
    })
    .meta({ id: 'FactorReset', description: 'The removal of a second factor.' }),
  codes: ['INVALID_STATE', 'NOT_FOUND'],
  run: async (ctx) => {
    const { tx, services, input, rights } = ctx;
    const user = await lockTarget(ctx, input.id);
    const needsInstallationOperator =
      input.immediately || (await isOperator(tx, services.config.operators, user.id));
    if (needsInstallationOperator && !rights.subject.projectRoleIds.includes(INSTALLATION_OPERATOR)) {
      throw fail('FORBIDDEN', {
        reason: 'NO_PERMISSION',
        fix: 'Only an Installation Operator may reset a factor immediately, or that of an operator.',
      });
    }
    const hasFactor = (await isEnrolled(tx, user.id)) || (input.passkeys && (await hasPasskey(tx, user.id)));
    if (!hasFactor) throw fail('INVALID_STATE', { params: { state: 'not enrolled' } });
    const now = services.clock.now();
    const effectiveAt = input.immediately ? now : new Date(now.getTime() + RESET_DELAY_MS);
    const planned = {
      userId: user.id,
      requestedBy: callerOf(ctx).userId,
      reason: input.reason,
      effectiveAt,
      passkeys: input.passkeys,
    };
    const added = await tx.insert(factorResets).values(planned).onConflictDoNothing().returning();
    if (added.length === 0 && !input.immediately)
      throw fail('INVALID_STATE', { params: { state: 'planned' } });
    recordAct(ctx, {
      act: input.immediately ? 'factorReset' : 'factorResetPlanned',
      reason: input.reason,
      target: { type: 'User', id: user.id },
      node: await nodeOfUser(tx, user.id),
    });
    if (input.immediately) await removeFactors(ctx, user, operatorActor(ctx), input.passkeys);
    return { effectiveAt };
  },
});

export const sendUserPasswordReset = mutation({
  ...act,
  rest: 'POST /installation/users/:id/send-password-reset',
  access: 'InstallationUser:SendReset',
  summary: 'Mail a user the link to reset their password',
  description:
    'The usual mail, to the verified address of the user and to no other. The operator does not see the link.',
  output: z
    .object({ accepted: z.literal(true).describe('Always true.') })
    .meta({ id: 'AcceptedReset', description: 'The mail will be sent.' }),
  status: 202,
  codes: ['INVALID_STATE', 'NOT_FOUND', 'RATE_LIMITED'],
  run: async (ctx) => {
    const { tx, input } = ctx;
    const user = await lockTarget(ctx, input.id);
    if (!canSignIn(user)) throw fail('INVALID_STATE', { params: { state: user.status } });
    const [method] = await tx
      .select({ address: authenticationMethods.providerId })
      .from(authenticationMethods)
      .where(
        and(
          eq(authenticationMethods.userId, user.id),
          eq(authenticationMethods.provider, 'email'),
          eq(authenticationMethods.isVerified, true),
          eq(authenticationMethods.claims, true),
        ),
      )
      .orderBy(sql`${authenticationMethods.isPrimary} desc`, authenticationMethods.createdAt)
      .limit(1);
    if (!method) {
      throw fail('INVALID_STATE', {
        params: { state: 'unverified' },
        fix: 'The user has no verified e-mail address, and a link goes to no other.',
      });
    }
    recordAct(ctx, {
      act: 'passwordResetSent',
      reason: input.reason,
      target: { type: 'User', id: user.id },
      node: await nodeOfUser(tx, user.id),
    });
    if (!(await mailResetLinkTo(ctx, user, method.address)))
      throw fail('RATE_LIMITED', { params: { seconds: 3600 } });
    return { accepted: true as const };
  },
});

/** @throws NOT_FOUND if the user was deleted in the meantime */
async function lockTarget(ctx: ActRun, id: string) {
  const user = await lockUser(ctx, id);
  if (!user) throw fail('NOT_FOUND');
  return user;
}
