import { sql } from 'drizzle-orm';
import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { Database } from '../../db/connection/open.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { createRelay, type RelayedEvent } from './relay.ts';
import { events } from '../../schema/events/event.ts';

const TYPE = 'test.happened';

let app: TestApp;
let logs: string[];
let sequence = 0;
beforeAll(async () => {
  // Not a shared app, because the relay of another test file could process these events.
  app = await startOwnApp();
  await app.owner.execute(sql`create table notified (id bigint generated always as identity, event text)`);
  await app.owner.execute(sql`grant select, insert, delete on notified to public`);
});
afterAll(() => app.close());
beforeEach(async () => {
  logs = [];
  await app.database.pool.execute(sql`delete from notified`);
  await app.database.pool.execute(sql`delete from events where type = ${TYPE}`);
});

/** Inserts events that are due by the database clock, independent of the test clock. */
async function happened(count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const id = v7();
    const body = { id: `evt_${id}`, data: { secret: 'sesame' } };
    const at = { occurredAt: new Date(), relayAt: new Date(0) };
    return { id, tenantId: SYSTEM_NODE, sequence: --sequence, type: TYPE, body, ...at };
  });
  await app.database.pool.insert(events).values(rows);
  return rows.map(({ body }) => body.id);
}

const hear = (tx: Executor, event: RelayedEvent) =>
  tx.execute(sql`insert into notified (event) values (${event.body.id})`);
const notified = async () =>
  (await rowsOf<{ event: string }>(app.database.pool, sql`select event from notified order by id`)).map(
    ({ event }) => event,
  );
const isWaiting = sql`relay_at is not null`;
const waiting = () => app.database.pool.select().from(events).where(isWaiting);
const dueNow = () =>
  app.database.pool
    .update(events)
    .set({ relayAt: new Date(0) })
    .where(isWaiting);

function relayWith(
  consume: (tx: Executor, event: RelayedEvent) => Promise<unknown>,
  database: Pick<Database, 'transaction'> = app.database,
) {
  return createRelay({
    database,
    consumers: [
      { takes: (type) => type === TYPE, consume: async (tx, event) => void (await consume(tx, event)) },
      { takes: () => false, consume: () => Promise.reject(new Error('asked for what it does not take')) },
    ],
    onRelayed: () => undefined,
    log: (error, message) => void logs.push(`${message}: ${String(error)}`),
  });
}

describe('the relay', () => {
  test('passes each event on once, even if several relays run', async () => {
    const ids = await happened(120);
    const relays = [relayWith(hear), relayWith(hear)];
    await Promise.all(relays.flatMap((relay) => [relay.flush(), relay.flush(), relay.flush()]));
    expect((await notified()).toSorted()).toEqual(ids.toSorted());
    expect(await waiting()).toEqual([]);
    const more = await happened(60);
    await relays[0]?.flush();
    expect((await notified()).slice(120)).toEqual(more);
    expect(logs).toEqual([]);
  });

  test('delays an event that fails, rolls back its writes, and continues with the others', async () => {
    const ids = await happened(5);
    const poisoned = ids[2];
    const failing = relayWith(async (tx, event) => {
      await hear(tx, event);
      if (event.body.id === poisoned) await tx.execute(sql`select 1 / 0`);
    });
    await failing.flush();
    await failing.flush();
    expect(await notified()).toEqual(ids.filter((id) => id !== poisoned));
    expect(logs).toHaveLength(1);
    expect(logs[0]).toContain(TYPE);
    expect(logs[0]).not.toContain('sesame');
    const [left] = await waiting();
    expect(left?.relayAttempts).toBe(1);
    await dueNow();
    await failing.flush();
    await dueNow();
    await failing.flush();
    const [again] = await waiting();
    expect(again?.relayAttempts).toBe(3);
    // Four times the first wait, from a later time.
    expect(Number(again?.relayAt) - Number(left?.relayAt)).toBeGreaterThanOrEqual(15_000);
    await dueNow();
    await relayWith(hear).flush();
    expect((await notified()).toSorted()).toEqual(ids.toSorted());
    expect(await waiting()).toEqual([]);
  });

  test('has no effect when its process dies before the commit', async () => {
    const ids = await happened(3);
    const dying: Pick<Database, 'transaction'> = {
      transaction: (work) =>
        app.database.transaction(async (tx) => {
          await work(tx);
          throw new Error('killed');
        }),
    };
    await relayWith(hear, dying).flush();
    expect(await notified()).toEqual([]);
    expect(logs.join()).toContain('killed');
    await relayWith(hear).flush();
    expect(await notified()).toEqual(ids);
  });

  test('stops after the current batch and leaves the rest to the next process', async () => {
    const ids = await happened(60);
    const stopping = relayWith(async (tx, event) => {
      await hear(tx, event);
      if (event.body.id === ids[0]) void stopping.stop();
    });
    await stopping.flush();
    await stopping.stop();
    expect(await notified()).toEqual(ids.slice(0, 50));
    await relayWith(hear).flush();
    expect(await notified()).toEqual(ids);
  });

  test('is not called for events without a consumer', async () => {
    const { token, account } = await app.person();
    await app.must('createProject', { scope: account, name: 'Quiet' }, { token });
    const reported = await app.database.pool
      .select({ type: events.type, relayAt: events.relayAt })
      .from(events);
    expect(reported.filter(({ type }) => type === 'project.created').map(({ relayAt }) => relayAt)).toEqual([
      null,
    ]);
    await app.app.flushMails();
    expect(await waiting()).toEqual([]);
  });
});
