import { createHash } from 'node:crypto';
import { readHeader, readSigned } from '../../crypto/tokens/jwt.ts';
import type { Services } from '../../services.ts';
import { uuid } from '../../kernel/input/values.ts';
import { issuerOf, type LiveApp } from '../../apps/access/app.ts';

/*
 * ID tokens (OpenID Connect Core §2, openid §2) tell an app who signed in. They have the client id as audience, and
 * neither `type` nor `jti`, which every verifier of access tokens requires, so neither kind of token passes as the
 * other.
 */

interface IdTokenInput {
  readonly sessionId: string;
  readonly userId: string;
  readonly acr: 'aal1' | 'aal2';
  readonly amr: readonly string[];
  /** Seconds since 1970. */
  readonly authTime: number;
  readonly iat: number;
  readonly exp: number;
  readonly accessToken: string;
  /** Null if the request had no nonce, and after a refresh (OpenID Connect Core §12.2). */
  readonly nonce: string | null;
  /** User info claims; empty unless the app has `idTokenClaims`. */
  readonly claimed: Readonly<Record<string, unknown>>;
}

/** The claims in access tokens and id_tokens about the organization that the user signed in for (openid §12). */
export const organizationClaims = ({ organization }: Pick<LiveApp, 'organization'>) =>
  organization && { org_id: organization.id, org_name: organization.name };

/** Signs an id_token. Signing is slow, so call it outside a transaction. */
export const signIdToken = ({ keyring }: Services, app: LiveApp, input: IdTokenInput): Promise<string> =>
  keyring.signDocument(app.tenantId, 'JWT', {
    ...input.claimed,
    sub: input.userId,
    aud: app.clientId,
    sid: input.sessionId,
    auth_time: input.authTime,
    acr: input.acr,
    amr: input.amr,
    ...organizationClaims(app),
    ...(input.nonce === null ? {} : { nonce: input.nonce }),
    at_hash: accessTokenHash(input.accessToken),
    iat: input.iat,
    exp: input.exp,
  });

/** The left half of the SHA-256 of the access token (OpenID Connect Core §3.1.3.6). */
const accessTokenHash = (accessToken: string): string =>
  createHash('sha256').update(accessToken, 'ascii').digest().subarray(0, 16).toString('base64url');

/** The session that an id_token was created for. */
export interface IdTokenHint {
  readonly userId: string;
  readonly sessionId: string;
}

/**
 * Reads an id_token that this issuer created for this app, expired or not (OpenID Connect Core §3.1.2.1); undefined for
 * anything else. A hint only repeats an earlier sign-in: it does not sign a user in.
 */
export async function readIdTokenHint(
  { keyring, config }: Services,
  app: LiveApp,
  token: string,
): Promise<IdTokenHint | undefined> {
  const header = readHeader(token);
  const key = header && (await keyring.verification(header.kid));
  if (key?.tenantId !== app.tenantId) return undefined;
  const claims = await readSigned(key.publicKey, token);
  if (claims?.['iss'] !== issuerOf(config, app) || claims['aud'] !== app.clientId) return undefined;
  if (claims['type'] !== undefined) return undefined;
  const [user, session] = [uuid.safeParse(claims['sub']), uuid.safeParse(claims['sid'])];
  return user.success && session.success ? { userId: user.data, sessionId: session.data } : undefined;
}
