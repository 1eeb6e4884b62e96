import type { JWTPayload } from 'jose';
import { TokenError } from '../contracts/errors.ts';
import { scopeOf } from '../options/scope.ts';
import type { Principal, Scope, TokenType } from '../contracts/types.ts';

/** The tokens of principals. Only this module creates principals, so a copied or invented object has no token. */
const tokens = /* @__PURE__ */ new WeakMap<object, string>();

export const tokenOfPrincipal = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null ? tokens.get(value) : undefined;

const kinds: Readonly<Record<TokenType, Principal['type']>> = {
  session: 'user',
  ApiKey: 'apiKey',
  projectApp: 'projectApp',
};

/**
 * The scope in which the token of a key or app is valid. With the profile `rfc9068`, `scope` has its standard meaning,
 * and the scope is in `doorward_scope`.
 */
export const scopeOfClaims = (claims: JWTPayload): Scope | undefined =>
  scopeOf(claims['doorward_scope'] ?? claims['scope']);

/** Creates the principal of a token from its verified claims. @throws TokenError if a claim is missing */
export function principalOf(token: string, claims: JWTPayload, liveness: Principal['liveness']): Principal {
  const type = claims['type'] as TokenType;
  const { sub, jti, exp = 0 } = claims;
  const scope = type === 'session' ? null : scopeOfClaims(claims);
  const scopes = claims['scopes'];
  const clientId = claims['client_id'];
  const isWhole =
    typeof sub === 'string' &&
    typeof jti === 'string' &&
    scope !== undefined &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every((item) => typeof item === 'string')));
  if (!isWhole) throw new TokenError('TOKEN_MALFORMED', 'The token lacks a claim of its type.');
  const principal: Principal = Object.freeze({
    type: kinds[type],
    userId: sub,
    ...(type === 'ApiKey' ? { apiKeyId: jti } : { sessionId: jti }),
    ...(type === 'projectApp' && typeof clientId === 'string' ? { clientId } : {}),
    scope,
    ...(type === 'projectApp' && scopes !== undefined ? { scopes: Object.freeze([...scopes]) } : {}),
    liveness,
    expiresAt: exp * 1000,
    claims: Object.freeze(claims),
  });
  tokens.set(principal, token);
  return principal;
}
