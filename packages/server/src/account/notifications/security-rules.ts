import { and, eq, gt, isNull, lt, ne, or } from 'drizzle-orm';
import { networkOf } from '../../kernel/input/cidrs.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { users } from '../../schema/people/user.ts';
import { idIn, type DraftResult, type RuleInput } from './notification-draft.ts';
import type { TextParams } from '../../people/notification-texts/texts.ts';

const DAY_MS = 86_400_000;

/**
 * Notifies a user of a session from a new network. A network is new unless the user opened a session there that was
 * used in the last 30 days. Sessions of apps are ignored, because the app's server often opens them. The first sign-in
 * of a new user causes no notification; that of a returning user whose sessions were purged does.
 */
export async function onSignedIn({ tx, event }: RuleInput): DraftResult {
  const id = idIn(event, 'id');
  const [opened] = await tx
    .select({ session: sessions, since: users.createdAt })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, id));
  if (!opened?.session.ipAddress || opened.session.kind === 'projectApp') return undefined;
  if (opened.session.ssoProjectId !== null) return undefined;
  const { userId, ipAddress, userAgent, authenticatedAt, createdAt } = opened.session;
  const earlier = and(
    eq(sessions.userId, userId),
    ne(sessions.kind, 'projectApp'),
    isNull(sessions.ssoProjectId),
    or(lt(sessions.createdAt, createdAt), and(eq(sessions.createdAt, createdAt), lt(sessions.id, id))),
  );
  const month = new Date(authenticatedAt.getTime() - 30 * DAY_MS);
  const addresses = await tx
    .selectDistinct({ ipAddress: sessions.ipAddress })
    .from(sessions)
    .where(and(earlier, gt(sessions.lastUsedAt, month)));
  const network = networkOf(ipAddress);
  if (addresses.some((address) => address.ipAddress !== null && networkOf(address.ipAddress) === network)) {
    return undefined;
  }
  // Both times are from the database's clock.
  if (opened.since.getTime() > createdAt.getTime() - 30 * DAY_MS) {
    const [any] = await tx.select({ id: sessions.id }).from(sessions).where(earlier).limit(1);
    if (!any) return undefined;
  }
  const device = [...(userAgent ?? '')].slice(0, 200).join('');
  const target = { type: 'Session', id };
  return { type: 'new_sign_in', userIds: [userId], words: { address: ipAddress, device }, target };
}

export async function onTokenReused({ tx, event }: RuleInput): DraftResult {
  const id = idIn(event, 'id');
  const [session] = await tx.select({ userId: sessions.userId }).from(sessions).where(eq(sessions.id, id));
  if (!session) return undefined;
  return { type: 'session_reuse', userIds: [session.userId], words: {}, target: { type: 'Session', id } };
}

/** Creates a rule that notifies the user whom the event concerns. */
export const onUserChanged =
  (type: 'password_changed' | 'mfa_changed') =>
  async ({ event }: RuleInput): DraftResult => {
    const id = idIn(event, 'id');
    return { type, userIds: [id], words: {}, target: { type: 'User', id } };
  };

export async function onMethodsChanged({ event }: RuleInput): DraftResult {
  const id = idIn(event, 'id');
  const { change, provider, label } = event.body.data as Partial<TextParams['sign_in_methods_changed']>;
  // The data is missing if the user was erased in the meantime.
  if (!change || !provider || label === undefined) return undefined;
  const words = { change, provider, label };
  return { type: 'sign_in_methods_changed', userIds: [id], words, target: { type: 'User', id } };
}
