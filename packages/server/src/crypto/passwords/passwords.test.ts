import { hash } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { describe, expect, it } from 'vitest';
import { createPasswords } from './passwords.ts';

const made = (concurrency: number) =>
  createPasswords({ concurrency, imitationKey: Buffer.alloc(32), clock: { now: () => new Date() } });
const passwords = made(2);

describe('hash and verify', () => {
  it('use argon2id with 19 MiB, t=2, p=1 and a fresh salt', async () => {
    const [item, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
    expect(item).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(item).not.toBe(two);
    expect(await passwords.verify(item, 'correct horse')).toBe(true);
    expect(await passwords.verify(item, 'correct horsf')).toBe(false);
  });

  it('accept every Unicode form of the same password', async () => {
    const stored = await passwords.hash('Ｚürich-Å-ﬁne');
    expect(await passwords.verify(stored, 'Zu\u0308rich-\u212b-fine')).toBe(true);
  });

  it('never truncate a long password', async () => {
    const long = 'ü'.repeat(127);
    const stored = await passwords.hash(`${long}a`);
    expect(await passwords.verify(stored, `${long}b`)).toBe(false);
    expect(await passwords.verify(stored, `${long}a`)).toBe(true);
  });

  it('do the same work without a hash and answer false', async () => {
    const stored = await passwords.hash('correct horse');
    const timed = async (given: string | null) => {
      const start = performance.now();
      expect(await passwords.verify(given, 'wrong')).toBe(false);
      return performance.now() - start;
    };
    // The fastest of several alternating runs: load on the machine affects both equally.
    let [without, withHash] = [Infinity, Infinity];
    for (let i = 0; i < 15; i += 1) {
      without = Math.min(without, await timed(null));
      withHash = Math.min(withHash, await timed(stored));
    }
    const ratio = without / withHash;
    expect(ratio).toBeGreaterThan(0.4);
    expect(ratio).toBeLessThan(2.5);
  });
});

describe('a hash of another service', () => {
  it('matches the password as it was typed there, and in its normal form', async () => {
    for (const text of ['Å-ngstrom-lantern', '\u212b-ngstrom-lantern']) {
      const stored = await bcrypt(text, { cost: 4 });
      expect(await passwords.verify(stored, text)).toBe(true);
      expect(await passwords.verify(stored, 'Angstrom-lantern')).toBe(false);
    }
    expect(await passwords.verify(await bcrypt('Å-ngstrom', { cost: 4 }), '\u212b-ngstrom')).toBe(true);
  });

  it('costs the same when it is imitated', async () => {
    const stored = await bcrypt('correct horse', { cost: 11 });
    const timed = async (given: string | null, imitated?: string) => {
      const start = performance.now();
      expect(await passwords.verify(given, 'wrong', imitated)).toBe(false);
      return performance.now() - start;
    };
    let [imitated, real, own] = [Infinity, Infinity, Infinity];
    for (let i = 0; i < 8; i += 1) {
      imitated = Math.min(imitated, await timed(null, stored));
      real = Math.min(real, await timed(stored));
      own = Math.min(own, await timed(null));
    }
    expect(imitated / real).toBeGreaterThan(0.4);
    expect(imitated / real).toBeLessThan(2.5);
    expect(own / real).toBeLessThan(0.4);
  });
});

describe('needsRehash', () => {
  it('is for weaker parameters and other algorithms only', async () => {
    const hashed = (cost: object) => hash('x', { memoryCost: 19_456, timeCost: 2, parallelism: 1, ...cost });
    expect(passwords.needsRehash(await passwords.hash('x'))).toBe(false);
    expect(passwords.needsRehash(await hashed({ timeCost: 3 }))).toBe(false);
    expect(passwords.needsRehash(await hashed({ memoryCost: 65_536 }))).toBe(false);
    expect(passwords.needsRehash(await hashed({ memoryCost: 19_455 }))).toBe(true);
    expect(passwords.needsRehash(await hashed({ timeCost: 1 }))).toBe(true);
    expect(passwords.needsRehash(await hashed({ algorithm: 1 }))).toBe(true);
    expect(passwords.needsRehash('$2b$10$bcrypt')).toBe(true);
  });
});

describe('the queue', () => {
  it('serves all waiting calls', async () => {
    const small = made(1);
    const results = await Promise.all(Array.from({ length: 5 }, () => small.verify(null, 'x')));
    expect(results).toEqual([false, false, false, false, false]);
  });

  it('continues after a failure', async () => {
    const small = made(1);
    await expect(small.verify('not a hash', 'x')).rejects.toThrow();
    expect(await small.verify(null, 'x')).toBe(false);
  });
});
