/**
 * Password hashing: argon2id with 19 MiB, t=2, p=1 (OWASP's first choice), on the thread pool. A hash costs about 20 ms
 * of CPU time and 19 MiB, so the concurrency is limited. The queue of sign-ins bounds how many wait
 * (src/http/admission).
 */
import { hash, verify } from '@node-rs/argon2';
import { randomBytes } from 'node:crypto';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface Passwords {
  /** Hashes with a new salt to a PHC string. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches the hash. Without a hash the same work is done and the answer is false, so that the
   * response time does not reveal whether a user exists.
   */
  verify(hash: string | null, password: string): Promise<boolean>;
  /** Whether the hash has weaker parameters than the current ones. */
  needsRehash(hash: string): boolean;
}

/** At most `concurrency` hashes run at once; the others wait. */
export function createPasswords({ concurrency }: { readonly concurrency: number }): Passwords {
  const limited = createLimiter(concurrency);
  // A well-formed hash with random salt and tag: costs the same to verify, and no password matches it.
  const part = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  const dummyHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${part(16)}$${part(32)}`;
  // The same password has the same bytes on every keyboard.
  const normalize = (password: string) => password.normalize('NFKC');

  return {
    hash: (password) => limited(() => hash(normalize(password), cost)),
    verify: (stored, password) =>
      limited(async () => (await verify(stored ?? dummyHash, normalize(password))) && stored !== null),
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

/** Runs up to `concurrency` tasks at once, in the order of arrival. */
function createLimiter(concurrency: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(task: () => Promise<T>): Promise<T> => {
    // A finished task hands its slot to the next waiting task, so that no new task overtakes it.
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
