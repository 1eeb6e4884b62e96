import type { Policy, Subject } from '@doorward/decision';
import type { FallbackReason } from '../contracts/hooks.ts';
import { isOfProject } from '../options/scope.ts';
import { scopeOfClaims } from '../tokens/principal.ts';
import type { VerifiedToken } from '../tokens/verify-token.ts';
import type { Scope } from '../contracts/types.ts';
import { isInNetworks } from './networks.ts';

/*
 * Looks up the bearer of a verified token in the project's policy. A customer's token has the project's issuer too, and
 * its bearer may also be a user of the project itself, so the token's scope must match the policy's.
 */

interface TokenUse {
  /** The policy's scope. */
  readonly scope: Scope;
  /** The service's time, in milliseconds since 1970. */
  readonly now: number;
  readonly address: string | undefined;
}

/** Whether the token's credential has certainly ended. */
function hasEnded(policy: Policy, { claims, kid }: VerifiedToken): boolean {
  return policy.ended.kids.has(kid) || policy.ended.jti.has(String(claims.jti));
}

function isOfScope({ claims }: VerifiedToken, scope: Scope): boolean {
  const ofToken = scopeOfClaims(claims);
  return ofToken !== undefined && isOfProject(ofToken, scope);
}

/** The state of a token's credential: ended for certain, live when the policy was made, or unknown. */
export function stateOf(
  policy: Policy,
  token: VerifiedToken,
  { now, scope }: Pick<TokenUse, 'now' | 'scope'>,
): 'ended' | 'live' | 'unknown' {
  const { iss, sub = '', jti = '', iat = 0 } = token.claims;
  if (iss !== policy.iss) return 'unknown';
  if (hasEnded(policy, token)) return 'ended';
  if (!isOfScope(token, scope)) return 'unknown';
  if (policy.ended.issuedBefore !== null && iat < policy.ended.issuedBefore) return 'unknown';
  const key = policy.keys.get(jti);
  const isListed =
    token.claims['type'] === 'ApiKey'
      ? key !== undefined && (key.expiresAt === null || key.expiresAt > now)
      : policy.apps.has(String(token.claims['client_id'])) && policy.users.has(sub);
  return isListed ? 'live' : 'unknown';
}

/**
 * The subject of a token. `ended` and `expired` mean that the token is not valid. Any other string says why the service
 * must decide.
 */
export function subjectOfToken(
  policy: Policy,
  token: VerifiedToken,
  { now, address, scope }: TokenUse,
): Subject | FallbackReason | 'ended' | 'expired' {
  const { claims } = token;
  const { iss, sub = '', jti = '', iat = 0, exp = 0 } = claims;
  if (iss !== policy.iss) return 'token';
  if (hasEnded(policy, token)) return 'ended';
  if (exp * 1000 <= now) return 'expired';
  if (!isOfScope(token, scope)) return 'token';
  // The policy lists a limited number of ended credentials, and may lack some that ended after this token was issued.
  if (policy.ended.issuedBefore !== null && iat < policy.ended.issuedBefore) return 'token';
  if (claims['type'] === 'ApiKey') {
    const key = policy.keys.get(jti);
    // The key is newer than the policy, or has ended.
    if (!key || key.userId !== sub || (key.expiresAt !== null && key.expiresAt <= now)) return 'token';
    if (key.allowedCidrs.length > 0) {
      const isInside = address === undefined ? undefined : isInNetworks(key.allowedCidrs, address);
      if (isInside === undefined) return 'address';
      if (!isInside) return 'ended';
    }
    return { apiKeyId: jti };
  }
  const clientId = String(claims['client_id']);
  const app = policy.apps.get(clientId);
  // The policy does not list the app, or the app's scopes may have been narrowed after the token was issued.
  if (!app || iat <= app.updatedAt) return 'token';
  const scopes = claims['scopes'];
  return { userId: sub, clientId, ...(Array.isArray(scopes) ? { scopes: scopes.map(String) } : {}) };
}
