import type { TestApp } from '../app/app.ts';
import type { Answer } from '../app/client.ts';
import { challengeOf, consented, newVerifier } from './project-code.ts';

/** An app with a redirect URI, and a user who has consented to scopes; null: the app was not restricted. */
interface Consent {
  readonly app: { readonly id: string; readonly clientId: string; readonly redirectUri: string };
  readonly userId: string;
  readonly scopes?: readonly string[] | null;
}

/** The access token that the app gets for the user, by the exchange of a code. */
export async function appToken(service: TestApp, { app, userId, scopes = null }: Consent): Promise<string> {
  const verifier = newVerifier();
  const { id: appId, redirectUri } = app;
  const code = await consented(service, {
    appId,
    userId,
    redirectUri,
    challenge: challengeOf(verifier),
    scopes,
  });
  const answer = (await service.raw('projectToken', {
    grant_type: 'authorization_code',
    code,
    client_id: app.clientId,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })) as Answer<{ accessToken?: string } | undefined>;
  const token = answer.data?.accessToken;
  if (token === undefined) throw new Error(`no app token: ${answer.status} ${answer.body}`);
  return token;
}
