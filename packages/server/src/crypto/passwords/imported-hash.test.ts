import { hash as argon2 } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { readImportedHash } from './imported-hash.ts';

/** Hashes of other services. Those written out here were made by the implementations in Python's standard library. */
const password = 'three lanterns';
const kinds: Record<string, string> = {
  'PBKDF2 in the PHC format':
    '$pbkdf2-sha256$i=1000$MDEyMzQ1Njc4OWFiY2RlZg$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo',
  'PBKDF2 of passlib':
    '$pbkdf2-sha512$1000$MDEyMzQ1Njc4OWFiY2RlZg$NiFQliygAeXxJoBzGkVRICWQo4.LIy3Wdd6Sebil.m.NKnceU2edN5sH/fNXCPGdIRSb2ptOlj2.MOdcxA3fGQ',
  'PBKDF2 of passlib with SHA-1': '$pbkdf2$1000$MDEyMzQ1Njc4OWFiY2RlZg$Ht2z5vTEOR/0eydlPCYF7zoieHk',
  'PBKDF2 of Django': 'pbkdf2_sha256$1000$saltysalt$p5x8d8Mu8wjnvVi7ACD+pTzcAxHsRINSrb1YvYPh+zA=',
  'PBKDF2 with a hexadecimal digest':
    'pbkdf2_sha256$10000$abcdefghij123456$2d4a2c8b72b7824bf709ee23e63ac02593a83e89c7527eb2884ee04aa029b46d',
  'scrypt of Django':
    'scrypt$1024$abcdefghij123456$8$5$DF9kz+vP+fS7ljt1BKEUJLgmlLjr0C9UfeJfpxNNOSN6hcRC/lH+knDUpzsSami8oJPiR/9ThLVmYaIby5r+KQ==',
  scrypt: '$scrypt$ln=10,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$RiIDdNGoXnP4qxCfiU1VfVsV2gCT0Bx9g87I9iXCx/8',
};

beforeAll(async () => {
  for (const version of ['2a', '2b', '2y'] as const)
    kinds[`bcrypt ${version}`] = await bcrypt(password, { cost: 4, version });
  for (const [algorithm, name] of ['argon2d', 'argon2i', 'argon2id'].entries())
    kinds[name] = await argon2(password, { algorithm, memoryCost: 64, timeCost: 1, parallelism: 1 });
  kinds['bcrypt of Django'] = `bcrypt$${kinds['bcrypt 2b']}`;
  kinds['argon2 of Django'] = `argon2${kinds['argon2id']}`;
  const digest = createHash('sha256').update(password).digest('hex');
  kinds['bcrypt of Django, of a digest'] = `bcrypt_sha256$${await bcrypt(digest, { cost: 4 })}`;
  // As Keycloak stores it: 16 and 32 bytes leave room for padding.
  kinds['argon2id with padding'] = kinds['argon2id']?.replace(/\$([^$]*)\$([^$]*)$/, '$$$1==$$$2=') ?? '';
});

describe('a hash of another service', () => {
  it('matches its password and no other, and one that imitates it matches nothing', async () => {
    expect(Object.keys(kinds)).toHaveLength(17);
    for (const [name, text] of Object.entries(kinds)) {
      const read = readImportedHash(text);
      expect(await read?.verify(password), name).toBe(true);
      expect(await read?.verify(`${password}s`), name).toBe(false);
      expect(await read?.verify(''), name).toBe(false);
      const imitation = readImportedHash(read?.imitate() ?? '');
      expect(imitation?.cost, name).toBe(read?.cost);
      expect(await imitation?.verify(password), name).toBe(false);
      expect(read?.imitate(), name).not.toBe(read?.imitate());
    }
  });

  it('is refused when verifying it would cost too much', () => {
    const tail = '$MDEyMzQ1Njc4OWFiY2RlZg$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo';
    const bcryptTail = '$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
    for (const costs of [
      `$2b$14${bcryptTail}`,
      `$2b$31${bcryptTail}`,
      `$argon2id$v=19$m=131073,t=1,p=1${tail}`,
      `$argon2id$v=19$m=4294967295,t=1,p=1${tail}`,
      `$argon2id$v=19$m=64,t=11,p=1${tail}`,
      `$argon2id$v=19$m=32,t=1,p=8${tail}`,
      `$scrypt$ln=18,r=8,p=1${tail}`,
      `$scrypt$ln=17,r=16,p=1${tail}`,
      `$scrypt$ln=10,r=8,p=9${tail}`,
      'scrypt$262144$abcdefghij123456$8$1$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo',
      'scrypt$1000000$abcdefghij123456$8$1$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo',
      `$argon2id$v=19$m=131072,t=4,p=1${tail}`,
      `$scrypt$ln=17,r=8,p=2${tail}`,
      `$pbkdf2-sha1$i=800000${tail}`,
      `$pbkdf2-sha256$i=1500001${tail}`,
      `$pbkdf2-sha256$i=999${tail}`,
    ])
      expect(readImportedHash(costs), costs).toBeUndefined();
  });

  it.each([
    '',
    '$',
    '$$$$',
    'password',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '$1$salt$qJH7.N4xYta3aEG/dfqo/0',
    '$2x$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
    '$2b$10$tooshort',
    '$2b$+4$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
    '$constructor$a$b$c',
    '__proto__$a$b$c',
    '$scrypt$ln=10,r=8$MDEyMzQ1Njc4OWFiY2RlZg$RiIDdNGoXnP4qxCfiU1VfVsV2gCT0Bx9g87I9iXCx/8',
    '$scrypt$r=8,ln=10,p=1$MDEyMzQ1Njc4OWFiY2RlZg$RiIDdNGoXnP4qxCfiU1VfVsV2gCT0Bx9g87I9iXCx/8',
    '$pbkdf2-sha256$i=1000$MDEyMzQ1Njc4OWFiY2RlZg$c2hvcnQ',
    `pbkdf2_sha256$1000$saltysalt$${'z'.repeat(64)}`,
    'bcrypt$bcrypt$bcrypt',
    'argon2$2b$04$short',
    'scrypt$15000$abcdefghij123456$8$1$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo',
    'scrypt$16384$abcdefghij123456$8$1$c2hvcnQ',
    '$pbkdf2-sha256$i=1000$MDEyMzQ1Njc4OWFiY2RlZg$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo$more',
    `$argon2id$v=16$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo`,
    `$2b$10$${'a'.repeat(600)}`,
    '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy$more',
    '2b$x$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy',
    'argon2id$zz$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo',
    'pbkdf2$pbkdf2-x$1000$MDEyMzQ1Njc4OWFiY2RlZg$FgMzay1ifjrGgQNjdUkByEx2nDQYGzHhhbz/fVi9tOo',
  ])('is not read from %j', (text) => {
    expect(readImportedHash(text)).toBeUndefined();
  });
});
