import { fail, type DoorwardError } from '../../../errors.ts';

/** The limits of a snapshot (packages §8.1). */
export const MAX_USERS = 50_000;
/** Base64 makes the signed document a third longer, and it must still be within the limit of every response. */
const MAX_JSON_BYTES = 6 * 1024 * 1024 - 8192;

export const tooLarge = (limit: string): DoorwardError =>
  fail('SNAPSHOT_TOO_LARGE', {
    params: { limit },
    fix: 'Narrow users: name up to 100 users, or send users=none and ask the service about users.',
  });

/** Adds up the JSON length of rows while they are read, so that the read stops as soon as a snapshot is too large. */
export interface JsonSize {
  readonly bytes: number;
  /** @throws SNAPSHOT_TOO_LARGE */
  add(json: string): void;
}

export function createJsonSize(): JsonSize {
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    add(json) {
      bytes += Buffer.byteLength(json);
      if (bytes > MAX_JSON_BYTES) throw tooLarge('more than 6 MiB');
    },
  };
}
