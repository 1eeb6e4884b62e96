import { readFileSync } from 'node:fs';
import { generateSigningKeyPair, type KeyPairStock, type SigningKeyPair } from '../../src/crypto/rsa.ts';

/**
 * Real key pairs, made once for the whole run: making a pair takes a tenth of a second, and tests make hundreds of
 * projects. A pair is never given out twice in one app; those that an app needs beyond are made for the next ones too.
 */
const known = new Map<string, Promise<SigningKeyPair>[]>();

export function keyPairsFrom(path: string): KeyPairStock {
  const ready = known.get(path) ?? read(path);
  known.set(path, ready);
  let given = 0;
  return {
    take: () => (ready[given++] ??= generateSigningKeyPair(2048)),
    close: () => undefined,
  };
}

const read = (path: string): Promise<SigningKeyPair>[] =>
  (JSON.parse(readFileSync(path, 'utf8')) as SigningKeyPair[]).map((pair) => Promise.resolve(pair));
