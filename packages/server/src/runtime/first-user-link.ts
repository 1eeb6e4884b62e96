import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Log } from './log.ts';

/**
 * Returns the text with the link by which the operator creates the first user. The token is in the fragment, which
 * browsers don't send, so that no proxy logs it. The fragment also contains the minimum length of a password, because
 * the page needs it before it calls the service. Without a console, the text contains the request that the page would
 * send.
 */
export function firstUserNotice(
  config: Pick<Config, 'auth' | 'console'>,
  base: string,
  token: string,
): string {
  const head = 'No user yet. Create the first one within an hour';
  if (!config.console.enabled) {
    const body = JSON.stringify({ token, email: '…', password: '…', name: '…' });
    return `${head}: POST ${base}/api/auth/first-user\n\n  ${body}\n`;
  }
  const passwordMinLength = String(config.auth.passwordMinLength);
  const fragment = new URLSearchParams({ token, passwordMinLength }).toString();
  return `${head}:\n\n  ${base}/console/first-user#${fragment}\n`;
}

interface Announcement {
  readonly config: Pick<Config, 'auth' | 'console' | 'dataDir' | 'production'>;
  /** Public URL of the service. */
  readonly base: string;
  /** Replaces the token of this process; null if there is already a user. */
  readonly issue: () => Promise<string | null>;
  /** Writes to the terminal and never to the log. */
  readonly print: (text: string) => void;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Hands the link to the operator: in the terminal, or in production in a file that only the user of the process can
 * read, because standard output is then a log that others collect. A failure is logged and does not stop the service.
 */
export async function announceFirstUser({ config, base, issue, print, log }: Announcement): Promise<void> {
  const file = join(config.dataDir, 'first-user.txt');
  try {
    const token = await issue();
    if (token === null) return await rm(file, { force: true });
    const notice = firstUserNotice(config, base, token);
    if (!config.production) return print(`  ${notice}`);
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    await writePrivately(file, notice);
    log.warn({ message: `no user yet: the link to create the first one is in ${file}, for an hour` });
  } catch (error) {
    log.warn({ error, message: 'no link to create the first user: is DATA_DIR writable?' });
  }
}

/** Writes a new file and renames it, because an existing file would keep its mode. */
async function writePrivately(file: string, text: string): Promise<void> {
  const temporaryFile = `${file}.${process.pid}`;
  await rm(temporaryFile, { force: true });
  await writeFile(temporaryFile, text, { mode: 0o600, flag: 'wx' });
  await rename(temporaryFile, file);
}
