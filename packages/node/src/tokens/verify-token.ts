/*
 * Verifies a token offline: signature, issuer, audience, type and times (packages §3). An unverified token never
 * decides where keys come from: its `iss` only selects among the issuers that the options allow.
 */

import { decodeProtectedHeader, errors, jwtVerify, type CryptoKey, type JWTPayload } from 'jose';
import { isTokenText } from '../credentials/token-text.ts';
import { ConfigError, TokenError, type TokenErrorCode } from '../contracts/errors.ts';
import type { TokenType, VerifyOptions } from '../contracts/types.ts';
import type { Issuer } from './issuer.ts';

export interface TokenChecks {
  readonly issuers: readonly Issuer[];
  readonly types: readonly TokenType[];
  readonly audience: string;
  readonly clockToleranceSeconds: number;
  readonly now: () => number;
  readonly keyOf: (issuer: Issuer, kid: string) => Promise<CryptoKey | undefined>;
}

const messages: Record<TokenErrorCode, string> = {
  TOKEN_MALFORMED: 'This is not a token of the service.',
  TOKEN_EXPIRED: 'The token has expired.',
  TOKEN_SIGNATURE: 'The signature of the token is not valid.',
  TOKEN_ISSUER: 'The token is of another issuer.',
  TOKEN_AUDIENCE: 'The token is for another audience.',
  TOKEN_TYPE: 'Tokens of this type are not accepted here.',
  TOKEN_SCOPE: 'The token is for another project or customer.',
  TOKEN_REVOKED:
    'This token is not accepted: its credential has ended or does not allow the address of the caller, or the service refuses it.',
};

export const tokenError = (code: TokenErrorCode): TokenError => new TokenError(code, messages[code]);

const defaultTypes: readonly TokenType[] = ['ApiKey', 'projectApp'];
const allTypes: readonly unknown[] = ['session', ...defaultTypes];

/** Returns the accepted types of tokens. @throws ConfigError if a type does not exist */
export function typesOf({ types = defaultTypes }: VerifyOptions): readonly TokenType[] {
  const list: readonly TokenType[] | null = Array.isArray(types) ? (types as TokenType[]) : null;
  if (list && list.length > 0 && list.every((type) => allTypes.includes(type))) return list;
  throw new ConfigError("`types` lists 'ApiKey', 'projectApp' or 'session'.", ['types']);
}

export interface VerifiedToken {
  readonly claims: JWTPayload;
  readonly kid: string;
}

/** Verifies a token. @throws TokenError unless it is valid */
export async function verifyOffline(token: string, checks: TokenChecks): Promise<VerifiedToken> {
  if (!isTokenText(token)) throw tokenError('TOKEN_MALFORMED');
  const kid = kidOf(token);
  const issuer = checks.issuers.find(({ id }) => id === unverifiedIssuer(token));
  if (!issuer) throw tokenError('TOKEN_ISSUER');
  const key = await checks.keyOf(issuer, kid);
  if (!key) throw tokenError('TOKEN_SIGNATURE');
  const { payload } = await jwtVerify(token, key, {
    algorithms: ['RS256'],
    issuer: issuer.id,
    audience: checks.audience,
    requiredClaims: ['exp', 'iat', 'sub', 'jti', 'type'],
    clockTolerance: checks.clockToleranceSeconds,
    currentDate: new Date(checks.now()),
  }).catch((error: unknown) => {
    throw tokenError(codeOf(error));
  });
  const type = payload['type'] as TokenType;
  // A project's signing key is not accepted for session tokens, and that of the installation not for tokens of projects.
  if (!checks.types.includes(type) || !issuer.types.includes(type)) throw tokenError('TOKEN_TYPE');
  return { claims: payload, kid };
}

/** Returns the `kid` of the header. Refuses a header that the service would not write. */
function kidOf(token: string): string {
  let header: ReturnType<typeof decodeProtectedHeader>;
  try {
    header = decodeProtectedHeader(token);
  } catch {
    throw tokenError('TOKEN_MALFORMED');
  }
  if (header.alg !== 'RS256') throw tokenError('TOKEN_SIGNATURE');
  if (header.typ !== 'JWT' && header.typ !== 'at+jwt') throw tokenError('TOKEN_TYPE');
  const names = Object.keys(header);
  if (['jwk', 'jku', 'x5u', 'x5c', 'crit'].some((name) => names.includes(name)))
    throw tokenError('TOKEN_MALFORMED');
  if (typeof header.kid !== 'string' || !/^[\w.-]{1,255}$/.test(header.kid))
    throw tokenError('TOKEN_MALFORMED');
  return header.kid;
}

function unverifiedIssuer(token: string): unknown {
  try {
    const payload = token.split('.')[1] ?? '';
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return (claims as { iss?: unknown } | null)?.iss;
  } catch {
    throw tokenError('TOKEN_MALFORMED');
  }
}

function codeOf(error: unknown): TokenErrorCode {
  if (error instanceof errors.JWTExpired) return 'TOKEN_EXPIRED';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'TOKEN_AUDIENCE';
    if (error.claim === 'iss') return 'TOKEN_ISSUER';
    return 'TOKEN_MALFORMED';
  }
  return error instanceof errors.JWSSignatureVerificationFailed ? 'TOKEN_SIGNATURE' : 'TOKEN_MALFORMED';
}
