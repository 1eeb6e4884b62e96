import { DemoRefused, sendOrThrow, type SendDemoRequest } from './internal-client.ts';
import type { StoredCredentials } from './stored-credentials.ts';

export interface DemoSession {
  readonly token: string;
  /** The account that owns organizations. */
  readonly account: string;
}

/** The callbacks by which the demo user is created and their address verified. */
export interface Registration {
  /**
   * Returns the token that makes the demo user the first user of the installation and its operator; null if there is
   * already a user.
   */
  readonly firstUserToken: () => Promise<string | null>;
  /** Resolves to the token of the next verification mail. */
  readonly nextToken: () => Promise<string>;
}

/** Signs the demo user in. First creates them and verifies their address if necessary. @throws DemoRefused, Error */
export async function signIn(
  send: SendDemoRequest,
  { email, password }: StoredCredentials,
  { firstUserToken, nextToken }: Registration,
): Promise<DemoSession> {
  const identity = { provider: 'email', providerId: email, providerData: { password } };
  const login = { method: 'POST', path: '/auth/login', body: identity } as const;
  const attempt = await send(login);
  if (attempt.data['emailVerified'] === true) return sessionOf(attempt.data);

  const isUnknown = attempt.code === 'UNAUTHENTICATED';
  const isKnown = attempt.data['emailVerified'] === false || attempt.code === 'EMAIL_VERIFICATION_REQUIRED';
  if (!isUnknown && !isKnown) throw new DemoRefused(login, attempt);
  const profile = { type: 'organization', name: 'Demo' };
  const first = isUnknown ? await firstUserToken() : null;
  if (first !== null) {
    const body = { token: first, email, password, ...profile };
    return sessionOf(await sendOrThrow(send, { method: 'POST', path: '/auth/first-user', body }));
  }
  const registration = { ...identity, ...profile };
  const [token, verified] = await Promise.all([
    nextToken(),
    isUnknown
      ? sendOrThrow(send, { method: 'POST', path: '/auth/register', body: registration })
      : sendOrThrow(send, { method: 'POST', path: '/auth/resend-verification', body: { email } }),
  ]);
  await sendOrThrow(send, { method: 'POST', path: '/auth/verify-email', body: { token } });
  // A session that is already open sees the verified address on its next call.
  const open = [attempt.data, verified].find((data) => 'accessToken' in data);
  return sessionOf(open ?? (await sendOrThrow(send, login)));
}

function sessionOf(signedIn: Record<string, unknown>): DemoSession {
  const accounts = signedIn['accounts'] as { id: string; type: string }[];
  const owner = accounts.find(({ type }) => type === 'organization');
  if (!owner) throw new Error('the demo user has no account that can own organizations');
  return { token: signedIn['accessToken'] as string, account: owner.id };
}
