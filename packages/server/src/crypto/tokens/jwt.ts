/**
 * Access tokens: JWS compact, RS256 only (identity §10, RFC 7515, 7519, 8725). The header may contain no key reference
 * except `kid`: members that could make a verifier fetch, choose or trust a key from the token are rejected. The order
 * is fixed: `readHeader`; then the caller looks the key up by `kid`; then `verifyJwt` with the tokens that this key may
 * sign. Then the caller checks that the session or API key of `jti` is still valid.
 */
import { compactVerify } from 'jose';
import { sign, type KeyObject } from 'node:crypto';

const maxTokenLength = 8192;
/** Tolerated clock skew, for `nbf` and `iat` only. A token expires exactly at `exp`. */
const leewaySeconds = 60;

/** Claims of a verified token: the required claims, and all other claims unchanged. Times are in seconds. */
export interface Claims {
  readonly sub: string;
  readonly jti: string;
  readonly iss: string;
  readonly type: string;
  readonly exp: number;
  readonly [claim: string]: unknown;
}

/** The expected claims, which the verification key determines. */
export interface ExpectedToken {
  readonly issuer: string;
  readonly audience: string;
  /** Values of the `type` claim that this key may sign. */
  readonly types: readonly string[];
  /** Default: the system time. */
  readonly now?: Date;
}

/** For an expired but otherwise valid token the claims are included, because a refresh compares them (identity §5). */
type Verification =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'expired'; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'invalid' };

/**
 * Signs on the thread pool. The header is exactly `{alg, typ, kid}`. Builds the compact form (RFC 7515 §3.1) itself,
 * because `jose` signs with Web Crypto, which takes about 70 µs more CPU time per token.
 */
export async function signJwt(
  privateKey: KeyObject,
  kid: string,
  claims: Readonly<Record<string, unknown>>,
  /** Any other type makes a document that no verifier of tokens accepts (RFC 8725 §3.11). */
  typ = 'JWT',
): Promise<string> {
  const input = `${encodePart({ alg: 'RS256', typ, kid })}.${encodePart(claims)}`;
  // RS256 is RSASSA-PKCS1-v1_5 (RFC 7518 §3.3), which is what `sign` does with an RSA key.
  return `${input}.${(await rsaSha256(Buffer.from(input), privateKey)).toString('base64url')}`;
}

const rsaSha256 = (data: Buffer, key: KeyObject): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    sign('sha256', data, key, (error, signature) => (error ? reject(error) : resolve(signature))),
  );

const encodePart = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The `kid` of an untrusted token; null if the header cannot be ours. Verifies nothing. */
export function readHeader(token: string): { kid: string } | null {
  if (token.length > maxTokenLength) return null;
  const [, encoded = ''] = /^([\w-]+)\.[\w-]+\.[\w-]+$/.exec(token) ?? [];
  const header = jsonObject(Buffer.from(encoded, 'base64url'));
  if (!header) return null;
  // An allow-list, so that jwk, jku, x5u, x5c, crit and future members are rejected.
  const { alg, typ, kid, ...others } = header;
  if (alg !== 'RS256' || Object.keys(others).length > 0) return null;
  if (typ !== 'JWT' && typ !== 'at+jwt' && typ !== undefined) return null;
  // The value is a database parameter, and PostgreSQL rejects some characters with an error.
  return typeof kid === 'string' && /^[\w.-]{1,255}$/.test(kid) ? { kid } : null;
}

/** The audience that a token claims, if it is a single one. Nothing is verified: use it only to find the app. */
export function claimedAudience(token: string): string | undefined {
  if (!readHeader(token)) return undefined;
  const audience = jsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url'))?.['aud'];
  return typeof audience === 'string' ? audience : undefined;
}

/** Returns the claims of a JWT with a valid signature, else undefined. The caller must check every claim. */
export async function readSigned(
  publicKey: KeyObject,
  token: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (!readHeader(token)) return undefined;
  const verified = await compactVerify(token, publicKey, { algorithms: ['RS256'] }).catch(() => undefined);
  return verified && jsonObject(verified.payload);
}

/** Verifies the signature and the expected claims. Never throws for an invalid token. */
export async function verifyJwt(
  publicKey: KeyObject,
  token: string,
  expected: ExpectedToken,
): Promise<Verification> {
  const claims = await readSigned(publicKey, token);
  if (!claims || !isExpected(claims, expected)) return { ok: false, reason: 'invalid' };
  return claims.exp > seconds(expected.now) ? { ok: true, claims } : { ok: false, reason: 'expired', claims };
}

function isExpected(
  claims: Readonly<Record<string, unknown>>,
  { issuer, audience, types, now }: ExpectedToken,
): claims is Claims {
  const latest = seconds(now) + leewaySeconds;
  const notAfter = (value: unknown) => value === undefined || (isTime(value) && value <= latest);
  return (
    claims.iss === issuer &&
    isFor(claims.aud, audience) &&
    typeof claims.type === 'string' &&
    types.includes(claims.type) &&
    isNonEmptyText(claims.sub) &&
    isNonEmptyText(claims.jti) &&
    isTime(claims.exp) &&
    notAfter(claims.nbf) &&
    notAfter(claims.iat)
  );
}

/** Whether the token is for this audience. It may be for resource servers too (RFC 8707). */
const isFor = (aud: unknown, audience: string): boolean =>
  aud === audience || (Array.isArray(aud) && aud.includes(audience));

const seconds = (now = new Date()): number => now.getTime() / 1000;
const isNonEmptyText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

function jsonObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
