import { fail, type DoorwardError } from '../errors.ts';

/**
 * Bounds what one HTTP request may be answered, whatever it asks for and however often: each row can have a hundred
 * related rows, and each of these as many again. A row is counted at every place where it is answered.
 *
 * Once a bound is exceeded it stays so: every later call throws the same error, so that nothing else is read.
 */
export interface AnswerBudget {
  /** Related rows that may still be answered. */
  readonly rows: number;
  /** Bytes of related rows that may still be read, in the text form of the database. */
  readonly readable: number;
  /** Whether any related row was answered. */
  readonly hasRelated: boolean;
  /** @throws QUERY_TOO_COMPLEX */
  takeRows(count: number): void;
  /** @throws QUERY_TOO_COMPLEX */
  takeReadable(bytes: number): void;
  /** Bytes that the answer may still have, as JSON. */
  readonly bytes: number;
  /** @throws QUERY_TOO_COMPLEX */
  takeBytes(bytes: number): void;
  /** @throws QUERY_TOO_COMPLEX when something was too much already */
  assertNotExceeded(): void;
}

const MAX_ROWS = 20_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** The text form of a row in the database doubles quotes and adds spaces, so it is up to twice as long as the JSON. */
const MAX_READABLE = 2 * MAX_BYTES;

export function createAnswerBudget(): AnswerBudget {
  let [rows, bytes, readable] = [MAX_ROWS, MAX_BYTES, MAX_READABLE];
  let exceeded: DoorwardError | undefined;

  function assertLeft(left: number, limit: string): void {
    if (left >= 0 && !exceeded) return;
    exceeded ??= fail('QUERY_TOO_COMPLEX', {
      params: { limit },
      fix: 'Ask for fewer rows at once with a smaller limit, or for fewer relations.',
    });
    throw exceeded;
  }

  return {
    get rows() {
      return rows;
    },
    get readable() {
      return readable;
    },
    get bytes() {
      return bytes;
    },
    get hasRelated() {
      return rows < MAX_ROWS;
    },
    takeRows: (count) => assertLeft((rows -= count), `related rows > ${MAX_ROWS}`),
    takeReadable: (count) => assertLeft((readable -= count), `bytes > ${MAX_BYTES}`),
    takeBytes: (count) => assertLeft((bytes -= count), `bytes > ${MAX_BYTES}`),
    assertNotExceeded: () => assertLeft(0, ''),
  };
}
