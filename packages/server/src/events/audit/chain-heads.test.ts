import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { rowsOf } from '../../db/statements/rows.ts';

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
/** Counts the entries, those that break the chain, and those that are dated before their predecessor. */
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

describe('the chain of a node', () => {
  it('has no gap after concurrent writes', async () => {
    const { id, scope } = await newProject();
    const answers = await Promise.all(Array.from({ length: 40 }, () => createRole(scope)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(await chainOf(id)).toEqual(whole(41));
  });

  const tagsOf = async (id: string): Promise<number> =>
    (await rowsOf(app.owner, sql`select id from tags where tenant_id = ${id}`)).length;

  it('accepts no entries after the node is deleted', async () => {
    const { id, scope } = await newProject();
    // Does not affect permissions, so the scope is cached and its node is first checked when the entry is written.
    const createTag = () => app.call('createTag', { scope, name: unique() }, { token: ada.token });
    expect((await createTag()).status).toBe(201);
    await app.owner.execute(sql`update nodes set deleted_at = now() where id = ${id}`);
    const refused = await createTag();
    expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN']);
    expect(await tagsOf(id)).toBe(1);
    // The third entry is the denial.
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
