import { sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import type { Executor } from '../kernel/scoped-db.ts';
import { createHeard } from './heard.ts';
import { openChangeChannel, OLDEST_OPEN } from './change-channel.ts';
import type { Database } from './open.ts';
import { rowsOf } from './rows.ts';

/**
 * How caches learn that something changed: a mutation names topics (`node:<id>`, `session:<id>` …), which are
 * announced in its own transaction (NOTIFY is delivered at commit, and only then) and applied at once in the
 * process that made it. What was loaded before a topic changed is stale, wherever it was loaded.
 *
 * The channel is watched: while it is down, or has not answered for a second, nothing cached is trusted, and
 * after it is back everything loaded before is stale (bar: "caches not trusted until it is back").
 *
 * @example
 * const at = changes.now();            // before loading
 * const value = await load();
 * ... changes.isFresh(at, topics)      // at every use
 */
export interface Changes {
  /** The moment to remember before loading something that will be kept. */
  readonly now: () => number;
  readonly isFresh: (loadedAt: number, topics: readonly string[]) => boolean;
  /** Whether this process hears of changes; when not, nothing that it remembers may be used. */
  isTrusted(): boolean;
  apply(topics: Iterable<string>): void;
  /**
   * Columns that one statement of the transaction has to select, whichever it is: it announces the topics, and
   * `transaction` is the number by which others ask for what it did (`reach`). What that cannot take is sent ahead.
   */
  announcing(tx: Executor, topics: Iterable<string>): Promise<SQL>;
  /**
   * Nothing that is used from a cache after this is older than that transaction, which the caller knows to be
   * committed; null: than any that is committed now. Without a promise if that is so already. Never rejects: if the
   * channel does not say in time, it is not trusted any more, and the database is asked for everything.
   */
  reach(transaction: number | null): Promise<void> | undefined;
  close(): Promise<void>;
}

const CHANNEL = 'doorward_changes';
/** Topics remembered one by one; past that, all that is older is called stale, which is always safe. */
const REMEMBERED = 100_000;
/** In place of the number, in all parts of an announcement but the last. */
const UNFINISHED = '0';
/** NOTIFY takes payloads below 8000 bytes. */
const PAYLOAD_BYTES = 7800;

function createMemory() {
  let moment = 1;
  let floor = 0;
  const changedAt = new Map<string, number>();
  return {
    now: () => moment,
    isFresh: (loadedAt: number, topics: readonly string[]): boolean =>
      loadedAt >= floor && topics.every((topic) => (changedAt.get(topic) ?? 0) <= loadedAt),
    apply(topics: Iterable<string>): void {
      moment++;
      for (const topic of topics) changedAt.set(topic, moment);
      if (changedAt.size > REMEMBERED) this.forgetAll();
    },
    forgetAll(): void {
      floor = ++moment;
      changedAt.clear();
    },
  };
}

/** One process on an embedded database: whatever changes, it changed it. */
function localChanges(): Changes {
  const memory = createMemory();
  return {
    ...memory,
    apply: (topics) => memory.apply(topics),
    isTrusted: () => true,
    announcing: async () => NUMBER,
    reach: () => undefined,
    close: async () => undefined,
  };
}

export async function openChanges(
  database: Database,
  log: (error: unknown, message: string) => void,
): Promise<Changes> {
  const { connection } = database;
  if (connection === null) return localChanges();
  const memory = createMemory();
  const heard = createHeard();
  const origin = randomUUID();
  const channel = await openChangeChannel({
    connection,
    name: CHANNEL,
    log,
    opened(below) {
      memory.forgetAll();
      heard.addBelow(below);
    },
    heard(announcement) {
      const [from, transaction = '', below = '', ...topics] = announcement.split(' ');
      // What this process did itself it applied when it did it.
      if (from !== origin) memory.apply(topics);
      heard.addBelow(Number(below));
      if (transaction !== UNFINISHED) heard.add(Number(transaction));
    },
  });

  const notifying = (transaction: SQL, topics: string): SQL =>
    sql`pg_notify(${CHANNEL}, concat_ws(' ', ${origin}::text, ${transaction}, ${sql.raw(OLDEST_OPEN)}, ${topics}::text))`;

  return {
    now: memory.now,
    isFresh: memory.isFresh,
    apply: (topics) => memory.apply(topics),
    isTrusted: () => channel.isTrusted(),
    async announcing(tx, topics) {
      const parts = [...batches(topics)];
      const last = parts.pop();
      for (const part of parts) await tx.execute(sql`select ${notifying(sql`${UNFINISHED}::text`, part)}`);
      return last === undefined ? NUMBER : sql`${NUMBER}, ${notifying(CURRENT, last)} as announced`;
    },
    reach(transaction) {
      if (transaction !== null && heard.has(transaction)) return undefined;
      return channel.ask().then(
        // One of another timeline, in a database that was restored, is never taken for heard.
        (below) => void (transaction !== null && transaction < below && heard.add(transaction)),
        () => undefined,
      );
    },
    close: () => channel.close(),
  };
}

const CURRENT = sql`pg_current_xact_id()`;
const NUMBER = sql`${CURRENT}::text as transaction`;

/** Number of the open transaction. */
export async function numberOf(tx: Executor): Promise<number> {
  const [row] = await rowsOf<{ transaction: string }>(tx, sql`select ${NUMBER}`);
  return Number(row?.transaction);
}

function* batches(topics: Iterable<string>): Generator<string> {
  let batch = '';
  for (const topic of topics) {
    if (batch && batch.length + topic.length >= PAYLOAD_BYTES) {
      yield batch;
      batch = '';
    }
    batch += batch ? ` ${topic}` : topic;
  }
  if (batch) yield batch;
}
