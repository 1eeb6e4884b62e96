import type { signJwt } from './jwt.ts';

/** The token is a function of key and claims alone. */
export type SignJwt = typeof signJwt;

/**
 * Signs the same claims once in a second, however often they are asked for. RS256 gives one signature for one text
 * (RFC 8017 §8.2), and times in claims are whole seconds: a key that many processes exchange at once is given, bit for
 * bit, one token either way, and the signature is the dearest part of it (decision 0023).
 *
 * What is remembered is forgotten with the first signature of a later second.
 *
 * @param secondNow on any clock that does not go back
 */
export function createSignedOnce(
  sign: SignJwt,
  secondNow = (): number => Math.floor(performance.now() / 1000),
): SignJwt {
  let second = NaN;
  let tokens = new Map<string, Promise<string>>();
  return (privateKey, kid, claims) => {
    const now = secondNow();
    if (now !== second) {
      second = now;
      tokens = new Map();
    }
    const text = `${kid} ${JSON.stringify(claims)}`;
    const known = tokens.get(text);
    if (known) return known;
    const token = sign(privateKey, kid, claims);
    const signed = tokens;
    signed.set(text, token);
    token.catch(() => signed.delete(text));
    return token;
  };
}
