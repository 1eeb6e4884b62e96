/**
 * Password hashing: argon2id with 19 MiB, t=2, p=1 (OWASP's first choice), on the thread pool. A hash costs about
 * 20 ms of a core and 19 MiB, so only so many run at once. How many wait is bounded by the queue of sign-ins
 * (src/transport/admission).
 */
import { hash, verify } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface Passwords {
  /** PHC string of a fresh salt. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the hashed one. Without a hash the same work is done and the answer is false, so that
   * the time does not tell whether a user exists.
   */
  verify(hash: string | null, password: string): Promise<boolean>;
  /** Whether the hash was made with weaker parameters than today's. */
  needsRehash(hash: string): boolean;
}

/** `concurrency` hashes run at once, the others wait. */
export function createPasswords({ concurrency }: { readonly concurrency: number }): Passwords {
  const inOrder = bounded(concurrency);
  // A well-formed hash of nothing: a random salt and tag cost the same to verify, and no password fits.
  const part = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  const dummy = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${part(16)}$${part(32)}`;
  // One password, one byte string, whichever keyboard typed it.
  const normal = (password: string) => password.normalize('NFKC');

  return {
    hash: (password) => inOrder(() => hash(normal(password), cost)),
    verify: (stored, password) =>
      inOrder(async () => (await verify(stored ?? dummy, normal(password))) && stored !== null),
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

/** Runs up to `concurrency` tasks at once, in order of arrival. */
function bounded(concurrency: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(task: () => Promise<T>): Promise<T> => {
    // The finished task hands over, so `running` stays and no newcomer slips in between.
    if (running >= concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
