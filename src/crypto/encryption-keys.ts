/**
 * Where the encryption keys come from: the configuration, or outside production a file that the first start writes,
 * so that development needs no set-up and still survives a restart.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config.ts';
import type { Config } from '../config.ts';
import type { EncryptionKeys } from './kek.ts';

/**
 * The configured keys, or the one of `<DATA_DIR>/encryption.key` (mode 0600), which is made when it is missing.
 * @throws ConfigError in production without ENCRYPTION_KEY, and when the file holds no key.
 */
export async function resolveEncryptionKeys(
  config: Pick<Config, 'production' | 'dataDir' | 'encryption'>,
): Promise<EncryptionKeys> {
  const { key, oldKeys } = config.encryption;
  if (key === undefined && config.production) {
    throw new ConfigError([
      'ENCRYPTION_KEY is required in production: make one with openssl rand -base64 32.',
    ]);
  }
  const current = key === undefined ? await generatedKey(config.dataDir) : Buffer.from(key, 'base64');
  const old = oldKeys.map((text) => Buffer.from(text, 'base64')).filter((other) => !other.equals(current));
  return { current, old };
}

async function generatedKey(directory: string): Promise<Buffer> {
  const path = join(directory, 'encryption.key');
  const text = (await readIfThere(path)) ?? (await create(directory, path));
  const key = Buffer.from(text.trim(), 'base64');
  // Never replaced: everything sealed so far would be lost without a word.
  if (key.length !== 32) {
    throw new ConfigError([
      `ENCRYPTION_KEY is unset and ${path} holds no key: restore the file or set the key.`,
    ]);
  }
  return key;
}

/**
 * Written aside and linked into place: the file appears whole or not at all, and of two processes that start
 * together the first decides while the other reads what it wrote.
 */
async function create(directory: string, path: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(aside, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('base64')}\n`);
    await file.sync();
    await link(aside, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await file.close();
    await unlink(aside);
  }
  return readFile(path, 'utf8');
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
