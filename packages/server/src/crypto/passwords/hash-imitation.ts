import { createHmac } from 'node:crypto';
import type { Clock } from '../../kernel/ports.ts';
import { readImportedHash } from './imported-hash.ts';

/**
 * Which hash a sign-in imitates for an address that has none. Imported hashes take longer or shorter to verify than those
 * of this service, so an address that always took as long as the latter would not look like that of a user. Unknown addresses imitate the
 * kinds of hashes in the same shares as the users have them; which one is the same for an address in every process.
 */
export type HashImitation = (
  address: string,
  /** Some stored hashes. */
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
      // Later ones are read beside the sign-ins: one that waited would show that its address has no hash.
      sample ??= newer;
    }
    const hashes = await sample;
    const position = createHmac('sha256', key).update(address).digest().readUInt32BE() / 2 ** 32;
    return hashes[Math.floor(position * hashes.length)] ?? null;
  };
}

/** Sorted, so that an address keeps its kind of hash as long as the shares stay about the same. */
const byCost = (hashes: readonly string[]): readonly string[] =>
  hashes
    .map((hash) => ({ hash, cost: readImportedHash(hash)?.cost ?? '' }))
    .sort((a, b) => (a.cost < b.cost ? -1 : a.cost > b.cost ? 1 : 0))
    .map(({ hash }) => hash);
