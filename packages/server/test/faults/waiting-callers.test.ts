import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Answer, type Person } from '../support/app/client.ts';
import { firmOf, type Firm } from '../support/tenants/firm.ts';

/**
 * Mutations wait in the queue of their tenant or for locks, while their caller loses the permission on another
 * process: after the wait they are refused and write nothing. The test holds the lock, so that each of them waits
 * until the other process has received the change.
 */
// Fewer than the concurrent users of the database, so that other callers are still served.
const WAITING = 8;

async function until(what: () => Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setImmediate(resolve));
}

/** The time in which the test holds a lock counts as time of the statement that waits for it. */
const patient = { DATABASE_STATEMENT_TIMEOUT_MS: '60000' };

describe.runIf(inject('postgresUrl'))('a mutation that waits', () => {
  let here: TestApp;
  let there: TestApp;
  let firm: Firm;
  let admin: Person;

  beforeAll(async () => {
    here = await startOwnApp(patient);
    there = await startOwnApp(patient, here);
    firm = await firmOf(here);
  });
  afterAll(async () => {
    await there.close();
    await here.close();
  });
  beforeEach(async () => {
    admin = await firm.member('Organization Admin');
    await there.must('tags', { scope: firm.project }, { token: admin.token });
  });

  let release = async (): Promise<void> => undefined;
  afterEach(() => release());

  /** Locks these rows until `release`; `waiting` resolves when other statements wait for the lock. */
  async function hold(rows: ReturnType<typeof sql>) {
    let [letGo, held] = [(): void => undefined, (): void => undefined];
    const isHeld = new Promise<void>((resolve) => (held = resolve));
    const released = new Promise<void>((resolve) => (letGo = resolve));
    const ended = here.database.transaction(async (tx) => {
      await tx.execute(rows);
      held();
      await released;
    });
    await isHeld;
    release = () => {
      letGo();
      return ended;
    };
    return {
      release,
      waiting: () =>
        until(async () => {
          const [row] = await rowsOf<{ count: number }>(
            here.owner,
            sql`select count(*)::int as count from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return (row?.count ?? 0) > 0;
        }),
    };
  }

  const holdNode = () => hold(sql`select id from nodes where id = ${firm.projectId}::uuid for no key update`);
  const tagsNamed = async (search: string) =>
    (await here.must('tags', { scope: firm.project, search }, { token: firm.owner.token })).totalCount;
  const seen = (token: string) =>
    until(async () => !(await there.call('tags', { scope: firm.project }, { token })).ok);
  const remove = (person: Person) =>
    here.must(
      'removeOrganizationMember',
      { scope: firm.organization, userId: person.userId },
      { token: firm.owner.token },
    );

  describe.each(storyTransports(import.meta))('over %s', (via) => {
    function createTags(token: string, name: string): Promise<Answer[]> {
      const numbers = Array.from({ length: WAITING }, (_, number) => number);
      return Promise.all(
        numbers.map((number) =>
          there.call('createTag', { scope: firm.project, name: `${name} ${number}` }, { token, via }),
        ),
      );
    }

    it('is refused when its caller was removed meanwhile', async () => {
      const name = `late-${unique()}`;
      const lock = await holdNode();
      const answers = createTags(admin.token, name);
      await lock.waiting();
      await remove(admin);
      await seen(admin.token);
      await lock.release();
      for (const answer of await answers) expect(answer).toMatchObject({ ok: false, code: 'FORBIDDEN' });
      expect(await tagsNamed(name)).toBe(0);
    });

    it('is refused when its session was ended meanwhile', async () => {
      const name = `gone-${unique()}`;
      const lock = await holdNode();
      const answers = createTags(admin.token, name);
      await lock.waiting();
      const [session] = (await here.must('myUserSessions', {}, { token: admin.token })).items;
      await here.must('revokeMyUserSession', { id: session?.id ?? '' }, { token: admin.token });
      await seen(admin.token);
      await lock.release();
      for (const answer of await answers) expect(answer.code).toBe('UNAUTHENTICATED');
      expect(await tagsNamed(name)).toBe(0);
    });

    it('is refused too when it waits for a row', async () => {
      const as = { token: firm.owner.token };
      const tag = await here.must('createTag', { scope: firm.project, name: `row-${unique()}` }, as);
      const lock = await hold(sql`select id from tags where id = ${tag.id}::uuid for no key update`);
      const change = { scope: firm.project, id: tag.id, name: 'Taken' };
      const answer = there.call('updateTag', change, { token: admin.token, via });
      await lock.waiting();
      await remove(admin);
      await seen(admin.token);
      await lock.release();
      expect(await answer).toMatchObject({ ok: false, code: 'FORBIDDEN' });
      expect(await tagsNamed(tag.name)).toBe(1);
    });

    it('is executed when another user lost theirs', async () => {
      const name = `other-${unique()}`;
      const lock = await holdNode();
      const answers = createTags(admin.token, name);
      await lock.waiting();
      const other = await firm.member('Organization Admin');
      await remove(other);
      await lock.release();
      for (const answer of await answers) expect(answer.ok, answer.body).toBe(true);
      expect(await tagsNamed(name)).toBe(WAITING);
    });
  });

  it('reads nothing more when nothing changed', async () => {
    const { token } = admin;
    const create = () => there.must('createTag', { scope: firm.project, name: unique() }, { token });
    await create();
    const spent = await there.spent(create);
    expect(spent.filter((statement) => /organization_members|sessions/.test(statement))).toEqual([]);
  });
});
