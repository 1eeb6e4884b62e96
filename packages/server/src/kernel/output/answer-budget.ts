import { fail, type DoorwardError } from '../../errors.ts';

/**
 * Limits the response to one HTTP request: each row can have a hundred related rows, and each of these a hundred more.
 * A row counts each time it occurs in the response.
 *
 * Once a limit is exceeded, every later call throws the same error, so that nothing else is read.
 */
export interface AnswerBudget {
  /** How many related rows the response may still contain. */
  readonly rows: number;
  /** How many bytes of related rows may still be read, in the database's text form. */
  readonly readable: number;
  /**
   * Whether the response must be measured before it is sent, because it has a related row or its operation called
   * `measure`.
   */
  readonly isMeasured: boolean;
  /** Requests a measurement, for a response that may repeat its input more often than the input's limits suggest. */
  measure(): void;
  /** @throws QUERY_TOO_COMPLEX */
  takeRows(count: number): void;
  /** @throws QUERY_TOO_COMPLEX */
  takeReadable(bytes: number): void;
  /** How many bytes of JSON the response may still contain. */
  readonly bytes: number;
  /** @throws QUERY_TOO_COMPLEX */
  takeBytes(bytes: number): void;
  /** @throws QUERY_TOO_COMPLEX if a limit has been exceeded */
  assertNotExceeded(): void;
}

const MAX_ROWS = 20_000;
const MAX_BYTES = 8 * 1024 * 1024;
/**
 * In the database's text form a row has doubled quotes and additional spaces, so it is up to twice as long as its JSON.
 */
const MAX_READABLE = 2 * MAX_BYTES;

export function createAnswerBudget(): AnswerBudget {
  let [rows, bytes, readable] = [MAX_ROWS, MAX_BYTES, MAX_READABLE];
  let exceeded: DoorwardError | undefined;
  let isMeasured = false;

  function assertRemaining(remaining: number, limit: string): void {
    if (remaining >= 0 && !exceeded) return;
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
    get isMeasured() {
      return isMeasured || rows < MAX_ROWS;
    },
    measure: () => void (isMeasured = true),
    takeRows: (count) => assertRemaining((rows -= count), `related rows > ${MAX_ROWS}`),
    takeReadable: (count) => assertRemaining((readable -= count), `bytes > ${MAX_BYTES}`),
    takeBytes: (count) => assertRemaining((bytes -= count), `bytes > ${MAX_BYTES}`),
    assertNotExceeded: () => assertRemaining(0, ''),
  };
}
