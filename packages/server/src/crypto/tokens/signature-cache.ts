import type { signJwt } from './jwt.ts';

/** Signs claims. The result depends only on key, claims and type. */
export type SignJwt = typeof signJwt;

/**
 * Caches signatures of equal claims for one second (decision 0023). RS256 is deterministic (RFC 8017 §8.2) and claims
 * contain whole seconds, so repeated exchanges of one API key within a second produce identical tokens anyway. The
 * signature is the most expensive part of an exchange.
 *
 * The first signature of a later second empties the cache.
 *
 * @param secondNow returns the current second of a monotonic clock
 */
export function createSignatureCache(
  sign: SignJwt,
  secondNow = (): number => Math.floor(performance.now() / 1000),
): SignJwt {
  let second = NaN;
  let tokens = new Map<string, Promise<string>>();
  return (privateKey, kid, claims, typ) => {
    const now = secondNow();
    if (now !== second) {
      second = now;
      tokens = new Map();
    }
    const cacheKey = `${kid} ${typ} ${JSON.stringify(claims)}`;
    const cached = tokens.get(cacheKey);
    if (cached) return cached;
    const token = sign(privateKey, kid, claims, typ);
    const tokensOfSecond = tokens;
    tokensOfSecond.set(cacheKey, token);
    token.catch(() => tokensOfSecond.delete(cacheKey));
    return token;
  };
}
