import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/**
 * What the service itself does not keep and a second start needs: the password of the demo user and the secret of his
 * key, beside the other secrets that are generated for development.
 */
const Kept = z.object({
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

export type Kept = z.output<typeof Kept>;
export type DemoKey = NonNullable<Kept['key']>;

export const keptFile = (dataDir: string): string => join(dataDir, 'demo.json');

/** As long as AUTH_PASSWORD_MIN_LENGTH may ask for; hex can contain neither a name nor a word of the policy. */
export const newPassword = (): string => randomBytes(32).toString('hex');

/** Undefined when there is no such file. @throws Error without a word of what is in it */
export async function readKept(file: string): Promise<Kept | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return Kept.parse(JSON.parse(text));
  } catch {
    throw new Error(`${file} cannot be read as what an earlier start wrote: mend it, or remove it`);
  }
}

/** Whole or not at all, and for this user of the machine alone. */
export async function writeKept(file: string, kept: Kept): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const aside = `${file}.${process.pid}`;
  await writeFile(aside, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  await rename(aside, file);
}
