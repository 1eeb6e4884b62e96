import { and, eq, gt, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { operatorActor } from '../record-act.ts';
import {
  IMPERSONATION_SECONDS,
  recordImpersonationEnd,
  recordImpersonationStart,
} from '../../sessions/impersonation.ts';
import { isOperator } from '../../people/operators.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { uuid } from '../../kernel/input/values.ts';
import { mutation } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { installation, reason } from './inputs.ts';
import { InstallationUser } from '../../schema/operators/installation-user.ts';

export const impersonateUser = mutation({
  ...installation,
  rest: 'POST /installation/users/:id/impersonate',
  access: 'InstallationUser:Impersonate',
  summary: 'Act for a user for at most 15 minutes, with a token that is shown once',
  description:
    'The token has the rights of the user, without recent sign-in and second factor, and is refused for credentials, factors, new keys, members and users, project grants, the deletion of organizations and projects, and the installation (IMPERSONATION_NOT_ALLOWED). It ends with the session of the operator. The user gets a mail with the reason at once, and the owners of each organization when it is entered.',
  stepUp: true,
  permissionChange: 'none',
  input: { scope: Scope, id: uuid, reason },
  output: z
    .object({
      accessToken: z.string().describe('Token for API calls as the user.'),
      expiresIn: z.int().describe('Seconds until it ends.'),
      impersonationId: uuid.describe('Id by which it can be ended; the session in the list of the user.'),
    })
    .meta({ id: 'Impersonation', description: 'The right to act for a user for a short time.' }),
  target: InstallationUser,
  codes: ['INVALID_STATE', 'NOT_FOUND'],
  prepare: async (ctx) => {
    const { services, input } = ctx;
    const { userId: operatorId } = callerOf(ctx);
    const id = services.ids.next();
    const issuedAt = Math.floor(services.clock.now().getTime() / 1000);
    // Versions without impersonation refuse tokens of type `at+jwt`. They would take a `JWT` for an unlimited session
    // of the user.
    const accessToken = await services.keyring.signDocument(SYSTEM_NODE, 'at+jwt', {
      sub: input.id,
      aud: services.config.appUrl,
      jti: id,
      type: 'session',
      act: { sub: operatorId },
      email_verified: ctx.target.emailVerified,
      acr: 'aal1',
      amr: [],
      auth_time: 0,
      iat: issuedAt,
      exp: issuedAt + IMPERSONATION_SECONDS,
    });
    return { id, accessToken, expiresAt: new Date((issuedAt + IMPERSONATION_SECONDS) * 1000) };
  },
  run: async (ctx) => {
    const { tx, services, call, input, prepared } = ctx;
    const { userId: operatorId, credentialId } = callerOf(ctx);
    const now = services.clock.now();
    if (input.id === operatorId)
      throw fail('INVALID_STATE', {
        params: { state: 'oneself' },
        fix: 'You can only impersonate another user.',
      });
    // The lock on the operator makes concurrent starts by one operator wait for each other.
    const [first, second] = [operatorId, input.id].sort() as [string, string];
    const locked = [await lockUser(ctx, first), await lockUser(ctx, second)];
    const user = locked.find((row) => row?.id === input.id);
    if (!user) throw fail('NOT_FOUND');
    if (!canSignIn(user)) {
      throw fail('INVALID_STATE', { params: { state: user.isManaged ? 'managed' : user.status } });
    }
    if (await isOperator(tx, services.config.operators, user.id))
      throw fail('INVALID_STATE', {
        params: { state: 'operator' },
        fix: 'Operators cannot be impersonated.',
      });
    const [running] = await tx
      .select({ id: sessions.id })
      .from(sessions)
      .where(
        and(eq(sessions.impersonatorId, operatorId), isNull(sessions.endedAt), gt(sessions.expiresAt, now)),
      )
      .limit(1);
    if (running) {
      throw fail('INVALID_STATE', {
        params: { state: 'impersonating' },
        fix: `End the other one first: DELETE /api/installation/impersonations/${running.id}.`,
      });
    }
    await tx.insert(sessions).values({
      id: prepared.id,
      userId: user.id,
      kind: 'impersonation',
      impersonatorId: operatorId,
      impersonatorSessionId: credentialId,
      impersonationReason: input.reason,
      enteredOrganizations: [],
      amr: [],
      ipAddress: call.address,
      userAgent: call.userAgent,
      authenticatedAt: now,
      lastUsedAt: now,
      expiresAt: prepared.expiresAt,
      // No refresh token has this hash, so the session cannot be refreshed.
      refreshHash: '',
    });
    const subject = { id: prepared.id, userId: user.id };
    await recordImpersonationStart(ctx, subject, { reason: input.reason, actor: operatorActor(ctx) });
    return {
      accessToken: prepared.accessToken,
      expiresIn: IMPERSONATION_SECONDS,
      impersonationId: prepared.id,
    };
  },
});

export const endImpersonation = mutation({
  ...installation,
  rest: 'DELETE /installation/impersonations/:id',
  access: 'InstallationUser:Impersonate',
  summary: 'No longer act for a user; the token is refused at once',
  permissionChange: 'none',
  input: { scope: Scope, id: uuid },
  output: z
    .object({
      id: uuid.describe('Id of the impersonation.'),
      ended: z.literal(true).describe('Always true.'),
    })
    .meta({ id: 'EndedImpersonation', description: 'An impersonation that was ended.' }),
  codes: ['NOT_FOUND'],
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const now = services.clock.now();
    const [row] = await tx
      .update(sessions)
      .set({ endedAt: now })
      .where(
        and(
          eq(sessions.id, input.id),
          eq(sessions.kind, 'impersonation'),
          isNull(sessions.endedAt),
          gt(sessions.expiresAt, now),
        ),
      )
      .returning();
    if (!row) throw fail('NOT_FOUND');
    ctx.invalidate(`session:${row.id}`);
    recordImpersonationEnd(ctx, row);
    const node = await nodeOfUser(tx, row.userId);
    if (node) {
      ctx.record({
        actor: operatorActor(ctx),
        node,
        event: 'impersonation.ended',
        data: { id: row.id, userId: row.userId, reason: null },
        target: { type: 'Session', id: row.id },
        audited: true,
      });
    }
    return { id: row.id, ended: true as const };
  },
});
