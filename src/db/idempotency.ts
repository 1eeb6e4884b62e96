import { and, eq, gt, lt, lte, sql } from 'drizzle-orm';
import { createHmac } from 'node:crypto';
import { DoorwardError, fail, type Code } from '../errors.ts';
import type { Call } from '../kernel/context.ts';
import { credentialKey } from '../kernel/charge.ts';
import type { Stages } from '../kernel/stages.ts';
import { takesIdempotencyKey, type NamedOperation } from '../kernel/operation.ts';
import type { Clock } from '../kernel/ports.ts';
import { BareReply, Refusal } from '../kernel/reply.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { canonicalJson } from './canonical-json.ts';
import { idempotencyKeys } from './idempotency-table.ts';
import type { Database } from './open.ts';

/**
 * `Idempotency-Key` (conventions §9): the same key, credential, operation and input within 24 hours get the answer
 * that was given before.
 *
 * Steps 1 to 13 of conventions §4 are asked anew each time, so that a caller who lost his right never sees a kept
 * answer; what is decided from step 14 on is kept. A success is kept in the transaction of its change: both are
 * committed, or neither is. A refusal has rolled its transaction back and is kept in one of its own. Who runs is
 * decided by an advisory lock that ends with the transaction, so no crash leaves a key locked. On the embedded
 * database transactions come one after the other: there the second waits, and then gets the kept answer.
 */
export interface IdempotencyOptions {
  readonly database: Pick<Database, 'pool' | 'transaction'>;
  readonly clock: Clock;
  /** The current one first. Inputs are kept as keyed hashes only: a password can be among them. */
  readonly hashKeys: readonly Buffer[];
  /** One that covers all that is committed. */
  readonly revision: (db: Executor) => Promise<string>;
  readonly log: (error: unknown, message: string) => void;
}

const DAY_MS = 24 * 3600 * 1000;
const MAX_LENGTH = 255;
const visibleAscii = /^[!-~]+$/;
/** Of the caller's moment or of this very mechanism, not of the request. */
const neverKept: ReadonlySet<Code> = new Set([
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
]);

/** One request, as it is recognised when it comes again. */
interface Asked {
  readonly credential: string;
  readonly operation: string;
  readonly key: string;
  /** By every hash key, the current one first. */
  readonly hashes: readonly string[];
}

/** `json` is text inside of the column, because members of an answer keep their order and a path may hold anything. */
interface Kept {
  readonly status: number;
  readonly json: string;
}

/** The answer was found only in the transaction, which then has nothing to do. */
class AlreadyAnswered extends Error {
  readonly kept: Kept;

  constructor(kept: Kept) {
    super('already answered');
    this.kept = kept;
  }
}

/**
 * @throws VALIDATION_ERROR for a malformed key; IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, and the kept refusal
 */
export function createIdempotency(options: IdempotencyOptions): Stages['once'] {
  const { database, clock, hashKeys, revision, log } = options;
  const dayAgo = () => new Date(clock.now().getTime() - DAY_MS);

  async function find(db: Executor, asked: Asked): Promise<Kept | undefined> {
    const [row] = await db
      .select()
      .from(idempotencyKeys)
      .where(
        and(
          eq(idempotencyKeys.credential, asked.credential),
          eq(idempotencyKeys.operation, asked.operation),
          eq(idempotencyKeys.key, asked.key),
          gt(idempotencyKeys.createdAt, dayAgo()),
        ),
      );
    if (!row) return undefined;
    if (!asked.hashes.includes(row.inputHash)) {
      throw fail('IDEMPOTENCY_KEY_REUSED', { fix: 'Use a new Idempotency-Key for a new request.' });
    }
    return { status: row.status, json: (row.answer as { json: string }).json };
  }

  /**
   * Takes the key for this transaction. A second statement then looks for an answer: only what starts under the lock
   * sees what was committed under it.
   */
  async function take(tx: Executor, asked: Asked): Promise<void> {
    const name = `${asked.credential} ${asked.operation} ${asked.key}`;
    const { rows } = (await tx.execute(
      sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as taken`,
    )) as { rows: { taken: boolean }[] };
    if (!rows[0]?.taken) throw fail('IDEMPOTENCY_IN_PROGRESS', { headers: { 'Retry-After': '1' } });
    const kept = await find(tx, asked);
    if (kept) throw new AlreadyAnswered(kept);
  }

  async function keep(tx: Executor, asked: Asked, { status, json }: Kept): Promise<void> {
    const { credential, operation, key, hashes } = asked;
    const row = { inputHash: hashes[0] ?? '', status, answer: { json }, createdAt: clock.now() };
    await tx
      .insert(idempotencyKeys)
      .values({ credential, operation, key, ...row })
      .onConflictDoUpdate({
        target: [idempotencyKeys.credential, idempotencyKeys.operation, idempotencyKeys.key],
        set: row,
        // What is younger has been answered already.
        setWhere: lte(idempotencyKeys.createdAt, dayAgo()),
      });
  }

  async function keepRefusal(asked: Asked, refusal: Kept): Promise<void> {
    try {
      await database.transaction(async (tx) => {
        await take(tx, asked);
        await keep(tx, asked, refusal);
      });
    } catch (error) {
      // Another request with the key was faster: its answer is the one that stays.
      if (error instanceof AlreadyAnswered || error instanceof DoorwardError) return;
      // The caller is told why he is refused, whatever becomes of the copy.
      log(error, 'a refusal could not be kept for its idempotency key');
    }
  }

  async function replay(kept: Kept, call: Call): Promise<unknown> {
    call.effects.headers['X-Doorward-Revision'] = await revision(database.pool);
    return replayed(kept, call);
  }

  return (op, call) => {
    const key = keyOf(op, call);
    if (key === null) return null;
    return async (input, { scope, principal }, perform) => {
      // By the resolved scope, so that spellings of a tenant do not count.
      const text = canonicalJson({ ...input, scope: scope && { tenant: scope.tenant, id: scope.id } });
      const asked: Asked = {
        credential: credentialKey(principal, call),
        operation: op.name,
        key,
        hashes: hashKeys.map((secret) => createHmac('sha256', secret).update(text).digest('base64url')),
      };
      const known = await find(database.pool, asked);
      if (known) return replay(known, call);
      try {
        return await perform((work) =>
          database.transaction(async (tx) => {
            await take(tx, asked);
            const out = await work(tx);
            const kept = out instanceof Refusal ? keptRefusal(out.error) : keptAnswer(op, out);
            if (kept) await keep(tx, asked, kept);
            return out;
          }),
        );
      } catch (error) {
        if (error instanceof AlreadyAnswered) return replay(error.kept, call);
        const refusal = error instanceof DoorwardError ? keptRefusal(error) : null;
        if (refusal) await keepRefusal(asked, refusal);
        throw error;
      }
    };
  };
}

/** Deletes what nobody can be answered with any more; `before` lies at least 24 hours back. */
export async function purgeIdempotencyKeys(db: Executor, before: Date): Promise<void> {
  await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, before));
}

function keyOf(op: NamedOperation, { idempotencyKey: key }: Call): string | null {
  if (key === null || !takesIdempotencyKey(op)) return null;
  const path = 'Idempotency-Key';
  if (key.length > MAX_LENGTH) throw fail('VALIDATION_ERROR', { details: [{ path, code: 'too_long' }] });
  if (!visibleAscii.test(key)) throw fail('VALIDATION_ERROR', { details: [{ path, code: 'format' }] });
  return key;
}

/** The answer with `null` in place of what is shown once. */
function keptAnswer(op: NamedOperation, answer: unknown): Kept | null {
  if (answer instanceof BareReply) return null;
  const blanks = Object.fromEntries((op.secrets ?? []).map((name) => [name, null]));
  return { status: op.status ?? 200, json: JSON.stringify({ ...(answer as object), ...blanks }) };
}

/** A refusal without its words: they are found anew, in the language of whoever asks again. */
function keptRefusal({ code, params, extras, status }: DoorwardError): Kept | null {
  if (status >= 500 || neverKept.has(code)) return null;
  const { cause: _, ...told } = extras;
  return { status, json: JSON.stringify({ code, ...told, params }) };
}

function replayed({ status, json }: Kept, { effects }: Call): unknown {
  effects.headers['Idempotency-Replayed'] = 'true';
  const answer: unknown = JSON.parse(json);
  if (status < 400) return answer;
  const { code, ...told } = answer as { code: Code } & ConstructorParameters<typeof DoorwardError>[1];
  throw new DoorwardError(code, told);
}
