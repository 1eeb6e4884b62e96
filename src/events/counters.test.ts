import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app.ts';
import { unique, type Person } from '../../test/support/client.ts';
import { hasMovedOn } from '../db/pg-error.ts';
import { rowsOf } from '../db/rows.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { appendEntries } from './append.ts';
import { createCounters, type Counters } from './counters.ts';

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startApp();
  ada = await app.person();
});
afterAll(() => app.close());

const newProject = () =>
  app.must('createProject', { scope: ada.account, name: unique() }, { token: ada.token });
const createRole = (scope: { readonly id: string }, at = app) =>
  at.call('createRole', { scope: scope as never, name: unique() }, { token: ada.token });
const asked = (statements: readonly string[]): number =>
  statements.filter((one) => one.includes('select id, audit_sequence, event_sequence, audit_hash')).length;

/** Entries in all, and how many of them do not carry on the one before. */
async function chainOf(tenantId: string) {
  const [row] = await rowsOf<{ entries: number; broken: number; early: number; head: boolean }>(
    app.owner,
    sql`with chain as (
        select sequence, hash, previous_hash, occurred_at, lag(sequence, 1, 0) over each as before,
          lag(hash, 1, repeat('0', 64)) over each as carried, lag(occurred_at) over each as earlier
        from audit_log where tenant_id = ${tenantId} window each as (order by sequence))
      select count(*)::int as entries, (count(*) filter (where occurred_at < earlier))::int as early,
        (count(*) filter (where previous_hash <> carried or sequence <> before + 1))::int as broken,
        (select audit_hash = (select hash from chain order by sequence desc limit 1) from nodes where id = ${tenantId}) as head
      from chain`,
  );
  return row;
}
const whole = (entries: number) => ({ entries, broken: 0, early: 0, head: true });

describe('a node that this process wrote to last', () => {
  it('is not asked before it is written to again', async () => {
    const { id, scope } = await newProject();
    expect((await createRole(scope)).status).toBe(201);
    const statements = await app.spent(async () => {
      for (let count = 0; count < 5; count++) expect((await createRole(scope)).status).toBe(201);
    });
    expect(asked(statements)).toBe(0);
    expect(await chainOf(id)).toEqual(whole(7));
  });

  it('takes many at once, in a chain without a gap', async () => {
    const { id, scope } = await newProject();
    const answers = await Promise.all(Array.from({ length: 40 }, () => createRole(scope)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(await chainOf(id)).toEqual(whole(41));
  });

  it('is asked, and the change made again, when somebody else wrote to it meanwhile', async () => {
    const { id, scope } = await newProject();
    await createRole(scope);
    await app.owner.execute(sql`update nodes set event_sequence = event_sequence + 5 where id = ${id}`);
    const statements = await app.spent(async () => expect((await createRole(scope)).status).toBe(201));
    expect(asked(statements)).toBe(1);
    // Whoever is written to by two is asked for a while.
    expect(asked(await app.spent(() => createRole(scope)))).toBe(1);
    expect(await chainOf(id)).toEqual(whole(4));
    const told = await rowsOf<{ sequence: number }>(
      app.owner,
      sql`select sequence::int from events where tenant_id = ${id} order by sequence`,
    );
    expect(told.map(({ sequence }) => sequence)).toEqual([1, 2, 8, 9]);
  });

  const tagsOf = async (id: string): Promise<number> =>
    (await rowsOf(app.owner, sql`select id from tags where tenant_id = ${id}`)).length;

  it('takes nothing more once it is deleted', async () => {
    const { id, scope } = await newProject();
    // Changes no rights, so the scope is known and nothing is asked of it before the entry is written.
    const createTag = () => app.call('createTag', { scope, name: unique() }, { token: ada.token });
    expect((await createTag()).status).toBe(201);
    await app.owner.execute(sql`update nodes set deleted_at = now() where id = ${id}`);
    const refused = await createTag();
    expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN']);
    expect(await tagsOf(id)).toBe(1);
    // The third entry says that it was refused.
    expect(await chainOf(id)).toEqual(whole(3));
  });
});

it.runIf(inject('postgresUrl'))('two processes that write to one node make one chain', async () => {
  const other = await startApp({}, app);
  const { id, scope } = await newProject();
  for (const at of [app, other, app, app, other]) expect((await createRole(scope, at)).status).toBe(201);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, place) => createRole(scope, place % 2 ? app : other)),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(await chainOf(id)).toEqual(whole(66));
  await other.close();
});

describe('what was sent', () => {
  const hash = (letter: string) => letter.repeat(64);
  /** Writes no entry, and says what the counters were. */
  async function write(
    counters: ReturnType<typeof createCounters>,
    id: string,
    letter: string,
    also: (tx: Executor) => Promise<void> = async () => undefined,
  ): Promise<Counters | undefined> {
    let before: Counters | undefined;
    await app.database.transaction(async (tx) => {
      let sent: Promise<unknown> = Promise.resolve();
      await counters.carryOn(tx, [id], (counted) => {
        before = counted.get(id);
        const {
          auditSequence = 0,
          eventSequence = 0,
          hash: hashBefore = '',
          now = new Date(),
        } = before ?? {};
        const left = { id, auditSequence, eventSequence, hash: hash(letter), now };
        const head = { ...left, policy: 0, hashBefore, eventBefore: eventSequence, live: true };
        const written = appendEntries(tx, [], [head]).then(({ now }) => now);
        sent = written;
        return { left: [left], written };
      });
      await sent;
      await also(tx);
    });
    return before;
  }

  it('and taken back is not carried on, and asked anew', async () => {
    const { id } = await newProject();
    const counters = createCounters();
    await write(counters, id, 'a');
    const taken = write(counters, id, 'b', async () => {
      throw new Error('taken back');
    });
    await expect(taken).rejects.toThrow('taken back');
    const refused = await write(counters, id, 'c').catch((error: unknown) => error);
    expect(hasMovedOn(refused)).toBe(true);
    expect((await write(counters, id, 'd'))?.hash).toBe(hash('a'));
  });

  it.each([
    ['a little, and then never before the last entry', 500, 0],
    ['by seconds, and then as the database says', 5000, 1],
  ])('is carried on at the time of the database, also when its clock is set back %s', async (_, ms, asks) => {
    const { id } = await newProject();
    let now = 0;
    const counters = createCounters(() => now);
    const first = (await write(counters, id, 'a'))?.now.getTime() ?? 0;
    now += ms;
    const second = (await write(counters, id, 'b'))?.now.getTime() ?? 0;
    // What is known is the time of the answer to the first, and so much went by on our clock.
    expect(second - first).toBeGreaterThanOrEqual(ms);
    // That answer told a time that is behind: the database's clock did not run ahead with ours.
    now += 1;
    let third = 0;
    const statements = await app.spent(async () => {
      third = (await write(counters, id, 'c'))?.now.getTime() ?? 0;
    });
    expect(asked(statements)).toBe(asks);
    if (asks === 0) expect(third).toBe(second);
    else expect(second - third).toBeGreaterThan(0);
  });

  it('is asked for again after ten seconds', async () => {
    const { id } = await newProject();
    let now = 0;
    const counters = createCounters(() => now);
    await write(counters, id, 'a');
    now += 9000;
    expect(asked(await app.spent(() => write(counters, id, 'b')))).toBe(0);
    now += 10_001;
    expect(asked(await app.spent(() => write(counters, id, 'c')))).toBe(1);
  });
});
