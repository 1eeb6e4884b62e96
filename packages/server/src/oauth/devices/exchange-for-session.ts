import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../../schema/people/user.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import { newSession, openSession, SignIn, type NewSession } from '../../sessions/sign-in.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';
import { isTooEarly } from './interval.ts';

/**
 * The response to a command line without a browser, which polls for its session of this service until the user has
 * decided. A device code yields one session. Codes of apps are treated like unknown ones.
 */
export const DeviceSignIn = z
  .object({
    status: z.enum(['pending', 'slowDown', 'approved']).meta({
      description:
        '`pending`: ask again after the interval; `slowDown`: the same, and the interval is five seconds longer now.',
    }),
    signIn: SignIn.nullable().describe('The session; null until it is approved.'),
  })
  .meta({ id: 'DeviceSignIn', description: 'What a command line without a browser has got so far.' });

interface PreparedDeviceSession {
  readonly hash: string;
  /** Null until the user has approved the device. */
  readonly opening: { readonly userId: string; readonly session: NewSession } | null;
}

/** The error for a code that does not exist, was denied or used, or has expired; it is the same for all of them. */
const invalidDevice = () =>
  fail('INVALID_TOKEN', {
    fix: 'Begin again: the code was used, denied, or has expired, or its user may not sign in.',
  });

const isCommandLine = (hash: string) =>
  and(eq(deviceAuthorizations.hash, hash), isNull(deviceAuthorizations.appId));

/**
 * Finds the sign-in, and signs the token if the user has approved it. Only refusals count in class `auth`.
 *
 * @throws INVALID_TOKEN, RATE_LIMITED
 */
export async function prepareDeviceSession(
  db: Executor,
  services: Services,
  call: Call,
  deviceCode: string,
): Promise<PreparedDeviceSession> {
  const hash = hashOneTimeToken(deviceCode);
  const [row] = await db
    .select({ device: deviceAuthorizations, user: users })
    .from(deviceAuthorizations)
    .leftJoin(users, eq(users.id, deviceAuthorizations.userId))
    .where(isCommandLine(hash));
  if (!row || row.device.decision === 'denied' || row.device.expiresAt <= services.clock.now()) {
    await services.limiter.consume('auth', `exchangeDeviceCode ${call.network}`);
    throw invalidDevice();
  }
  const { acr, amr, authenticatedAt } = row.device;
  if (!row.user || !acr || !amr || !authenticatedAt) return { hash, opening: null };
  const session = await newSession(services, row.user, { kind: 'cli', acr, amr, authenticatedAt });
  return { hash, opening: { userId: row.user.id, session } };
}

/**
 * Opens the session, or returns that the user has not decided yet. Refuses a user who may no longer sign in, and
 * records that.
 *
 * @throws INVALID_TOKEN
 */
export async function exchangeForSession(
  ctx: Run,
  { hash, opening }: PreparedDeviceSession,
): Promise<z.output<typeof DeviceSignIn> | Refusal> {
  const { tx } = ctx;
  const user = opening && (await lockUser(ctx, opening.userId));
  const [row] = await tx.select().from(deviceAuthorizations).where(isCommandLine(hash)).for('update');
  // Another request was faster, or a new password has ended the approval (`endProofs`).
  if (!row) throw invalidDevice();
  if (!opening) {
    ctx.unchanged();
    return { status: (await isTooEarly(ctx, row)) ? 'slowDown' : 'pending', signIn: null };
  }
  await tx.delete(deviceAuthorizations).where(isCommandLine(hash));
  if (!user || !canSignIn(user)) {
    const target = { type: 'User', id: opening.userId };
    const node = await nodeOfUser(tx, opening.userId);
    ctx.record({ outcome: 'failed', code: 'INVALID_TOKEN', target, node });
    return refuse(invalidDevice());
  }
  return { status: 'approved', signIn: await openSession(ctx, opening.session, user) };
}
