import { createHash, randomBytes } from 'node:crypto';
import { hashOneTimeToken, newOneTimeToken } from '../../../src/crypto/tokens/one-time-token.ts';
import type { OpenidScope } from '../../../src/schema/apps/openid-scope.ts';
import { projectCodes } from '../../../src/schema/oauth/project-code.ts';
import type { TestApp } from '../app/app.ts';

export const newVerifier = (): string => randomBytes(32).toString('base64url');
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

export interface Consent {
  readonly appId: string;
  readonly userId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  /** Null: the app was not restricted. */
  readonly scopes?: readonly string[] | null;
  readonly openidScopes?: readonly OpenidScope[];
  readonly acr?: 'aal1' | 'aal2';
  readonly authenticatedAt?: Date;
}

/** The authorization code that a consent leads to, without the pages: as the flow writes it. */
export async function consented({ database, clock }: TestApp, consent: Consent): Promise<string> {
  const { appId, userId, redirectUri, challenge, scopes = null, acr = 'aal1' } = consent;
  const code = newOneTimeToken();
  const now = clock.now();
  await database.pool.insert(projectCodes).values({
    hash: hashOneTimeToken(code),
    appId,
    userId,
    redirectUri,
    challenge,
    scopes: scopes && [...scopes],
    openidScopes: [...(consent.openidScopes ?? [])],
    acr,
    amr: acr === 'aal2' ? ['fed', 'otp'] : ['fed'],
    authenticatedAt: consent.authenticatedAt ?? now,
    expiresAt: new Date(now.getTime() + 60_000),
  });
  return code;
}
