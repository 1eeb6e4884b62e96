import { and, eq, gt, lt, lte, sql } from 'drizzle-orm';
import { createHmac } from 'node:crypto';
import { DoorwardError, fail, type Code } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import { credentialKey } from '../../kernel/charge.ts';
import type { Stages } from '../../kernel/stages.ts';
import { takesIdempotencyKey, type NamedOperation } from '../../kernel/operation.ts';
import type { Clock } from '../../kernel/ports.ts';
import { BareReply, Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { canonicalJson } from '../../kernel/output/canonical-json.ts';
import { idempotencyKeys } from '../../schema/idempotency-key.ts';
import type { Database } from '../connection/open.ts';

/**
 * `Idempotency-Key` (conventions §9): a request with the same key, credential, operation and input within 24 hours gets
 * the stored response.
 *
 * Steps 1 to 13 of conventions §4 run again for each request, so that a caller who has lost the permission never gets a
 * stored response; only the result of later steps is stored. A success is stored in the transaction of its change, so
 * both are committed or neither. An error has rolled its transaction back, so it is stored in a separate one. An
 * advisory lock that ends with the transaction selects the request that runs, so a crash leaves no key locked. The
 * embedded database runs one transaction at a time, so there the second request waits and gets the stored response.
 */
export interface IdempotencyOptions {
  readonly database: Pick<Database, 'pool' | 'transaction'>;
  readonly clock: Clock;
  /** The current key first. Only keyed hashes of inputs are stored, because inputs may contain a password. */
  readonly hashKeys: readonly Buffer[];
  /** Returns a revision that covers every committed transaction. */
  readonly revision: (db: Executor) => Promise<string>;
  readonly log: (error: unknown, message: string) => void;
}

const DAY_MS = 24 * 3600 * 1000;
const MAX_LENGTH = 255;
const visibleAscii = /^[!-~]+$/;
/** Errors that depend on the time of the call or on this mechanism, not on the request. */
const neverStored: ReadonlySet<Code> = new Set([
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
]);

/** Identifies a request, so that a repeated request is recognized. */
interface KeyedRequest {
  readonly credential: string;
  readonly operation: string;
  readonly key: string;
  /** Hashes of the input with every hash key, the current key first. */
  readonly hashes: readonly string[];
}

/**
 * `json` is a string inside the JSON column, because jsonb would reorder members and rejects some characters of error
 * paths.
 */
interface StoredAnswer {
  readonly status: number;
  readonly json: string;
}

/** Thrown if a concurrent request has stored a response; the transaction then ends without doing any work. */
class AlreadyAnswered extends Error {
  readonly stored: StoredAnswer;

  constructor(stored: StoredAnswer) {
    super('already answered');
    this.stored = stored;
  }
}

/**
 * Creates the stage that runs a request with an idempotency key once and replays its response.
 *
 * @throws VALIDATION_ERROR for a malformed key; IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS; the stored error
 */
export function createIdempotency(options: IdempotencyOptions): Stages['runOnce'] {
  const { database, clock, hashKeys, revision, log } = options;
  const dayAgo = () => new Date(clock.now().getTime() - DAY_MS);

  async function find(db: Executor, request: KeyedRequest): Promise<StoredAnswer | undefined> {
    const [row] = await db
      .select()
      .from(idempotencyKeys)
      .where(
        and(
          eq(idempotencyKeys.credential, request.credential),
          eq(idempotencyKeys.operation, request.operation),
          eq(idempotencyKeys.key, request.key),
          gt(idempotencyKeys.createdAt, dayAgo()),
        ),
      );
    if (!row) return undefined;
    if (!request.hashes.includes(row.inputHash)) {
      throw fail('IDEMPOTENCY_KEY_REUSED', { fix: 'Use a new Idempotency-Key for a new request.' });
    }
    return { status: row.status, json: (row.answer as { json: string }).json };
  }

  /**
   * Locks the key for this transaction, then looks for a response in a second statement: only a statement that starts
   * under the lock sees everything that was committed under it.
   */
  async function lockKey(tx: Executor, request: KeyedRequest): Promise<void> {
    const name = `${request.credential} ${request.operation} ${request.key}`;
    const { rows } = (await tx.execute(
      sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as taken`,
    )) as { rows: { taken: boolean }[] };
    if (!rows[0]?.taken) throw fail('IDEMPOTENCY_IN_PROGRESS', { headers: { 'Retry-After': '1' } });
    const stored = await find(tx, request);
    if (stored) throw new AlreadyAnswered(stored);
  }

  async function store(tx: Executor, request: KeyedRequest, { status, json }: StoredAnswer): Promise<void> {
    const { credential, operation, key, hashes } = request;
    const row = { inputHash: hashes[0] ?? '', status, answer: { json }, createdAt: clock.now() };
    await tx
      .insert(idempotencyKeys)
      .values({ credential, operation, key, ...row })
      .onConflictDoUpdate({
        target: [idempotencyKeys.credential, idempotencyKeys.operation, idempotencyKeys.key],
        set: row,
        // A newer row contains a stored response and must stay.
        setWhere: lte(idempotencyKeys.createdAt, dayAgo()),
      });
  }

  async function storeRefusal(request: KeyedRequest, refusal: StoredAnswer): Promise<void> {
    try {
      await database.transaction(async (tx) => {
        await lockKey(tx, request);
        await store(tx, request, refusal);
      });
    } catch (error) {
      // A concurrent request with the same key was faster and has stored its response.
      if (error instanceof AlreadyAnswered || error instanceof DoorwardError) return;
      // The caller gets the error even if it cannot be stored.
      log(error, 'an error answer could not be stored for its idempotency key');
    }
  }

  async function replay(stored: StoredAnswer, call: Call): Promise<unknown> {
    call.effects.headers['X-Doorward-Revision'] = await revision(database.pool);
    return replayedAnswer(stored, call);
  }

  return (op, call) => {
    const key = keyFor(op, call);
    if (key === null) return null;
    return async (input, { scope, principal }, perform) => {
      // Uses the resolved scope, so that different spellings of a tenant count as the same input.
      const text = canonicalJson({ ...input, scope: scope && { tenant: scope.tenant, id: scope.id } });
      const request: KeyedRequest = {
        credential: credentialKey(principal, call),
        operation: op.name,
        key,
        hashes: hashKeys.map((secret) => createHmac('sha256', secret).update(text).digest('base64url')),
      };
      const stored = await find(database.pool, request);
      if (stored) return replay(stored, call);
      try {
        return await perform((work) =>
          database.transaction(async (tx) => {
            await lockKey(tx, request);
            const out = await work(tx);
            const stored = out instanceof Refusal ? refusalToStore(out.error) : answerToStore(op, out);
            if (stored) await store(tx, request, stored);
            return out;
          }),
        );
      } catch (error) {
        if (error instanceof AlreadyAnswered) return replay(error.stored, call);
        const refusal = error instanceof DoorwardError ? refusalToStore(error) : null;
        if (refusal) await storeRefusal(request, refusal);
        throw error;
      }
    };
  };
}

/** Deletes expired responses. `before` must be at least 24 hours ago. */
export async function purgeIdempotencyKeys(db: Executor, before: Date): Promise<void> {
  await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, before));
}

function keyFor(op: NamedOperation, { idempotencyKey: key }: Call): string | null {
  if (key === null || !takesIdempotencyKey(op)) return null;
  const path = 'Idempotency-Key';
  if (key.length > MAX_LENGTH) throw fail('VALIDATION_ERROR', { details: [{ path, code: 'too_long' }] });
  if (!visibleAscii.test(key)) throw fail('VALIDATION_ERROR', { details: [{ path, code: 'format' }] });
  return key;
}

/** The response with one-time secrets replaced by `null`. */
function answerToStore(op: NamedOperation, answer: unknown): StoredAnswer | null {
  if (answer instanceof BareReply) return null;
  const blanks = Object.fromEntries((op.secrets ?? []).map((name) => [name, null]));
  return { status: op.status ?? 200, json: JSON.stringify({ ...(answer as object), ...blanks }) };
}

/** The error without its message, because a replay creates the message in the language of the later request. */
function refusalToStore({ code, params, extras, status }: DoorwardError): StoredAnswer | null {
  if (status >= 500 || neverStored.has(code)) return null;
  const { cause: _, ...rest } = extras;
  return { status, json: JSON.stringify({ code, ...rest, params }) };
}

function replayedAnswer({ status, json }: StoredAnswer, { effects }: Call): unknown {
  effects.headers['Idempotency-Replayed'] = 'true';
  const answer: unknown = JSON.parse(json);
  if (status < 400) return answer;
  const { code, ...rest } = answer as { code: Code } & ConstructorParameters<typeof DoorwardError>[1];
  throw new DoorwardError(code, rest);
}
