import { sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import type { Executor } from '../../kernel/scoped-db.ts';
import { createSeenTransactions } from './seen-transactions.ts';
import { openChangeChannel, OLDEST_OPEN } from './change-channel.ts';
import type { Database } from '../connection/open.ts';
import { rowsOf } from '../statements/rows.ts';

/**
 * Cache invalidation across processes. A mutation names topics (`node:<id>`, `session:<id>` …). Its transaction
 * announces them by NOTIFY, which PostgreSQL delivers at commit; the mutation's own process applies them directly. A
 * cached value is stale in every process if one of its topics has changed since before the value was loaded.
 *
 * While the change channel is down or has not responded for a second, caches are not trusted. When it is back,
 * everything that was loaded before is stale.
 *
 * @example
 * const at = changes.now();            // before loading
 * const value = await load();
 * ... changes.isFresh(at, topics)      // at every use
 */
export interface Changes {
  /** The logical time to store with a value; read it before loading the value. */
  readonly now: () => number;
  /** Whether none of the topics has changed since the logical time `loadedAt`. */
  readonly isFresh: (loadedAt: number, topics: readonly string[]) => boolean;
  /** Whether this process receives changes. If not, no cached value may be used. */
  isTrusted(): boolean;
  /** Marks values with these topics as stale in this process. */
  apply(topics: Iterable<string>): void;
  /**
   * Returns columns that announce the topics; any one statement of the transaction has to select them. The column
   * `transaction` is the number for `awaitTransaction`. Topics beyond the size limit of NOTIFY are announced
   * immediately by separate statements.
   */
  announcement(tx: Executor, topics: Iterable<string>): Promise<SQL>;
  /**
   * Waits until cached values are at least as new as this committed transaction; with null, as new as every transaction
   * committed so far. Returns undefined if they already are. Never rejects: if the channel does not respond in time, it
   * is marked untrusted, and caches are bypassed.
   */
  awaitTransaction(transaction: number | null): Promise<void> | undefined;
  /**
   * Calls the listener with the topics of every change, whichever process made it, or with null if changes may have
   * been missed. Returns a function that removes the listener.
   */
  onChange(listener: ChangeListener): () => void;
  /**
   * Resolves when the listeners have been called for every change that was committed before the call. All transactions
   * with a number lower than `below` are included; `below` is null in the embedded database. Resolves to null if the
   * channel does not respond, and is thus untrusted.
   */
  confirm(): Promise<{ readonly below: number | null } | null>;
  close(): Promise<void>;
}

type ChangeListener = (topics: readonly string[] | null) => void;

const CHANNEL = 'doorward_changes';
/** How many topics to remember. If there are more, everything older counts as stale, which is always safe. */
const MAX_TOPICS = 100_000;
/** Stands in for the transaction number in every part of an announcement except the last. */
const MORE_PARTS = '0';
/** The payload of NOTIFY must be shorter than 8000 bytes. */
const PAYLOAD_BYTES = 7800;

function createTopicClock() {
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
      if (changedAt.size > MAX_TOPICS) this.invalidateAll();
    },
    invalidateAll(): void {
      floor = ++moment;
      changedAt.clear();
    },
  };
}

function createListeners() {
  const listeners = new Set<ChangeListener>();
  return {
    call: (topics: readonly string[] | null): void => listeners.forEach((listener) => listener(topics)),
    onChange: (listener: ChangeListener) => {
      listeners.add(listener);
      return (): void => void listeners.delete(listener);
    },
  };
}

/** For the embedded database, which has only one process. */
function localChanges(): Changes {
  const topicClock = createTopicClock();
  const listeners = createListeners();
  return {
    ...topicClock,
    apply(topics) {
      const applied = [...topics];
      topicClock.apply(applied);
      listeners.call(applied);
    },
    onChange: listeners.onChange,
    confirm: async () => ({ below: null }),
    isTrusted: () => true,
    announcement: async () => TRANSACTION_COLUMN,
    awaitTransaction: () => undefined,
    close: async () => undefined,
  };
}

export async function openChanges(
  database: Database,
  log: (error: unknown, message: string) => void,
): Promise<Changes> {
  const { connection } = database;
  if (connection === null) return localChanges();
  const topicClock = createTopicClock();
  const listeners = createListeners();
  const seen = createSeenTransactions();
  const origin = randomUUID();
  const channel = await openChangeChannel({
    connection,
    name: CHANNEL,
    log,
    onOpened(oldestOpen) {
      topicClock.invalidateAll();
      listeners.call(null);
      seen.addBelow(oldestOpen);
    },
    onAnnouncement(announcement) {
      const [sender, transaction = '', oldestOpen = '', ...topics] = announcement.split(' ');
      // This process has already applied its own changes.
      if (sender !== origin) topicClock.apply(topics);
      // Changes of this process are included, so that listeners have received all of them when `confirm` resolves.
      listeners.call(topics);
      seen.addBelow(Number(oldestOpen));
      if (transaction !== MORE_PARTS) seen.add(Number(transaction));
    },
  });

  const notifyCall = (transaction: SQL, topics: string): SQL =>
    sql`pg_notify(${CHANNEL}, concat_ws(' ', ${origin}::text, ${transaction}, ${sql.raw(OLDEST_OPEN)}, ${topics}::text))`;

  return {
    now: topicClock.now,
    isFresh: topicClock.isFresh,
    apply: (topics) => topicClock.apply(topics),
    isTrusted: () => channel.isTrusted(),
    async announcement(tx, topics) {
      const parts = [...joinTopics(topics)];
      const last = parts.pop();
      for (const part of parts) await tx.execute(sql`select ${notifyCall(sql`${MORE_PARTS}::text`, part)}`);
      return last === undefined
        ? TRANSACTION_COLUMN
        : sql`${TRANSACTION_COLUMN}, ${notifyCall(CURRENT_TRANSACTION, last)} as announced`;
    },
    awaitTransaction(transaction) {
      if (transaction !== null && seen.has(transaction)) return undefined;
      return channel.sync().then(
        // After a restore the number may come from another timeline, so it counts as seen only below the oldest open
        // transaction.
        (oldestOpen) => void (transaction !== null && transaction < oldestOpen && seen.add(transaction)),
        () => undefined,
      );
    },
    onChange: listeners.onChange,
    confirm: () =>
      channel.sync().then(
        (below) => ({ below }),
        () => null,
      ),
    close: () => channel.close(),
  };
}

const CURRENT_TRANSACTION = sql`pg_current_xact_id()`;
const TRANSACTION_COLUMN = sql`${CURRENT_TRANSACTION}::text as transaction`;

/** Number of the open transaction. */
export async function transactionNumber(tx: Executor): Promise<number> {
  const [row] = await rowsOf<{ transaction: string }>(tx, sql`select ${TRANSACTION_COLUMN}`);
  return Number(row?.transaction);
}

function* joinTopics(topics: Iterable<string>): Generator<string> {
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
