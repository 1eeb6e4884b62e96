import { sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Database } from './open.ts';

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
  announce(tx: Executor, topics: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

const CHANNEL = 'doorward_changes';
const BEAT_MS = 400;
const SILENCE_MS = 1000;
/** Topics remembered one by one; past that, all that is older is called stale, which is always safe. */
const REMEMBERED = 100_000;
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
    announce: async () => undefined,
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
  const origin = randomUUID();
  let client: pg.Client | null = null;
  let heardAt = 0;
  let closed = false;
  let beating: Promise<void> | null = null;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      query_timeout: SILENCE_MS,
      application_name: 'doorward changes',
    });
    fresh.on('error', () => drop(fresh));
    fresh.on('notification', ({ payload = '' }) => {
      const [from, ...topics] = payload.split(' ');
      // What this process did itself it applied when it did it.
      if (from !== origin) memory.apply(topics);
    });
    try {
      await fresh.connect();
      await fresh.query(`listen ${CHANNEL}`);
    } catch (error) {
      void fresh.end().catch(() => undefined);
      throw error;
    }
    client = fresh;
    // Whatever changed before the channel stood was not heard.
    memory.forgetAll();
    heardAt = performance.now();
  }

  function drop(failed: pg.Client): void {
    if (client !== failed) return;
    client = null;
    heardAt = 0;
    void failed.end().catch(() => undefined);
  }

  async function beat(): Promise<void> {
    const listening = client;
    try {
      if (!listening) return await connect();
      await listening.query('select 1');
      // Notifications committed before this answer were delivered before it, on the same connection.
      heardAt = performance.now();
    } catch (error) {
      if (listening) drop(listening);
      if (!closed) log(error, 'the change channel is down; nothing cached is trusted until it is back');
    }
  }

  await connect();
  const timer = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = null;
    });
  }, BEAT_MS);
  timer.unref();

  return {
    now: memory.now,
    isFresh: memory.isFresh,
    apply: (topics) => memory.apply(topics),
    isTrusted: () => client !== null && performance.now() - heardAt < SILENCE_MS,
    async announce(tx, topics) {
      for (const batch of batches(topics)) {
        await tx.execute(sql`select pg_notify(${CHANNEL}, ${`${origin} ${batch}`})`);
      }
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await beating;
      await client?.end().catch(() => undefined);
    },
  };
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
