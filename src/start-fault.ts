import type { Config } from './config.ts';
import { ConfigError } from './config.ts';
import { WrongEncryptionKey } from './crypto/installation.ts';
import { DataDirectoryInUse } from './db/data-lock.ts';
import { DatabaseUnusable } from './db/unusable.ts';

/** The process cannot listen at the configured address. */
export class AddressUnusable extends Error {
  override readonly name = 'AddressUnusable';
}

/**
 * Turns an error of listening into a message that names the variable to correct. Any other error is returned unchanged.
 */
export function listenFault(error: unknown, { host, port }: Config['http']): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const elsewhere = `HOST: ${host} is no address of this machine (${code}). Set HOST to one that is, or to 0.0.0.0 for all.`;
  const mends: Readonly<Record<string, string>> = {
    EADDRINUSE: `PORT: ${port} is in use on ${host} (EADDRINUSE). Stop what listens there, or set PORT to another.`,
    EACCES: `PORT: this user may not listen on ${port} (EACCES). Set PORT to one above 1023.`,
    EADDRNOTAVAIL: elsewhere,
    ENOTFOUND: elsewhere,
    EAI_AGAIN: elsewhere,
  };
  return mends[code] ? new AddressUnusable(mends[code]) : error;
}

const expected = [ConfigError, DataDirectoryInUse, WrongEncryptionKey, DatabaseUnusable, AddressUnusable];

/** The text for a start that failed: one line for what the operator can correct, the stack for anything else. */
export function startFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return expected.some((kind) => error instanceof kind) ? error.message : (error.stack ?? String(error));
}
