import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../db/connection/open.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { createProjectWatch, type ProjectWatch } from './project-watch.ts';
import { createGate } from './shared-runs.ts';

/** What callers get while the rows are read again. The change channel is a port; the reads are real, and can be held. */
let app: TestApp;
let projectId: string;
let watch: ProjectWatch;
let addUser: () => Promise<string>;
let reads = 0;
let held = Promise.resolve();
let isReading = (): void => undefined;

beforeAll(async () => {
  app = await startApp();
  const owner = await app.person();
  const project = await app.must(
    'createProject',
    { scope: owner.account, name: 'P' },
    { token: owner.token },
  );
  projectId = project.id;
  addUser = async () => {
    const input = { scope: project.scope, name: 'New', roleIds: [] };
    return (await app.must('createUser', input, { token: owner.token })).id;
  };
  const transaction: Database['transaction'] = async (...args) => {
    reads++;
    isReading();
    await held;
    return app.database.transaction(...args);
  };
  watch = createProjectWatch(
    {
      database: { ...app.database, transaction },
      changes: { isTrusted: () => true, confirm: async () => ({ below: null }) },
      clock: app.clock,
      nouns: [],
      tokenMs: 900_000,
      gate: createGate(1),
      endedSessionsSettled: () => undefined,
    },
    {
      projectId,
      ownerId: owner.account.id,
      organizationId: null,
      accountId: owner.account.id,
      attributes: {},
    } as never,
    'all',
  );
});
afterAll(async () => {
  watch.stop();
  await app.close();
});

const usersOf = async () => (await watch.current()).content.rows.users.map(({ id }) => id);

/** Makes a change for which a poll waits, and holds the read that it begins. @returns what lets the read go on */
async function changeAndHoldRead(): Promise<() => void> {
  let open = (): void => undefined;
  held = new Promise((resolve) => (open = resolve));
  const reading = new Promise<void>((resolve) => (isReading = resolve));
  watch.untilChanged(watch.version() ?? '', 60_000);
  watch.onChange([`node:${projectId}`]);
  await reading;
  return open;
}

it('a call during a read gets its result, not the rows before the change', async () => {
  await usersOf();
  const user = await addUser();
  const open = await changeAndHoldRead();
  const users = usersOf();
  open();
  expect(await users).toContain(user);
});

it('a call during a read that began before its change waits for the next one', async () => {
  const open = await changeAndHoldRead();
  const user = await addUser();
  watch.onChange([`node:${projectId}`]);
  const users = usersOf();
  open();
  expect(await users).toContain(user);
});

it('calls during a read need no other one', { tags: 'independent' }, async () => {
  const open = await changeAndHoldRead();
  const before = reads;
  const calls = [usersOf(), usersOf(), usersOf()];
  watch.poll();
  open();
  await Promise.all(calls);
  expect(reads).toBe(before);
});
