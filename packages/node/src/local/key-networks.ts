import type { Policy } from '@doorward/decision';
import { decodeJwt } from 'jose';
import { isInNetworks } from './networks.ts';

/**
 * Whether the token belongs to a key whose networks certainly exclude the address. The signature is not verified first,
 * because that may need the service. This is safe: a forged token is merely refused earlier, and a genuine token has
 * true claims.
 */
export function isExcluded(policy: Policy, token: string, address: string): boolean {
  const { iss, jti } = unprovenClaims(token);
  const key = iss === policy.iss && jti !== undefined ? policy.keys.get(jti) : undefined;
  if (!key || key.allowedCidrs.length === 0) return false;
  return isInNetworks(key.allowedCidrs, address) === false;
}

function unprovenClaims(token: string): { readonly iss?: string; readonly jti?: string } {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}
