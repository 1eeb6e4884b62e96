import { sql } from 'drizzle-orm';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { unique, type Answer, type Person } from '../support/app/client.ts';

/**
 * Which requests wait for the database, which are refused, and which do neither (decision 0029). A transaction of the
 * test holds a lock that every operation here needs, so the test decides the length of the queue, however fast the
 * machine is.
 */
const MAX_QUEUE = 20;

let app: TestApp;
let ada: Person;
let eve: Person;
beforeAll(async () => {
  app = await startOwnApp({
    OVERLOAD_MAX_QUEUE: String(MAX_QUEUE),
    // Callers wait for the lock as long as the test holds it.
    DATABASE_STATEMENT_TIMEOUT_MS: '60000',
  });
  [ada, eve] = [await app.person(), await app.person()];
  // Each caller has permissions in a scope that the service has cached.
  for (const person of [ada, eve]) await app.must('tags', { scope: person.account }, { token: person.token });
});
afterAll(() => app.close());

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const queue = () => {
  const queue = app.app.queues.find(({ name }) => name === 'database');
  if (!queue) throw new Error('no queue of the database');
  return queue;
};
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

/** Locks the table of tags, and so blocks every operation of this test until it is released. */
let letGoAtEnd: () => void = () => undefined;
afterEach(() => letGoAtEnd());
async function held(): Promise<() => Promise<void>> {
  let letGo = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  letGoAtEnd = letGo;
  let holding = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => (holding = resolve));
  const holder = app.database.transaction(async (tx) => {
    await tx.execute(sql`lock table tags in access exclusive mode`);
    holding();
    await gate;
  });
  await isHeld;
  return async () => {
    letGo();
    await holder;
  };
}

const createTag = (by: Person, name: string, via: 'rest' | 'graphql' = 'rest') =>
  app.call('createTag', { scope: by.account, name }, { token: by.token, via });
const statuses = async (answers: readonly Promise<Answer>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);
const many = <T>(count: number, make: (place: number) => T): T[] =>
  Array.from({ length: count }, (_, place) => make(place));

/** Occupies every slot, and puts this many requests in the queue. */
async function waiting(
  count: number,
  by: Person,
  via: 'rest' | 'graphql' = 'rest',
): Promise<Promise<Answer>[]> {
  const free = slots();
  const answers = many(free, () => createTag(by, unique(), via));
  await until(() => queue().running === free);
  answers.push(...many(count, () => createTag(by, unique(), via)));
  await until(() => queue().waiting === count);
  return answers;
}
/** The holder of the lock has a connection without a slot. */
const slots = (): number => (inject('postgresUrl') ? Number(process.env['TEST_POOL_MAX'] ?? 10) : 4);

test.each(storyTransports(import.meta))('over %s every queued request is answered', async (via) => {
  const letGo = await held();
  const answers = await waiting(MAX_QUEUE, ada, via);
  expect(queue().waiting).toBe(MAX_QUEUE);
  await letGo();
  const done = await Promise.all(answers);
  expect(done.map(({ ok }) => ok)).toEqual(done.map(() => true));
  expect([queue().running, queue().waiting]).toEqual([0, 0]);
});

test.each(storyTransports(import.meta))(
  'over %s a full queue refuses the caller who fills it, and no other one',
  async (via) => {
    const before = queue().refused;
    const letGo = await held();
    const answers = await waiting(MAX_QUEUE, ada, via);
    const name = unique();
    const refused = await createTag(ada, name, via);
    expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
    expect(refused.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    // A request of another caller is admitted, and the newest one of the caller with most is refused instead.
    const other = createTag(eve, unique(), via);
    await until(() => queue().refused === before + 2);
    expect(queue().waiting).toBe(MAX_QUEUE);

    // A request that needs no slot does not wait.
    const question = { scope: ada.account, permission: { resource: 'Tag', action: 'Query' } };
    if (inject('postgresUrl'))
      expect((await app.call('isAuthorized', question, { token: ada.token })).status).toBe(200);
    for (const url of ['/health', '/health/live'])
      expect((await app.server.inject(url)).statusCode, url).toBe(200);

    await letGo();
    expect((await other).ok).toBe(true);
    const codes = (await Promise.all(answers)).map(({ code }) => code);
    expect(codes.filter(Boolean)).toEqual(['UNAVAILABLE']);
    // A refused request has done nothing.
    const { items } = await app.must('tags', { scope: ada.account, search: name }, { token: ada.token });
    expect(items).toEqual([]);
  },
);

test.each(storyTransports(import.meta))(
  'over %s an authorization check waits only for uncached data',
  async (via) => {
    const question = { scope: ada.account, permission: { resource: 'Tag', action: 'Query' } };
    const check = (more: object) =>
      app.call('isAuthorized', { ...question, ...more }, { token: ada.token, via });
    const existing = { subject: { userId: ada.userId } };
    const { userId } = await app.person();
    expect((await check(existing)).ok).toBe(true);
    const letGo = await held();
    const answers = await waiting(0, ada);
    expect([await check({}), await check(existing)].map(({ ok }) => ok)).toEqual([true, true]);
    expect(queue().waiting).toBe(0);
    const reading = [check({ explain: true }), check({ subject: { userId } })];
    await until(() => queue().waiting === reading.length);
    await letGo();
    expect((await Promise.all([...answers, ...reading])).map(({ ok }) => ok)).not.toContain(false);
  },
);

test('a client that disconnects leaves the queue, and its request is not executed', async () => {
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.server.address() as AddressInfo;
  const letGo = await held();
  const answers = await waiting(1, ada);
  const name = unique();
  const body = JSON.stringify({ scope: ada.account, name });
  const head = `POST /api/tags HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ada.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  // One connection with two pipelined requests.
  const socket = connect(port, '127.0.0.1');
  socket.write(head + body + head + body);
  await until(() => queue().waiting === 3);
  socket.destroy();
  await once(socket, 'close');
  await until(() => queue().waiting === 1);
  await letGo();
  expect(await statuses(answers)).toEqual(answers.map(() => 201));
  const { items } = await app.must('tags', { scope: ada.account, search: name }, { token: ada.token });
  expect(items).toEqual([]);
});

test('a request whose session ended while it waited is refused', async () => {
  const leaver = await app.person();
  await app.must('tags', { scope: leaver.account }, { token: leaver.token });
  const letGo = await held();
  const answers = await waiting(0, ada);
  const late = createTag(leaver, unique());
  await until(() => queue().waiting === 1);
  const out = app.call('logout', {}, { token: leaver.token });
  await until(() => queue().waiting === 1);
  await letGo();
  expect((await out).ok).toBe(true);
  // Both waited, and the first one was served first: the write is done, or the session had ended.
  expect([201, 401]).toContain((await late).status);
  expect((await createTag(leaver, unique())).status).toBe(401);
  await Promise.all(answers);
});

test('who sends slowly takes no slot', async () => {
  const { port } = app.server.server.address() as AddressInfo;
  const head = `POST /api/tags HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ada.token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`;
  const count = slots() * 2;
  const begun = new Promise<void>((resolve) => {
    let seen = 0;
    app.server.server.on('request', () => ++seen === count && resolve());
  });
  const slow = many(count, () => connect(port, '127.0.0.1'));
  for (const socket of slow) socket.write(head);
  await begun;
  expect((await createTag(ada, unique())).status).toBe(201);
  for (const socket of slow) socket.destroy();
});
