import { readFileSync } from 'node:fs';
import { generateSigningKeyPair, type KeyPairStock, type SigningKeyPair } from '../../src/crypto/keys/rsa.ts';

/**
 * Real key pairs, created once for the whole run: creating a pair takes a tenth of a second, and tests create hundreds
 * of projects. An app never gets a pair twice; pairs that an app needs beyond those are kept for the next apps.
 */
const existing = new Map<string, Promise<SigningKeyPair>[]>();

export function keyPairsFrom(path: string): KeyPairStock {
  const ready = existing.get(path) ?? read(path);
  existing.set(path, ready);
  let given = 0;
  return {
    take: () => (ready[given++] ??= generateSigningKeyPair(2048)),
    close: () => undefined,
  };
}

const read = (path: string): Promise<SigningKeyPair>[] =>
  (JSON.parse(readFileSync(path, 'utf8')) as SigningKeyPair[]).map((pair) => Promise.resolve(pair));
