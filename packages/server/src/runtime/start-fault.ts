import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config.ts';
import { WrongEncryptionKey } from '../crypto/keys/installation.ts';
import { DataDirectoryInUse, DataDirectoryUnusable } from '../db/connection/data-lock.ts';
import { DatabaseUnusable } from '../db/preparation/database-unusable.ts';

/** Thrown if the process cannot listen at the configured address. */
class AddressUnusable extends Error {
  override readonly name = 'AddressUnusable';
}

/**
 * Converts an error of `listen` to one whose message names the variable to correct. Returns other errors unchanged.
 */
export function listenFault(error: unknown, { host, port }: Config['http']): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const unusableHost = `HOST: ${host} is not an address of this machine (${code}). Set HOST to one that is, or to 0.0.0.0 for all.`;
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `PORT: ${port} is in use on ${host} (EADDRINUSE). Stop what listens there, or set PORT to another.`,
    EACCES: `PORT: this user may not listen on ${port} (EACCES). Set PORT to one above 1023.`,
    EADDRNOTAVAIL: unusableHost,
    ENOTFOUND: unusableHost,
    EAI_AGAIN: unusableHost,
  };
  return messages[code] ? new AddressUnusable(messages[code]) : error;
}

const operatorErrors = [
  ConfigError,
  DataDirectoryInUse,
  DataDirectoryUnusable,
  WrongEncryptionKey,
  DatabaseUnusable,
  AddressUnusable,
];

/**
 * Returns the text for a failed start: the message of an error that the operator can correct, the stack of any other.
 */
export function startFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return operatorErrors.some((kind) => error instanceof kind)
    ? error.message
    : (error.stack ?? String(error));
}
