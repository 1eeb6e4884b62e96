import { sql } from 'drizzle-orm';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { purgeIdempotencyKeys } from '../idempotency/idempotency.ts';
import type { Database } from '../connection/open.ts';
import { expiredPeople, purgePerson, purgeStubs, type Person } from './purge-people.ts';
import {
  addCounts,
  BATCH,
  cancelStalledDeliveries,
  expiredNodes,
  timestampOf,
  purgeNode,
  purgeRows,
  deleteBatch,
  type Counts,
  type Due,
} from './purge-rows.ts';
import { rowsOf } from '../statements/rows.ts';
import { readTableGraph } from './table-graph.ts';
import { nodeTables } from '../tenancy/tenant-tree.ts';

interface Purge {
  /**
   * Runs the purge. Never rejects. Concurrent calls share one run; the counts are empty if another process is purging.
   */
  run(): Promise<PurgeCounts>;
  /**
   * Deletes rows whose `purge_at` has passed, even while another run is active. Never rejects: the next run repeats
   * whatever failed or was interrupted.
   */
  runUrgent(): Promise<void>;
  /** Stops after the current batch. */
  stop(): Promise<void>;
}

/** Number of deleted rows by table. `erased` counts users whose personal data was deleted, even if their row stays. */
export type PurgeCounts = Readonly<Counts>;

interface PurgeOptions<Position> {
  readonly database: Pick<Database, 'transaction'>;
  readonly clock: Clock;
  readonly retention: { readonly deletionDays: number; readonly eventsDays: number };
  /** Erases a user from one batch of the logs, and returns the position of the next batch; null after the last. */
  readonly eraseFromLogs: (tx: Executor, person: Person, after: Position | null) => Promise<Position | null>;
  readonly log: (error: unknown, message: string) => void;
  readonly onPurged: (counts: PurgeCounts) => void;
}

const DAY_MS = 86_400_000;
/** How long notifications are kept, whether read or unread (model §3). */
const NOTIFICATION_DAYS = 90;
const PURGE_LOCK = 7_363_027_452;
const tryLock = sql`pg_try_advisory_xact_lock(${PURGE_LOCK})`;
const waitForLock = sql`pg_advisory_xact_lock(${PURGE_LOCK}) is not null`;

/** Thrown if another process is purging, or this process is stopping. */
class PurgeStopped extends Error {}

/**
 * Creates the purge, which deletes soft-deleted rows after their retention, and expired rows (model §4, conventions
 * §9.4). It works in batches. Each batch is a separate transaction under one advisory lock of the installation, so only
 * one process at a time purges. An interrupted purge loses nothing: the next run continues.
 *
 * Other live rows of live nodes stay unchanged, except that accepted and revoked invitations lose the address of an
 * erased user, and stalled webhook deliveries are canceled.
 */
export function createPurge<Position>(options: PurgeOptions<Position>): Purge {
  const { database, clock, retention, eraseFromLogs, log, onPurged } = options;

  let stopping = false;
  let running: Promise<PurgeCounts> | null = null;
  const urgentRuns = new Set<Promise<PurgeCounts>>();

  /** Runs a batch under the lock. With `wait`, waits for the batch of another run instead of giving up. */
  const inBatch =
    (wait: boolean) =>
    <T>(work: (tx: Executor) => Promise<T>): Promise<T> =>
      database.transaction(async (tx) => {
        const lock = wait ? waitForLock : tryLock;
        const [lockRow] = await rowsOf<{ taken: boolean }>(tx, sql`select ${lock} as taken`);
        if (!lockRow?.taken || stopping) throw new PurgeStopped();
        return work(tx);
      });

  async function purge(counts: Counts, urgentOnly: boolean): Promise<void> {
    const batch = inBatch(urgentOnly);
    const daysAgo = (days: number): Date => new Date(clock.now().getTime() - days * DAY_MS);
    const deletionCutoff = daysAgo(retention.deletionDays);

    const countedBatch = async (work: (tx: Executor) => Promise<Counts>): Promise<Counts> => {
      const deleted = await batch(work);
      addCounts(counts, deleted);
      return deleted;
    };
    const untilEmpty = async (work: (tx: Executor) => Promise<Counts>): Promise<void> => {
      while (Object.keys(await countedBatch(work)).length > 0);
    };
    /** Runs one task. Its failure must not stop the rest of the purge; the next run tries again. */
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (error instanceof PurgeStopped) throw error;
        log(error, `${what} could not be purged`);
      }
    };
    const purgeOlder = (table: string, column: string, before: Date, other = sql`true`) =>
      attempt(table, () =>
        untilEmpty(async (tx) => {
          const where = sql`${sql.identifier(column)} <= ${timestampOf(before)} and ${other}`;
          const deleted = await deleteBatch(tx, table, where);
          return deleted > 0 ? { [table]: deleted } : {};
        }),
      );
    const graph = await batch(readTableGraph);

    const purgeNodes = async (due: Due): Promise<void> => {
      for (const table of ['project_grants', ...nodeTables]) {
        let after: string | null = null;
        for (;;) {
          const ids: string[] = await batch((tx) => expiredNodes(tx, table, due, after));
          for (const id of ids)
            await attempt(table, () => untilEmpty((tx) => purgeNode(tx, graph, table, id)));
          after = ids.at(-1) ?? null;
          if (after === null) break;
        }
      }
    };
    const purgePeople = async (due: Due): Promise<void> => {
      for (let after: string | null = null; ;) {
        const people: Person[] = await batch((tx) => expiredPeople(tx, due, after));
        after = people.at(-1)?.id ?? null;
        if (after === null) break;
        for (const person of people) {
          await attempt('a user', async () => {
            // The logs first: until the user's name is cleared, the next run selects the user again.
            for (let next = await batch((tx) => eraseFromLogs(tx, person, null)); next !== null;) {
              const position: Position = next;
              next = await batch((tx) => eraseFromLogs(tx, person, position));
            }
            await countedBatch((tx) => purgePerson(tx, graph, person));
          });
        }
      }
      await attempt('users', () => untilEmpty((tx) => purgeStubs(tx, graph, due)));
    };

    const urgent: Due = { column: 'purge_at', at: clock.now() };
    await purgeNodes(urgent);
    await purgePeople(urgent);
    if (urgentOnly) return;
    const expired: Due = { column: 'deleted_at', at: deletionCutoff };
    await purgeNodes(expired);
    for (const table of graph.order.filter(({ ofTenant, isMarked }) => ofTenant && isMarked)) {
      await attempt(table.name, () => untilEmpty((tx) => purgeRows(tx, graph, table, deletionCutoff)));
    }
    await purgePeople(expired);
    await purgeOlder('one_time_tokens', 'expires_at', clock.now());
    await purgeOlder('passkey_challenges', 'expires_at', clock.now());
    await purgeOlder('sign_in_flows', 'expires_at', clock.now());
    await purgeOlder('step_outcomes', 'expires_at', clock.now());
    await purgeOlder('cli_codes', 'expires_at', clock.now());
    await purgeOlder('project_codes', 'expires_at', clock.now());
    await purgeOlder('device_authorizations', 'expires_at', clock.now());
    await purgeOlder('prepared_operators', 'expires_at', clock.now());
    await purgeOlder('failed_attempts', 'window_ends_at', clock.now());
    await purgeOlder('mfa_attempts', 'window_ends_at', clock.now());
    await purgeOlder('account_failures', 'failed_at', daysAgo(1));
    await purgeOlder('known_networks', 'signed_in_at', daysAgo(30));
    await purgeOlder('sessions', 'ended_at', deletionCutoff);
    await purgeOlder('sessions', 'expires_at', deletionCutoff);
    const eventsCutoff = daysAgo(retention.eventsDays);
    await purgeOlder('events', 'occurred_at', eventsCutoff);
    await attempt('webhook_deliveries', async () => {
      while ((await batch((tx) => cancelStalledDeliveries(tx, eventsCutoff, clock.now()))) === BATCH);
    });
    await purgeOlder('webhook_deliveries', 'updated_at', eventsCutoff, sql`status <> 'pending'`);
    await purgeOlder('notifications', 'created_at', daysAgo(NOTIFICATION_DAYS));
    await attempt('idempotency_keys', () => batch((tx) => purgeIdempotencyKeys(tx, daysAgo(1))));
  }

  async function runPurge(urgentOnly: boolean): Promise<PurgeCounts> {
    const counts: Counts = {};
    try {
      await purge(counts, urgentOnly);
    } catch (error) {
      if (!(error instanceof PurgeStopped)) log(error, 'the purge stopped');
    }
    if (Object.keys(counts).length > 0) onPurged(counts);
    return counts;
  }

  return {
    run: () => (running ??= runPurge(false).finally(() => (running = null))),
    async runUrgent() {
      const run = runPurge(true);
      urgentRuns.add(run);
      await run.finally(() => urgentRuns.delete(run));
    },
    async stop() {
      stopping = true;
      await Promise.all([running, ...urgentRuns]);
    },
  };
}
