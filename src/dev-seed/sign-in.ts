import { DemoRefused, must, type Ask } from './front-door.ts';
import type { Kept } from './kept.ts';

export interface DemoSession {
  readonly token: string;
  /** The account that owns organizations. */
  readonly account: string;
}

/** Signs the demo user in: registered if he is not, his address verified if it is not. @throws DemoRefused, Error */
export async function signIn(
  ask: Ask,
  { email, password }: Kept,
  nextToken: () => Promise<string>,
): Promise<DemoSession> {
  const identity = { provider: 'email', providerId: email, providerData: { password } };
  const login = { method: 'POST', path: '/auth/login', body: identity } as const;
  const first = await ask(login);
  if (first.data['emailVerified'] === true) return sessionOf(first.data);

  const isUnknown = first.code === 'UNAUTHENTICATED';
  const isKnown = first.data['emailVerified'] === false || first.code === 'EMAIL_VERIFICATION_REQUIRED';
  if (!isUnknown && !isKnown) throw new DemoRefused(login, first);
  const registration = { ...identity, type: 'organization', name: 'Demo' };
  const [token, claimed] = await Promise.all([
    nextToken(),
    isUnknown
      ? must(ask, { method: 'POST', path: '/auth/register', body: registration })
      : must(ask, { method: 'POST', path: '/auth/resend-verification', body: { email } }),
  ]);
  await must(ask, { method: 'POST', path: '/auth/verify-email', body: { token } });
  // A session that is there already knows of the verified address with its next call.
  const open = [first.data, claimed].find((data) => 'accessToken' in data);
  return sessionOf(open ?? (await must(ask, login)));
}

function sessionOf(signedIn: Record<string, unknown>): DemoSession {
  const accounts = signedIn['accounts'] as { id: string; type: string }[];
  const owner = accounts.find(({ type }) => type === 'organization');
  if (!owner) throw new Error('the demo user has no account that can own organizations');
  return { token: signedIn['accessToken'] as string, account: owner.id };
}
