import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/**
 * Secrets that the next start needs, although the service itself stores only their hashes: the password of the demo
 * user and the secret of their key. The file is in the same directory as the other secrets generated for development.
 */
const StoredCredentials = z.object({
  email: z.string(),
  password: z.string(),
  /** The account of the demo user. */
  account: z.string().optional(),
  key: z
    .object({
      clientId: z.string(),
      clientSecret: z.string(),
      scope: z.object({ tenant: z.string(), id: z.string() }),
    })
    .optional(),
});

export type StoredCredentials = z.output<typeof StoredCredentials>;
export type DemoKey = NonNullable<StoredCredentials['key']>;

export const credentialsFile = (dataDir: string): string => join(dataDir, 'demo.json');

/** A password as long as AUTH_PASSWORD_MIN_LENGTH may require. Hex has no name or word that the policy forbids. */
export const newPassword = (): string => randomBytes(32).toString('hex');

/** Returns undefined if the file does not exist. @throws Error that quotes nothing from its content */
export async function readCredentials(file: string): Promise<StoredCredentials | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return StoredCredentials.parse(JSON.parse(text));
  } catch {
    throw new Error(`${file} is not valid: correct it, or remove it`);
  }
}

/** Writes the file atomically. Only the current user of the machine can read it. */
export async function writeCredentials(file: string, credentials: StoredCredentials): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporaryFile = `${file}.${process.pid}`;
  await writeFile(temporaryFile, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  await rename(temporaryFile, file);
}
