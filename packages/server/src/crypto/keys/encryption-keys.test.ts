import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../config/config.ts';
import { resolveEncryptionKeys } from './encryption-keys.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'doorward-keys-'));
});
afterEach(() => rm(base, { recursive: true }));

const configured = (env: Record<string, string> = {}) => loadConfig({ DATA_DIR: join(base, 'data'), ...env });

describe('configured keys', () => {
  it('are decoded, the current key is not among the old keys, and no file is written', async () => {
    const [current, old] = [randomBytes(32), randomBytes(32)];
    const keys = await resolveEncryptionKeys(
      configured({
        ENCRYPTION_KEY: current.toString('base64'),
        ENCRYPTION_KEYS_OLD: [old, current].map((key) => key.toString('base64')).join(','),
      }),
    );
    expect(keys).toEqual({ current, old: [old] });
    expect(await readdir(base)).toEqual([]);
  });

  it('are never replaced by a generated one in production', async () => {
    const config = { ...configured(), production: true };
    await expect(resolveEncryptionKeys(config)).rejects.toThrow(ConfigError);
    expect(await readdir(base)).toEqual([]);
  });
});

describe('the generated key', () => {
  it('is written once, for the owner only, and read again', async () => {
    const config = configured();
    const { current } = await resolveEncryptionKeys(config);
    expect(current).toHaveLength(32);
    expect(await resolveEncryptionKeys(config)).toEqual({ current, old: [] });
    expect(await readdir(config.dataDir)).toEqual(['encryption.key']);
    expect((await stat(join(config.dataDir, 'encryption.key'))).mode & 0o777).toBe(0o600);
  });

  it('is the same for all processes that start at the same time', async () => {
    const config = configured();
    const all = await Promise.all(Array.from({ length: 20 }, () => resolveEncryptionKeys(config)));
    expect(new Set(all.map(({ current }) => current.toString('hex'))).size).toBe(1);
    expect(await readdir(config.dataDir)).toEqual(['encryption.key']);
  });

  it('is not overwritten when the file is damaged', async () => {
    await writeFile(join(base, 'encryption.key'), 'half a k');
    const config = configured({ DATA_DIR: base });
    await expect(resolveEncryptionKeys(config)).rejects.toThrow(/ENCRYPTION_KEY .*encryption\.key/);
  });
});
