import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { signingKeyPair, type KeyPairStock, type SigningKeyPair } from '../../../src/crypto/keys/rsa.ts';

/**
 * Real RSA key pairs, without the time it takes to find primes: a run finds its primes once, and any two of them make a
 * key pair. Such keys would be insecure in production, because two keys that share a prime reveal each other.
 */
const existing = new Map<string, readonly (() => SigningKeyPair)[]>();

export function keyPairsFrom(path: string): KeyPairStock {
  const ready = existing.get(path) ?? pairsOf(JSON.parse(readFileSync(path, 'utf8')) as string[]);
  existing.set(path, ready);
  let next = 0;
  return {
    async take() {
      const pair = ready[next++];
      if (!pair) throw new Error(`a service in tests has ${ready.length} key pairs at most`);
      return pair();
    },
    close: () => undefined,
  };
}

/** An app gets each pair at most once; different apps get the same pairs. */
function pairsOf(primes: readonly string[]): (() => SigningKeyPair)[] {
  const numbers = primes.map((prime) => BigInt(prime)).sort((a, b) => (a < b ? 1 : -1));
  return numbers.flatMap((p, index) =>
    numbers.slice(index + 1).map((q) => {
      let pair: SigningKeyPair | undefined;
      return () => (pair ??= pairOf(p, q));
    }),
  );
}

const EXPONENT = 0x10001n;

/** RFC 8017 §3.2, with the members of RFC 7518 §6.3.2. */
function pairOf(p: bigint, q: bigint): SigningKeyPair {
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const members = Object.entries(numbers).map(([name, number]) => [name, base64urlOf(number)] as const);
  const key = { kty: 'RSA', ...Object.fromEntries(members) };
  const privateKey = createPrivateKey({ key, format: 'jwk' });
  return signingKeyPair(createPublicKey(privateKey), privateKey);
}

/** The modular inverse, by the extended Euclidean algorithm. */
function inverse(number: bigint, modulus: bigint): bigint {
  let [rest, next] = [modulus, number % modulus];
  let [factor, nextFactor] = [0n, 1n];
  while (next > 0n) {
    const quotient = rest / next;
    [rest, next] = [next, rest - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return factor < 0n ? factor + modulus : factor;
}

function base64urlOf(number: bigint): string {
  const hex = number.toString(16);
  return Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex').toString('base64url');
}
