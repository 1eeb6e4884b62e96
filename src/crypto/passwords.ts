/**
 * Password hashing: argon2id with 19 MiB, t=2, p=1 (OWASP's first choice), on the thread pool. A hash costs about
 * 20 ms of a core and 19 MiB, so the number that runs at once is bounded, and so is the number that waits: a flood
 * of sign-ins is answered 503 at once instead of taking the process down (identity §2).
 */
import { hash, verify } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';
import { fail } from '../errors.ts';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface Passwords {
  /** PHC string of a fresh salt. @throws DoorwardError UNAVAILABLE when the queue is full */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the hashed one. Without a hash the same work is done and the answer is false, so that
   * the time does not tell whether a user exists. @throws DoorwardError UNAVAILABLE when the queue is full
   */
  verify(hash: string | null, password: string): Promise<boolean>;
  /**
   * Ask before anything else is done for a caller who may be anybody: in a flood a refusal costs nothing then, and the
   * database is left to the others. @throws DoorwardError UNAVAILABLE when the queue is full
   */
  assertRoom(): void;
  /** Whether the hash was made with weaker parameters than today's. */
  needsRehash(hash: string): boolean;
}

/** `concurrency` hashes run at once, `maxQueue` more may wait. */
export function createPasswords({
  concurrency,
  maxQueue,
}: {
  readonly concurrency: number;
  readonly maxQueue: number;
}): Passwords {
  const queue = bounded(concurrency, maxQueue);
  // A well-formed hash of nothing: a random salt and tag cost the same to verify, and no password fits.
  const part = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  const dummy = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${part(16)}$${part(32)}`;
  // One password, one byte string, whichever keyboard typed it.
  const normal = (password: string) => password.normalize('NFKC');

  return {
    assertRoom: queue.assertRoom,
    hash: (password) => queue.run(() => hash(normal(password), cost)),
    verify: (stored, password) =>
      queue.run(async () => (await verify(stored ?? dummy, normal(password))) && stored !== null),
    needsRehash(stored) {
      const [, memory, time, lanes] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(stored) ?? [];
      return !(
        Number(memory) >= cost.memoryCost &&
        Number(time) >= cost.timeCost &&
        Number(lanes) >= cost.parallelism
      );
    },
  };
}

/** Runs up to `concurrency` tasks at once, in order of arrival; refuses when `maxQueue` already wait. */
function bounded(concurrency: number, maxQueue: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  const assertRoom = (): void => {
    if (running < concurrency || waiting.length < maxQueue) return;
    throw fail('UNAVAILABLE', { headers: { 'Retry-After': '1' } });
  };
  const run = async <T>(task: () => Promise<T>): Promise<T> => {
    assertRoom();
    if (running < concurrency) {
      running += 1;
    } else {
      // The finished task hands its place over, so `running` stays and no newcomer slips in between.
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return { assertRoom, run };
}
