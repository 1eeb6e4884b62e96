import { createHmac } from 'node:crypto';
import type { Clock } from '../../kernel/ports.ts';
import { readImportedHash } from './imported-hash.ts';

/**
 * Chooses which hash a sign-in imitates if the address has no password. Imported hashes take longer or shorter to
 * verify than hashes of this service, so a fixed duration would show that an address has no user. Addresses without a
 * hash imitate the different kinds of hashes in the same proportions as they are stored. Every process chooses the same
 * kind for an address.
 */
export type HashImitation = (
  address: string,
  /** Reads a sample of the stored hashes. */
  readSample: () => Promise<readonly string[]>,
) => Promise<string | null>;

const SAMPLE_AGE_MS = 60_000;

export function createHashImitation(key: Buffer, clock: Clock): HashImitation {
  let sample: Promise<readonly string[]> | undefined;
  let readAt = 0;
  return async (address, readSample) => {
    const now = clock.now().getTime();
    if (!sample || Math.abs(now - readAt) > SAMPLE_AGE_MS) {
      readAt = now;
      const newer = readSample().then(byCost);
      newer.then(
        () => (sample = newer),
        () => (sample = undefined),
      );
      // Later samples are read in the background: a sign-in that waited for one would show that its address has no
      // hash.
      sample ??= newer;
    }
    const hashes = await sample;
    const position = createHmac('sha256', key).update(address).digest().readUInt32BE() / 2 ** 32;
    return hashes[Math.floor(position * hashes.length)] ?? null;
  };
}

/** Sorts the hashes by cost, so that an address keeps its kind of hash while the proportions stay about the same. */
const byCost = (hashes: readonly string[]): readonly string[] =>
  hashes
    .map((hash) => ({ hash, cost: readImportedHash(hash)?.cost ?? '' }))
    .sort((a, b) => (a.cost < b.cost ? -1 : a.cost > b.cost ? 1 : 0))
    .map(({ hash }) => hash);
