import pg from 'pg';

/**
 * The connection on which a process hears of changes, and the knowledge of whether it does. It is asked every 400 ms;
 * while it is down, or has not answered what was asked within the last second, it is not trusted.
 */
export interface ChangeChannel {
  isTrusted(): boolean;
  /**
   * Whoever has the answer has heard all that was announced before he asked. Rejects when it does not come in time,
   * and then the channel is not trusted until it has answered what was asked later.
   * @returns the oldest transaction that was still open then: those below it are over
   */
  ask(): Promise<number>;
  close(): Promise<void>;
}

export interface ChangeChannelOptions {
  readonly connection: pg.ClientConfig;
  readonly name: string;
  /** Listening has begun (again): what was announced before was not heard. `below` as of `ask`. */
  readonly opened: (below: number) => void;
  readonly heard: (announcement: string) => void;
  readonly log: (error: unknown, message: string) => void;
}

const BEAT_MS = 400;
const SILENCE_MS = 1000;
/** How long somebody may wait for an answer, who can be served otherwise. */
const PATIENCE_MS = 250;

/** @throws whatever keeps the first connection from being made */
export async function openChangeChannel(options: ChangeChannelOptions): Promise<ChangeChannel> {
  const { connection, name, opened, heard, log } = options;
  let client: pg.Client | null = null;
  let heardAt = -Infinity;
  let givenUpAt = -Infinity;
  let closed = false;
  let beating: Promise<void> | null = null;
  let asking: Promise<number> | null = null;
  let nextAsking: Promise<number> | null = null;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      query_timeout: SILENCE_MS,
      application_name: 'doorward changes',
    });
    fresh.on('error', () => drop(fresh));
    fresh.on('notification', ({ payload = '' }) => heard(payload));
    let below: number;
    let began: number;
    try {
      await fresh.connect();
      await fresh.query(`listen ${name}`);
      began = performance.now();
      below = await oldestOpen(fresh);
    } catch (error) {
      void fresh.end().catch(() => undefined);
      throw error;
    }
    client = fresh;
    opened(below);
    heardAt = began;
  }

  function drop(failed: pg.Client): void {
    if (client !== failed) return;
    client = null;
    heardAt = -Infinity;
    void failed.end().catch(() => undefined);
  }

  async function question(): Promise<number> {
    const listening = client;
    if (!listening) throw new Error('the change channel is down');
    const began = performance.now();
    try {
      const below = await oldestOpen(listening);
      // Notifications that were committed before the question came before the answer, on the same connection. Nothing
      // is known of those that came while the answer was on its way. An answer to a question that timed out may be
      // older than the state that is asked about now.
      if (began > givenUpAt) heardAt = began;
      return below;
    } catch (error) {
      drop(listening);
      throw error;
    }
  }

  /** One question at a time; whoever comes while it is under way shares the next. */
  function ask(): Promise<number> {
    if (!asking) return (asking = question().finally(() => (asking = null)));
    const next = () => {
      nextAsking = null;
      return ask();
    };
    return (nextAsking ??= asking.then(next, next));
  }

  async function beat(): Promise<void> {
    try {
      await (client ? ask() : connect());
    } catch (error) {
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
    isTrusted: () => client !== null && performance.now() - heardAt < SILENCE_MS,
    ask: () =>
      inTime(ask()).catch((error: unknown) => {
        heardAt = -Infinity;
        givenUpAt = performance.now();
        throw error;
      }),
    async close() {
      closed = true;
      clearInterval(timer);
      await beating;
      await client?.end().catch(() => undefined);
    },
  };
}

/** In SQL: all transactions below this number are over, and seen by whatever is read from now on. */
export const OLDEST_OPEN = 'pg_snapshot_xmin(pg_current_snapshot())';

async function oldestOpen(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ transaction: string }>(`select ${OLDEST_OPEN}::text as transaction`);
  return Number(rows[0]?.transaction);
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the change channel did not answer in time')), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
