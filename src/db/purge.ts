import { sql } from 'drizzle-orm';
import type { Clock } from '../kernel/ports.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { purgeIdempotencyKeys } from './idempotency.ts';
import type { Database } from './open.ts';
import { expiredPeople, purgePerson, purgeStubs, type Person } from './purge-people.ts';
import {
  add,
  BATCH,
  cancelWaiting,
  expiredNodes,
  instantOf,
  purgeNode,
  purgeRows,
  removeSome,
} from './purge-rows.ts';
import type { Counts, Due } from './purge-rows.ts';
import { rowsOf } from './rows.ts';
import { readTableGraph } from './table-graph.ts';
import { nodeTables } from './tenant-tree.ts';

/**
 * What was deleted is removed for good after its retention (model §4, conventions §9.4), and what has had its time is
 * too. Everything happens in batches, each a transaction of its own under one lock of the installation: of several
 * processes one works at a time, and a purge that was killed has done what it has done; the next goes on from there.
 *
 * Rows of live nodes that nobody deleted are not touched, but for an address of an erased user in an invitation that is
 * accepted or revoked.
 */
export interface Purge {
  /** Never rejects. Calls that meet share one run; empty when another process is at it. */
  run(): Promise<PurgeCounts>;
  /**
   * Removes now what is not to wait for its retention (`purge_at`), also while another run is at work. Never rejects:
   * what fails, or is cut off by the end of the process, is left to the next run.
   */
  runUrgent(): Promise<void>;
  /** Ends a run with its batch. */
  stop(): Promise<void>;
}

/** Rows removed, by table; `erased`: users who lost all that was personal, whether or not their row could go. */
export type PurgeCounts = Readonly<Counts>;

export interface PurgeOptions<Place> {
  readonly database: Pick<Database, 'transaction'>;
  readonly clock: Clock;
  readonly retention: { readonly deletionDays: number; readonly eventsDays: number };
  /** Takes a person out of one page of the logs, and answers where the next begins. */
  readonly eraseFromLogs: (tx: Executor, person: Person, after: Place | null) => Promise<Place | null>;
  readonly log: (error: unknown, message: string) => void;
  readonly told: (counts: PurgeCounts) => void;
}

const DAY_MS = 86_400_000;
/** How long a notification is kept, read or not (model §3). */
const NOTIFICATION_DAYS = 90;
const PURGE_LOCK = 7_363_027_452;
const tryLock = sql`pg_try_advisory_xact_lock(${PURGE_LOCK})`;
const waitForLock = sql`pg_advisory_xact_lock(${PURGE_LOCK}) is not null`;

/** Another process is purging, or this one is closing: nothing is left to do here. */
class Over extends Error {}

export function createPurge<Place>(options: PurgeOptions<Place>): Purge {
  const { database, clock, retention, eraseFromLogs, log, told } = options;

  let stopping = false;
  let running: Promise<PurgeCounts> | null = null;
  const urgentRuns = new Set<Promise<PurgeCounts>>();

  /** `wait`: for the batch that another run is at, instead of leaving it the work. */
  const batched =
    (wait: boolean) =>
    <T>(work: (tx: Executor) => Promise<T>): Promise<T> =>
      database.transaction(async (tx) => {
        const lock = wait ? waitForLock : tryLock;
        const [held] = await rowsOf<{ taken: boolean }>(tx, sql`select ${lock} as taken`);
        if (!held?.taken || stopping) throw new Over();
        return work(tx);
      });

  async function purge(counts: Counts, urgentOnly: boolean): Promise<void> {
    const batch = batched(urgentOnly);
    const daysAgo = (days: number): Date => new Date(clock.now().getTime() - days * DAY_MS);
    const deleted = daysAgo(retention.deletionDays);

    const counted = async (work: (tx: Executor) => Promise<Counts>): Promise<Counts> => {
      const gone = await batch(work);
      add(counts, gone);
      return gone;
    };
    const untilEmpty = async (work: (tx: Executor) => Promise<Counts>): Promise<void> => {
      while (Object.keys(await counted(work)).length > 0);
    };
    /** One thing that cannot be purged must not keep the others; it is tried again by the next run. */
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (error instanceof Over) throw error;
        log(error, `${what} could not be purged`);
      }
    };
    const older = (table: string, column: string, before: Date, other = sql`true`) =>
      attempt(table, () =>
        untilEmpty(async (tx) => {
          const where = sql`${sql.identifier(column)} <= ${instantOf(before)} and ${other}`;
          const gone = await removeSome(tx, table, where);
          return gone > 0 ? { [table]: gone } : {};
        }),
      );
    const graph = await batch(readTableGraph);

    const purgeNodes = async (due: Due): Promise<void> => {
      for (const table of nodeTables) {
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
            // The logs first: as long as a user has his name, his purge is not done.
            for (let place = await batch((tx) => eraseFromLogs(tx, person, null)); place !== null;) {
              const from: Place = place;
              place = await batch((tx) => eraseFromLogs(tx, person, from));
            }
            await counted((tx) => purgePerson(tx, graph, person));
          });
        }
      }
      await attempt('users', () => untilEmpty((tx) => purgeStubs(tx, graph, due)));
    };

    const urgent: Due = { column: 'purge_at', at: clock.now() };
    await purgeNodes(urgent);
    await purgePeople(urgent);
    if (urgentOnly) return;
    const expired: Due = { column: 'deleted_at', at: deleted };
    await purgeNodes(expired);
    for (const table of graph.order.filter(({ ofTenant, isMarked }) => ofTenant && isMarked)) {
      await attempt(table.name, () => untilEmpty((tx) => purgeRows(tx, graph, table, deleted)));
    }
    await purgePeople(expired);
    await older('one_time_tokens', 'expires_at', clock.now());
    await older('sign_in_flows', 'expires_at', clock.now());
    await older('cli_codes', 'expires_at', clock.now());
    await older('project_codes', 'expires_at', clock.now());
    await older('failed_attempts', 'window_ends_at', clock.now());
    await older('mfa_attempts', 'window_ends_at', clock.now());
    await older('account_failures', 'failed_at', daysAgo(1));
    await older('known_networks', 'signed_in_at', daysAgo(30));
    await older('sessions', 'ended_at', deleted);
    await older('sessions', 'expires_at', deleted);
    const events = daysAgo(retention.eventsDays);
    await older('events', 'occurred_at', events);
    await attempt('webhook_deliveries', async () => {
      while ((await batch((tx) => cancelWaiting(tx, events, clock.now()))) === BATCH);
    });
    await older('webhook_deliveries', 'updated_at', events, sql`status <> 'pending'`);
    await older('notifications', 'created_at', daysAgo(NOTIFICATION_DAYS));
    await attempt('idempotency_keys', () => batch((tx) => purgeIdempotencyKeys(tx, daysAgo(1))));
  }

  async function whole(urgentOnly: boolean): Promise<PurgeCounts> {
    const counts: Counts = {};
    try {
      await purge(counts, urgentOnly);
    } catch (error) {
      if (!(error instanceof Over)) log(error, 'the purge stopped');
    }
    if (Object.keys(counts).length > 0) told(counts);
    return counts;
  }

  return {
    run: () => (running ??= whole(false).finally(() => (running = null))),
    async runUrgent() {
      const run = whole(true);
      urgentRuns.add(run);
      await run.finally(() => urgentRuns.delete(run));
    },
    async stop() {
      stopping = true;
      await Promise.all([running, ...urgentRuns]);
    },
  };
}
