import pg from 'pg';
import { SESSION_SETTINGS } from '../statements/session-settings.ts';

/**
 * The LISTEN connection of a process, and whether it can be trusted. The process queries it every 400 ms. The channel
 * is untrusted while it is down, or while the last query that it responded to was sent more than one second ago.
 */
export interface ChangeChannel {
  isTrusted(): boolean;
  /**
   * Resolves once the process has received every announcement that was committed before the call. Rejects after a
   * time-out; the channel is then untrusted until it responds to a later query.
   *
   * @returns the oldest open transaction at that time; all transactions with a lower number have ended
   */
  sync(): Promise<number>;
  close(): Promise<void>;
}

interface ChangeChannelOptions {
  readonly connection: pg.ClientConfig;
  readonly name: string;
  /** Called when listening has started; earlier announcements may be lost. `oldestOpen` is as in `sync`. */
  readonly onOpened: (oldestOpen: number) => void;
  readonly onAnnouncement: (announcement: string) => void;
  readonly log: (error: unknown, message: string) => void;
}

const POLL_INTERVAL_MS = 400;
const TRUST_MS = 1000;
/** Short, because the caller can read from the database instead. */
const SYNC_TIMEOUT_MS = 250;

/**
 * Opens the channel and reconnects it when it breaks.
 * @throws the error of the first connection attempt
 */
export async function openChangeChannel(options: ChangeChannelOptions): Promise<ChangeChannel> {
  const { connection, name, onOpened, onAnnouncement, log } = options;
  let client: pg.Client | null = null;
  let confirmedAt = -Infinity;
  let timedOutAt = -Infinity;
  let closed = false;
  let polling: Promise<void> | null = null;
  let currentQuery: Promise<number> | null = null;
  let nextQuery: Promise<number> | null = null;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      query_timeout: TRUST_MS,
      application_name: 'doorward changes',
    });
    fresh.on('error', () => drop(fresh));
    fresh.on('notification', ({ payload = '' }) => onAnnouncement(payload));
    let oldestOpen: number;
    let queriedAt: number;
    try {
      await fresh.connect();
      await fresh.query(SESSION_SETTINGS);
      await fresh.query(`listen ${name}`);
      queriedAt = performance.now();
      oldestOpen = await readOldestOpen(fresh);
    } catch (error) {
      void fresh.end().catch(() => undefined);
      throw error;
    }
    client = fresh;
    onOpened(oldestOpen);
    confirmedAt = queriedAt;
  }

  function drop(failed: pg.Client): void {
    if (client !== failed) return;
    client = null;
    confirmedAt = -Infinity;
    void failed.end().catch(() => undefined);
  }

  async function queryOldestOpen(): Promise<number> {
    const listening = client;
    if (!listening) throw new Error('the change channel is down');
    const queriedAt = performance.now();
    try {
      const oldestOpen = await readOldestOpen(listening);
      // The connection delivers notifications in order, so all that were committed before the query have arrived; later
      // ones may be missing. The response to a query that has timed out must not restore the trust.
      if (queriedAt > timedOutAt) confirmedAt = queriedAt;
      return oldestOpen;
    } catch (error) {
      drop(listening);
      throw error;
    }
  }

  /** Runs one query at a time; callers that arrive during a query share the next one. */
  function shareQuery(): Promise<number> {
    if (!currentQuery) return (currentQuery = queryOldestOpen().finally(() => (currentQuery = null)));
    const next = () => {
      nextQuery = null;
      return shareQuery();
    };
    return (nextQuery ??= currentQuery.then(next, next));
  }

  async function poll(): Promise<void> {
    try {
      await (client ? shareQuery() : connect());
    } catch (error) {
      if (!closed) log(error, 'the change channel is down; caches are not trusted until it is back');
    }
  }

  await connect();
  const timer = setInterval(() => {
    polling ??= poll().finally(() => {
      polling = null;
    });
  }, POLL_INTERVAL_MS);
  timer.unref();

  return {
    isTrusted: () => client !== null && performance.now() - confirmedAt < TRUST_MS,
    sync: () =>
      withTimeout(shareQuery()).catch((error: unknown) => {
        confirmedAt = -Infinity;
        timedOutAt = performance.now();
        throw error;
      }),
    async close() {
      closed = true;
      clearInterval(timer);
      await polling;
      await client?.end().catch(() => undefined);
    },
  };
}

/**
 * SQL for the oldest open transaction. All transactions with a lower number have ended and are visible to later reads.
 */
export const OLDEST_OPEN = 'pg_snapshot_xmin(pg_current_snapshot())';

async function readOldestOpen(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ transaction: string }>(`select ${OLDEST_OPEN}::text as transaction`);
  return Number(rows[0]?.transaction);
}

async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the change channel did not answer in time')), SYNC_TIMEOUT_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
