/**
 * Resolves the encryption keys: from the configuration, or outside production from a file that the first start creates,
 * so that a development instance needs no setup and survives a restart.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { fileFault } from '../../db/connection/data-lock.ts';
import type { EncryptionKeys } from './kek.ts';

/**
 * Returns the configured keys, or the key in `<DATA_DIR>/encryption.key` (mode 0600), which is created if it is
 * missing.
 *
 * @throws ConfigError in production without ENCRYPTION_KEY, or if the file contains no valid key;
 * DataDirectoryUnusable if the file cannot be read or created
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
  const current = key === undefined ? await keyInFile(config.dataDir) : Buffer.from(key, 'base64');
  const old = oldKeys.map((text) => Buffer.from(text, 'base64')).filter((other) => !other.equals(current));
  return { current, old };
}

const keyInFile = (directory: string): Promise<Buffer> =>
  readOrCreateKey(directory).catch((error: unknown) => {
    throw fileFault(error, 'DATA_DIR', directory);
  });

async function readOrCreateKey(directory: string): Promise<Buffer> {
  const path = join(directory, 'encryption.key');
  const text = (await readIfThere(path)) ?? (await createKeyFile(directory, path));
  const key = Buffer.from(text.trim(), 'base64');
  // Never replaces an invalid file, because all sealed data would become unreadable.
  if (key.length !== 32) {
    throw new ConfigError([
      `ENCRYPTION_KEY is unset and ${path} holds no key: restore the file or set the key.`,
    ]);
  }
  return key;
}

/**
 * Creates the key file: writes a temporary file and links it into place, so that the file is complete when it appears.
 * If two processes start together, the first link wins, and the other process reads that key.
 */
async function createKeyFile(directory: string, path: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporaryPath = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(temporaryPath, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('base64')}\n`);
    await file.sync();
    await link(temporaryPath, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await file.close();
    await unlink(temporaryPath);
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
