import { sql } from 'drizzle-orm';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, unique, type Answer, type Person } from '../support/client.ts';

/**
 * Who waits for the database, who is refused, and who is not (docs/decisions/0029). A transaction of the test holds what
 * every operation here needs, so the queue is as long as the test makes it, however fast the machine is.
 */
const MAX_QUEUE = 20;

let app: TestApp;
let ada: Person;
let eve: Person;
beforeAll(async () => {
  app = await startApp({ OVERLOAD_MAX_QUEUE: String(MAX_QUEUE) });
  [ada, eve] = [await app.person(), await app.person()];
  // Each has rights in a scope that the service has seen.
  for (const one of [ada, eve]) await app.must('tags', { scope: one.account }, { token: one.token });
});
afterAll(() => app.close());

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const queue = () => {
  const found = app.app.queues.find(({ name }) => name === 'database');
  if (!found) throw new Error('no queue of the database');
  return found;
};
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

/** Holds the table of tags, and so every operation of this test, until it is let go. */
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

/** Takes every slot, and puts so many behind. */
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
/** The holder has a connection without a slot. */
const slots = (): number => (inject('postgresUrl') ? Number(process.env['TEST_POOL_MAX'] ?? 10) : 4);

test.each(transports)('over %s everybody who waits is answered', async (via) => {
  const letGo = await held();
  const answers = await waiting(MAX_QUEUE, ada, via);
  expect(queue().waiting).toBe(MAX_QUEUE);
  await letGo();
  const done = await Promise.all(answers);
  expect(done.map(({ ok }) => ok)).toEqual(done.map(() => true));
  expect([queue().running, queue().waiting]).toEqual([0, 0]);
});

test.each(transports)('over %s a full queue refuses whoever fills it, and nobody else', async (via) => {
  const before = queue().refused;
  const letGo = await held();
  const answers = await waiting(MAX_QUEUE, ada, via);
  const name = unique();
  const refused = await createTag(ada, name, via);
  expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
  expect(refused.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  // Somebody else is let in, and the newest of the many is refused for it.
  const other = createTag(eve, unique(), via);
  await until(() => queue().refused === before + 2);
  expect(queue().waiting).toBe(MAX_QUEUE);

  // What needs nothing of what is scarce does not wait.
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
});

test.each(transports)('over %s a check waits for what it must read, and for nothing else', async (via) => {
  const question = { scope: ada.account, permission: { resource: 'Tag', action: 'Query' } };
  const check = (more: object) =>
    app.call('isAuthorized', { ...question, ...more }, { token: ada.token, via });
  const known = { subject: { userId: ada.userId } };
  const { userId } = await app.person();
  expect((await check(known)).ok).toBe(true);
  const letGo = await held();
  const answers = await waiting(0, ada);
  expect([await check({}), await check(known)].map(({ ok }) => ok)).toEqual([true, true]);
  expect(queue().waiting).toBe(0);
  const reading = [check({ explain: true }), check({ subject: { userId } })];
  await until(() => queue().waiting === reading.length);
  await letGo();
  expect((await Promise.all([...answers, ...reading])).map(({ ok }) => ok)).not.toContain(false);
});

test('a client that goes away leaves the queue, and nothing is done for them', async () => {
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.server.address() as AddressInfo;
  const letGo = await held();
  const answers = await waiting(1, ada);
  const name = unique();
  const body = JSON.stringify({ scope: ada.account, name });
  const head = `POST /api/tags HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ada.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  // One connection with two requests, one behind the other.
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

test('whose session ended while they waited is not let in', async () => {
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
  // Both waited, and who came first was served first: the write is done, or the session had ended.
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
