import { readFileSync } from 'node:fs';
import { generateSigningKeyPair, type KeyPairStock, type SigningKeyPair } from '../../src/crypto/rsa.ts';

/**
 * Real key pairs, made once for the whole run: making a pair takes a tenth of a second, and tests make hundreds of
 * projects. A pair is never given out twice in one app; when all are used, new ones are made.
 */
export function keyPairsFrom(path: string): KeyPairStock {
  const ready = JSON.parse(readFileSync(path, 'utf8')) as SigningKeyPair[];
  return {
    take: async () => ready.pop() ?? generateSigningKeyPair(2048),
    close: () => undefined,
  };
}
