import { describe, expect, it } from 'vitest';
import { createHashImitation } from './hash-imitation.ts';
import { readImportedHash } from './imported-hash.ts';

const bcrypt = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const own = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
let time = Date.parse('2026-01-01T00:00:00Z');
const clock = { now: () => new Date(time) };
const key = Buffer.alloc(32, 1);
const addresses = Array.from({ length: 1000 }, (_, at) => `user${at}@example.com`);

describe('an address without a hash', () => {
  it('imitates the kinds of hashes in the shares that the users have', async () => {
    const imitated = createHashImitation(key, clock);
    const stored = [bcrypt, own, own, bcrypt, own, own, own, own];
    const chosen = await Promise.all(addresses.map((address) => imitated(address, async () => stored)));
    const share = chosen.filter((hash) => hash === bcrypt).length / addresses.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
  });

  it('imitates the same kind in every process, whatever the order of the sample', async () => {
    const [a, b] = [createHashImitation(key, clock), createHashImitation(key, clock)];
    for (const address of addresses.slice(0, 50)) {
      const first = await a(address, async () => [bcrypt, own]);
      expect(await b(address, async () => [own, bcrypt])).toBe(first);
    }
  });

  it('reads the hashes once a minute, and again after a failure', async () => {
    const imitated = createHashImitation(key, clock);
    let reads = 0;
    const read = async () => {
      reads += 1;
      if (reads === 1) throw new Error('no database');
      return [own];
    };
    await expect(imitated('a@example.com', read)).rejects.toThrow('no database');
    await Promise.all(addresses.map((address) => imitated(address, read)));
    expect(reads).toBe(2);
    time += 61_000;
    expect(readImportedHash((await imitated('a@example.com', read)) ?? '')?.cost).toBe(
      'argon2id m=19456,t=2,p=1',
    );
    expect(reads).toBe(3);
  });

  it('imitates nothing where there is no hash', async () => {
    expect(await createHashImitation(key, clock)('a@example.com', async () => [])).toBeNull();
  });
});
