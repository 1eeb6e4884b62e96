/**
 * Access tokens: JWS compact, RS256 only (identity §10, RFC 7515, 7519, 8725). The header may name a key of ours and
 * nothing else: whatever could make a verifier fetch, choose or trust a key from the token is refused unread.
 * The order is fixed: `readHeader` → the caller looks the key up by `kid` → `verifyJwt` with what that key may sign.
 * Whether the session or key behind `jti` still lives is asked afterwards, elsewhere.
 */
import { compactVerify } from 'jose';
import { sign, type KeyObject } from 'node:crypto';

const maxTokenLength = 8192;
/** Clocks differ; for `nbf` and `iat` only. A token is dead at `exp`, to the second. */
const leewaySeconds = 60;

/** Claims of a verified token: those that every token has, and the rest as it came. Times in seconds. */
export interface Claims {
  readonly sub: string;
  readonly jti: string;
  readonly iss: string;
  readonly type: string;
  readonly exp: number;
  readonly [claim: string]: unknown;
}

/** What the caller expects, fixed by the key that verifies. */
export interface Expected {
  readonly issuer: string;
  readonly audience: string;
  /** Values of the claim `type` that this key may sign. */
  readonly types: readonly string[];
  /** Default: the real time. */
  readonly now?: Date;
}

/** An expired token that is right in all else gives its claims, which a refresh compares (identity §5). */
export type Verified =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'expired'; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'invalid' };

/**
 * Signs on the thread pool; the header is exactly `{alg, typ, kid}`. RFC 7515 §3.1 is three parts and two dots: written
 * here, since the library goes by Web Crypto, which costs every token some 70 µs of the processor more.
 */
export async function signJwt(
  privateKey: KeyObject,
  kid: string,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> {
  const input = `${encoded({ alg: 'RS256', typ: 'JWT', kid })}.${encoded(claims)}`;
  // RS256 is RSASSA-PKCS1-v1_5 (RFC 7518 §3.3), which is what `sign` does with an RSA key.
  return `${input}.${(await rsaSha256(Buffer.from(input), privateKey)).toString('base64url')}`;
}

const rsaSha256 = (data: Buffer, key: KeyObject): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    sign('sha256', data, key, (error, signature) => (error ? reject(error) : resolve(signature))),
  );

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The key that an untrusted token names, or null when it can be none of ours. Nothing is verified. */
export function readHeader(token: string): { kid: string } | null {
  if (token.length > maxTokenLength) return null;
  const [, encoded = ''] = /^([\w-]+)\.[\w-]+\.[\w-]+$/.exec(token) ?? [];
  const header = jsonObject(Buffer.from(encoded, 'base64url'));
  if (!header) return null;
  // A list of what is allowed, so that jwk, jku, x5u, x5c, crit and whatever comes next are all refused.
  const { alg, typ, kid, ...others } = header;
  if (alg !== 'RS256' || (typ !== 'JWT' && typ !== undefined) || Object.keys(others).length > 0) return null;
  // The value is sent to the database, which refuses some characters with an error of its own.
  return typeof kid === 'string' && /^[\w.-]{1,255}$/.test(kid) ? { kid } : null;
}

/** Whether the token is signed by this key and says what the caller expects. Never throws on a bad token. */
export async function verifyJwt(publicKey: KeyObject, token: string, expected: Expected): Promise<Verified> {
  if (!readHeader(token)) return { ok: false, reason: 'invalid' };
  const verified = await compactVerify(token, publicKey, { algorithms: ['RS256'] }).catch(() => undefined);
  const claims = verified && jsonObject(verified.payload);
  if (!claims || !isExpected(claims, expected)) return { ok: false, reason: 'invalid' };
  return claims.exp > seconds(expected.now) ? { ok: true, claims } : { ok: false, reason: 'expired', claims };
}

function isExpected(
  claims: Readonly<Record<string, unknown>>,
  { issuer, audience, types, now }: Expected,
): claims is Claims {
  const latest = seconds(now) + leewaySeconds;
  const notAfter = (value: unknown) => value === undefined || (isTime(value) && value <= latest);
  return (
    claims.iss === issuer &&
    claims.aud === audience &&
    typeof claims.type === 'string' &&
    types.includes(claims.type) &&
    isFilled(claims.sub) &&
    isFilled(claims.jti) &&
    isTime(claims.exp) &&
    notAfter(claims.nbf) &&
    notAfter(claims.iat)
  );
}

const seconds = (now = new Date()): number => now.getTime() / 1000;
const isFilled = (value: unknown): boolean => typeof value === 'string' && value !== '';
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
