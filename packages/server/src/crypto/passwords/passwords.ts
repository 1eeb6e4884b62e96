/**
 * Password hashing: argon2id with 19 MiB, t=2, p=1 (the minimum that OWASP recommends), on the thread pool. A hash
 * takes about 20 ms of CPU time and 19 MiB, so the concurrency is limited. The sign-in queue limits how many wait
 * (src/http/admission).
 */
import { hash } from '@node-rs/argon2';
import type { Clock } from '../../kernel/ports.ts';
import { createHashImitation, type HashImitation } from './hash-imitation.ts';
import { readImportedHash, type ImportedHash } from './imported-hash.ts';

/** Argon2 parameters: memory in KiB, number of passes, number of lanes. */
export interface PasswordCost {
  readonly memoryCost: number;
  readonly timeCost: number;
  readonly parallelism: number;
}

export const passwordCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export interface Passwords {
  /** Hashes a password with a new salt. Returns a PHC string. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches the hash. Without a hash the result is false, but takes the same work, so that the
   * response time does not reveal whether a user exists: the work of the hash `imitated`, or else of a hash of this
   * service.
   */
  verify(hash: string | null, password: string, imitated?: string | null): Promise<boolean>;
  readonly imitationFor: HashImitation;
  /** Whether the hash is not argon2id, or has weaker parameters than the current ones. */
  needsRehash(hash: string): boolean;
}

/** Runs at most `concurrency` hashes at the same time; the others wait. */
export function createPasswords({
  concurrency,
  imitationKey,
  clock,
  cost = passwordCost,
}: {
  readonly concurrency: number;
  readonly imitationKey: Buffer;
  readonly clock: Clock;
  readonly cost?: PasswordCost | undefined;
}): Passwords {
  const limited = createLimiter(concurrency);
  const ownHash = readStored(
    `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`,
  );
  const hashLike = (imitated: string | null): string =>
    (imitated === null ? ownHash : readStored(imitated)).imitate();
  // Normalized, so that the same password has the same bytes whatever keyboard it is typed on.
  const normalize = (password: string) => password.normalize('NFKC');

  return {
    hash: (password) => limited(() => hash(normalize(password), cost)),
    verify: (stored, password, imitated = null) =>
      limited(async () => {
        const compared = readStored(stored ?? hashLike(imitated));
        // Another service may have hashed the password as typed; this service always normalizes it.
        const forms = compared.cost === ownHash.cost ? [] : [password];
        for (const form of new Set([normalize(password), ...forms]))
          if (await compared.verify(form)) return stored !== null;
        return false;
      }),
    imitationFor: createHashImitation(imitationKey, clock),
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

/** Reads a stored hash. @throws Error for a text that this service cannot have stored */
function readStored(text: string): ImportedHash {
  const read = readImportedHash(text);
  if (!read) throw new Error('the stored hash of a password is not readable');
  return read;
}

/** Runs up to `concurrency` tasks at the same time, in the order of arrival. */
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
