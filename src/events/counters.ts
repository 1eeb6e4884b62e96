import { sql } from 'drizzle-orm';
import { nodes } from '../db/nodes.ts';
import { hasMovedOn } from '../db/pg-error.ts';
import { instant, isAnyOf, rowsOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';

/** What a node's counters are at before what is written next. */
export interface Counters {
  readonly auditSequence: number;
  readonly eventSequence: number;
  /** Of its last entry, which the next one carries on. */
  readonly hash: string;
  readonly deleted: boolean;
  /** When it is written: by the clock of the database, and never before what was written last. */
  readonly now: Date;
}

/** What they are at after it; `now`: when that was. */
export type Left = Omit<Counters, 'deleted'> & { readonly id: string };

/** So long a process trusts what it wrote last: by then a node that is written to often has been written to again. */
const KNOWN_MS = 10_000;
/** By more than it takes to answer, the clock of the database was set back: then it is asked what time it is. */
const SET_BACK_MS = 1_000;
/** So long it waits for what it has sent itself. */
const TURN_MS = 50;
/** So long it asks first, once another process was found to write to the same node. */
const CONTESTED_MS = 5_000;
const MOST = 10_000;

/**
 * Counters of nodes, by their ids. They are asked under the nodes' locks, which are then held for another round trip;
 * but what this process wrote last it knows, and may carry on from there before that is committed, since the statement
 * that appends takes the same locks and refuses if anything else was written meanwhile (decision 0027).
 */
export interface CountersOfNodes {
  /**
   * Known, or asked under lock until commit; a node that does not exist is left out. `next` sends what is to be written
   * and says what they are at after it, whether or not it will be committed.
   */
  readonly carryOn: (
    tx: Executor,
    ids: readonly string[],
    next: (counted: ReadonlyMap<string, Counters>) => Sent,
  ) => Promise<void>;
}

export interface Sent {
  readonly left: readonly Left[];
  /** The time of the database, when the nodes are locked and what was sent is written. */
  readonly written: Promise<Date>;
}

export function createCounters(now: () => number = () => performance.now()): CountersOfNodes {
  const known = new Map<string, { readonly left: Left; readonly at: number }>();
  const contestedUntil = new Map<string, number>();
  /** How many ask under lock: they come before whoever would carry on from what is known. */
  const asking = new Map<string, number>();
  /** What was sent and is not written yet: on its own connection, whoever carries on from it could be faster. */
  const underWay = new Map<string, Promise<unknown>>();
  /** Of the database's clock from ours, at most: an answer is read after it was written. */
  let ahead: number | null = null;

  function remembered(ids: readonly string[]): ReadonlyMap<string, Counters> | null {
    const at = now();
    const found = new Map<string, Counters>();
    for (const id of ids) {
      const last = known.get(id);
      if (!last || ahead === null || asking.has(id) || at - last.at > KNOWN_MS) return null;
      const lastTime = last.left.now.getTime();
      const time = Math.max(lastTime, at + ahead);
      if (time - (at + ahead) > SET_BACK_MS) return null;
      // Whether it is deleted by now is asked by the statement that appends.
      found.set(id, { ...last.left, deleted: false, now: new Date(time) });
    }
    return found;
  }

  function keep(ids: readonly string[], { left, written }: Sent): void {
    const at = now();
    if (known.size >= MOST) known.clear();
    for (const one of left) if ((contestedUntil.get(one.id) ?? 0) <= at) known.set(one.id, { left: one, at });
    const ended = written
      .then(told, (error: unknown) => forget(ids, hasMovedOn(error)))
      .finally(() => {
        for (const id of ids) if (underWay.get(id) === ended) underWay.delete(id);
      });
    for (const id of ids) underWay.set(id, ended);
  }

  const told = (time: Date): void => void (ahead = time.getTime() - now());

  function forget(ids: readonly string[], contested: boolean): void {
    if (contestedUntil.size >= MOST) contestedUntil.clear();
    for (const id of ids) {
      known.delete(id);
      if (contested) contestedUntil.set(id, now() + CONTESTED_MS);
    }
  }

  function ask(ids: readonly string[], more: 1 | -1): void {
    for (const id of ids) {
      const count = (asking.get(id) ?? 0) + more;
      if (count > 0) asking.set(id, count);
      else asking.delete(id);
    }
  }

  /** Not for long: the one ahead may be waiting for a lock that the transaction of this one holds. */
  async function inTurn(ids: readonly string[]): Promise<void> {
    const until = now() + TURN_MS;
    for (;;) {
      const others = ids.flatMap((id) => underWay.get(id) ?? []);
      if (others.length === 0 || now() >= until) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, until - now())));
      await Promise.race([Promise.all(others), late]);
      clearTimeout(timer);
    }
  }

  return {
    async carryOn(tx, ids, next) {
      await inTurn(ids);
      const found = remembered(ids);
      if (found) return keep(ids, next(found));
      ask(ids, 1);
      try {
        const locked = await lock(tx, ids);
        for (const counters of locked.values()) told(counters.now);
        keep(ids, next(locked));
      } finally {
        ask(ids, -1);
      }
    },
  };
}

async function lock(tx: Executor, ids: readonly string[]): Promise<Map<string, Counters>> {
  const rows = await rowsOf<CounterRow>(
    tx,
    // The time is that of the lock and not of its asking: entries of a node are in order of both.
    sql`with locked as materialized (
        select id, audit_sequence, event_sequence, audit_hash, deleted_at is not null as deleted from ${nodes}
        where ${isAnyOf(nodes.id, ids)} order by id for no key update)
      select *, clock_timestamp() as now from locked`,
  );
  return new Map(
    rows.map((row) => [
      row.id,
      {
        auditSequence: Number(row.audit_sequence),
        eventSequence: Number(row.event_sequence),
        hash: row.audit_hash,
        deleted: row.deleted,
        now: instant(row.now),
      },
    ]),
  );
}

interface CounterRow {
  readonly id: string;
  readonly audit_sequence: string | number;
  readonly event_sequence: string | number;
  readonly audit_hash: string;
  readonly deleted: boolean;
  readonly now: string | Date;
}
