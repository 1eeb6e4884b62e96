import { verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { createHash, pbkdf2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * A password hash that another service created, imported with its users. The readers accept the text that such services
 * store: bcrypt, argon2, scrypt and PBKDF2 in the PHC format or in those of passlib or Django, PBKDF2 also with a
 * hexadecimal digest.
 */
export interface ImportedHash {
  /** Equal for two hashes that take the same time and memory to verify. */
  readonly cost: string;
  readonly verify: (password: string) => Promise<boolean>;
  /** Creates a hash that takes the same time and memory to verify, and that no password matches. */
  readonly imitate: () => string;
}

/** Limits so that verifying one hash takes at most 128 MiB of memory and about half a second. */
const limits = {
  bcryptCost: [4, 13],
  argonMemoryKib: [8, 131_072],
  argonTime: [1, 10],
  /** Memory × time. */
  argonWork: [8, 393_216],
  argonLanes: [1, 8],
  scryptLogN: [10, 17],
  scryptBlock: [1, 16],
  scryptLanes: [1, 8],
  scryptBytes: [0, 134_217_728],
  /** N × r × p. */
  scryptWork: [0, 1_048_576],
  pbkdf2Iterations: [1000, 1_500_000],
  /** Iterations × blocks of the digest. */
  pbkdf2Work: [1000, 1_500_000],
  saltBytes: [4, 64],
  digestBytes: [16, 64],
} as const;

const isWithin = (value: number, [min, max]: readonly [number, number]): boolean =>
  Number.isInteger(value) && value >= min && value <= max;

type Reader = (parts: readonly string[], text: string) => ImportedHash | undefined;

const derivePbkdf2 = promisify(pbkdf2);
const deriveScrypt = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Reads standard Base64, with or without padding, and passlib's variant, which has `.` instead of `+`. */
const fromBase64 = (text: string): Buffer | undefined =>
  /^[A-Za-z0-9+/.]{1,128}={0,2}$/.test(text) ? Buffer.from(text.replaceAll('.', '+'), 'base64') : undefined;

const fromHex = (text: string): Buffer | undefined =>
  /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : undefined;

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
const base64 = (bytes: number): string => unpadded(randomBytes(bytes));

/** Reads `ln=15,r=8,p=1` as numbers; undefined unless the text has exactly these names in this order. */
function numbersOf(text: string, names: readonly string[]): readonly number[] | undefined {
  const pairs = text.split(',').map((pair) => pair.split('='));
  const fits = pairs.every(([name, value = ''], at) => name === names[at] && /^\d{1,9}$/.test(value));
  return fits && pairs.length === names.length ? pairs.map(([, value]) => Number(value)) : undefined;
}

const bcrypt: Reader = ([, , cost = '', rest = '', more], text) => {
  if (more !== undefined || !/^\d\d$/.test(cost) || !/^[./A-Za-z0-9]{53}$/.test(rest)) return undefined;
  if (!isWithin(Number(cost), limits.bcryptCost)) return undefined;
  return {
    cost: `bcrypt ${cost}`,
    verify: (password) => verifyBcrypt(password, text),
    imitate: () => `$2b$${cost}$${bcryptPart(16, 22)}${bcryptPart(23, 31)}`,
  };
};

/** Random text in bcrypt's alphabet. The last character has spare bits, which are zero in `.`. */
const bcryptPart = (bytes: number, length: number): string =>
  `${base64(bytes)
    .replaceAll('+', '.')
    .slice(0, length - 1)}.`;

const argon2: Reader = ([, variant = '', version = '', costs = '', saltText = '', digestText = '', more]) => {
  const [memory = 0, time = 0, lanes = 0] = numbersOf(costs, ['m', 't', 'p']) ?? [];
  const pair = sizedPair(fromBase64(saltText), fromBase64(digestText));
  const isBounded =
    isWithin(memory, limits.argonMemoryKib) &&
    isWithin(time, limits.argonTime) &&
    isWithin(lanes, limits.argonLanes) &&
    isWithin(memory * time, limits.argonWork) &&
    memory >= 8 * lanes;
  if (version !== 'v=19' || more !== undefined || !pair || !isBounded) return undefined;
  const head = `$${variant}$${version}$${costs}`;
  // The library does not accept padding.
  const text = `${head}$${unpadded(pair.salt)}$${unpadded(pair.digest)}`;
  return {
    cost: `${variant} ${costs}`,
    verify: (password) => verifyArgon2(text, password),
    imitate: () => `${head}$${base64(16)}$${base64(32)}`,
  };
};

const scryptHash: Reader = ([, , costs = '', saltText = '', digestText = '', more]) => {
  const [logN = 0, block = 0, lanes = 0] = numbersOf(costs, ['ln', 'r', 'p']) ?? [];
  const pair = sizedPair(fromBase64(saltText), fromBase64(digestText));
  return more === undefined ? readScrypt([logN, block, lanes], pair) : undefined;
};

function readScrypt(
  [logN, block, lanes]: readonly [number, number, number],
  pair: SaltAndDigest | undefined,
): ImportedHash | undefined {
  const isBounded =
    isWithin(logN, limits.scryptLogN) &&
    isWithin(block, limits.scryptBlock) &&
    isWithin(lanes, limits.scryptLanes) &&
    isWithin(128 * 2 ** logN * block, limits.scryptBytes) &&
    isWithin(2 ** logN * block * lanes, limits.scryptWork);
  if (!isBounded || !pair) return undefined;
  const { salt, digest } = pair;
  const costs = `ln=${logN},r=${block},p=${lanes}`;
  // Node counts some memory in addition to the blocks, so the maximum is doubled.
  const options = { N: 2 ** logN, r: block, p: lanes, maxmem: 2 * limits.scryptBytes[1] };
  return {
    cost: `scrypt ${costs}`,
    verify: async (password) =>
      timingSafeEqual(await deriveScrypt(password, salt, digest.length, options), digest),
    imitate: () => `$scrypt$${costs}$${base64(salt.length)}$${base64(digest.length)}`,
  };
}

/** Reads `$pbkdf2-sha256$i=600000$…` and passlib's `$pbkdf2-sha256$29000$…`. Without a named digest it is SHA-1. */
const pbkdf2Hash: Reader = ([, name = '', costs = '', saltText = '', digestText = '', more]) => {
  const [, iterations] = /^(?:i=)?(\d{1,8})$/.exec(costs) ?? [];
  const pair = sizedPair(fromBase64(saltText), fromBase64(digestText));
  if (more !== undefined || iterations === undefined || !pair) return undefined;
  return readPbkdf2(name.slice('pbkdf2-'.length) || 'sha1', Number(iterations), pair);
};

/**
 * Reads Django's `pbkdf2_sha256$600000$salt$…`, in which the salt is plain text. Some other services write the digest
 * in hexadecimal.
 */
const djangoPbkdf2: Reader = ([name = '', costs = '', salt = '', digestText = '', more]) => {
  const isHex = digestText.length === 2 * (digestBytes[name.slice('pbkdf2_'.length)] ?? 0);
  const digest = isHex ? fromHex(digestText) : fromBase64(digestText);
  const pair = sizedPair(Buffer.from(salt), digest);
  if (more !== undefined || !/^\d{1,8}$/.test(costs) || !pair) return undefined;
  return readPbkdf2(name.slice('pbkdf2_'.length), Number(costs), pair);
};

/** Reads `scrypt$16384$salt$8$5$…`: N, salt as plain text, r and p. */
const djangoScrypt: Reader = ([, n = '', salt = '', block = '', lanes = '', digestText = '', more]) => {
  if (more !== undefined || ![n, block, lanes].every((text) => /^\d{1,9}$/.test(text))) return undefined;
  const pair = sizedPair(Buffer.from(salt), fromBase64(digestText));
  // If N is not a power of two, the logarithm is not a whole number, and the limits reject it.
  return readScrypt([Math.log2(Number(n)), Number(block), Number(lanes)], pair);
};

/** Reads a hash in the usual format with Django's own name in front: `bcrypt$$2b$12$…`, `argon2$argon2id$v=19$…`. */
const prefixed =
  (skipped: number): Reader =>
  (parts) =>
    readImportedHash(['', ...parts.slice(skipped)].join('$'));

/** bcrypt reads only 72 bytes, so this variant of Django hashes the password first. */
const djangoBcryptSha256: Reader = (parts, text) => {
  const read = prefixed(2)(parts, text);
  return (
    read && {
      ...read,
      verify: (password) => read.verify(createHash('sha256').update(password).digest('hex')),
    }
  );
};

interface SaltAndDigest {
  readonly salt: Buffer;
  readonly digest: Buffer;
}

const digestBytes: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha512: 64 };

function readPbkdf2(
  algorithm: string,
  iterations: number,
  { salt, digest }: SaltAndDigest,
): ImportedHash | undefined {
  const blocks = Math.ceil(digest.length / (digestBytes[algorithm] ?? 1));
  if (!isWithin(iterations, limits.pbkdf2Iterations) || !isWithin(iterations * blocks, limits.pbkdf2Work))
    return undefined;
  return {
    cost: `${algorithm} ${iterations} ${digest.length}`,
    verify: async (password) =>
      timingSafeEqual(await derivePbkdf2(password, salt, iterations, digest.length, algorithm), digest),
    imitate: () => `$pbkdf2-${algorithm}$i=${iterations}$${base64(salt.length)}$${base64(digest.length)}`,
  };
}

const sizedPair = (salt?: Buffer, digest?: Buffer): SaltAndDigest | undefined =>
  salt && digest && isWithin(salt.length, limits.saltBytes) && isWithin(digest.length, limits.digestBytes)
    ? { salt, digest }
    : undefined;

/**
 * Readers by the name after the first `$`. bcrypt's `2x` is missing, because it marks hashes of a faulty
 * implementation.
 */
const readers: Readonly<Record<string, Reader>> = {
  '2a': bcrypt,
  '2b': bcrypt,
  '2y': bcrypt,
  argon2id: argon2,
  argon2i: argon2,
  argon2d: argon2,
  scrypt: scryptHash,
  pbkdf2: pbkdf2Hash,
  'pbkdf2-sha1': pbkdf2Hash,
  'pbkdf2-sha256': pbkdf2Hash,
  'pbkdf2-sha512': pbkdf2Hash,
};

/** Readers by the name at the beginning of the text. */
const readersOfDjango: Readonly<Record<string, Reader>> = {
  pbkdf2_sha1: djangoPbkdf2,
  pbkdf2_sha256: djangoPbkdf2,
  pbkdf2_sha512: djangoPbkdf2,
  scrypt: djangoScrypt,
  argon2: prefixed(1),
  bcrypt: prefixed(2),
  bcrypt_sha256: djangoBcryptSha256,
};

/** The maximum length of a hash as text. */
export const MAX_HASH_LENGTH = 512;

/** Reads a hash; undefined if the text is not a supported hash, or its costs exceed the limits. */
export function readImportedHash(text: string): ImportedHash | undefined {
  if (text.length > MAX_HASH_LENGTH) return undefined;
  const parts = text.split('$');
  const [first = '', second = ''] = parts;
  const [named, name] = first === '' ? [readers, second] : [readersOfDjango, first];
  return Object.hasOwn(named, name) ? named[name]?.(parts, text) : undefined;
}
