import { sql } from 'drizzle-orm';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { transports, unique, type Answer, type Person } from '../support/client.ts';

/**
 * What is refused for lack of room, and what is not (bar 23). The lanes are full because a transaction of the test holds
 * what their requests need, not because the machine is slow.
 */
const ROOM = 4;

let app: TestApp;
let ada: Person;
beforeAll(async () => {
  app = await startApp({ OVERLOAD_MAX_IN_FLIGHT: String(ROOM), METRICS_ENABLED: 'true' });
  ada = await app.person();
  await nothingUnderWay();
});
afterAll(() => app.close());

const turn = () => new Promise((resolve) => setImmediate(resolve));
const lane = (name: string) => app.server.lanes.find((one) => one.name === name);
async function nothingUnderWay(): Promise<void> {
  while (app.server.lanes.some(({ inFlight }) => inFlight > 0)) await turn();
}

/** As many as there is room for, all of which wait for a table, or for the embedded database, until they are let go. */
async function filled<T = Answer>(name: string, ask: (place: number) => Promise<T>) {
  // Known from now on, and so answered without the database.
  await isAuthorized();
  await nothingUnderWay();
  let letGo = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  let holding = (): void => undefined;
  const held = new Promise<void>((resolve) => (holding = resolve));
  const holder = app.database.transaction(async (tx) => {
    await tx.execute(sql`lock table tags in access exclusive mode`);
    holding();
    await gate;
  });
  await held;
  const waiting = Array.from({ length: ROOM }, (_, place) => ask(place));
  while (lane(name)?.inFlight !== ROOM) await turn();
  return async (): Promise<T[]> => {
    letGo();
    await holder;
    const answers = await Promise.all(waiting);
    await nothingUnderWay();
    return answers;
  };
}

const as = () => ({ token: ada.token });
const createTag = (name: string, via: 'rest' | 'graphql' = 'rest') =>
  app.call('createTag', { scope: ada.account, name }, { ...as(), via });
const tags = (via: 'rest' | 'graphql' = 'rest') => app.call('tags', { scope: ada.account }, { ...as(), via });
const question = { permission: { resource: 'Tag', action: 'Query' } };
const isAuthorized = () => app.call('isAuthorized', { ...question, scope: ada.account }, as());

test.each(transports)(
  'over %s who finds his lane full is told to come again, and nothing is done',
  async (via) => {
    const prefix = unique();
    const [name, other] = via === 'rest' ? (['plain', 'graphql'] as const) : (['graphql', 'plain'] as const);
    const before = lane(name)?.shed ?? 0;
    const letGo = await filled(name, (place) => createTag(`${prefix} ${place}`, via));
    const refused = await createTag(`${prefix} refused`, via);
    expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([503, 'UNAVAILABLE', '1']);
    expect(refused.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json; charset=utf-8',
    });
    expect(refused.body).toContain(`"requestId":"${String(refused.headers['x-request-id'])}"`);
    // Not even who asks is looked at.
    const unknown = await app.call('createTag', { scope: ada.account, name: 'x' }, { token: 'none', via });
    expect(unknown.code).toBe('UNAVAILABLE');
    expect(lane(name)?.shed).toBe(before + 2);

    // What needs nothing of what is held is answered; the other lanes have room.
    expect((await isAuthorized()).status).toBe(200);
    for (const url of ['/health', '/health/live'])
      expect((await app.server.inject(url)).statusCode, url).toBe(200);
    expect(lane('lists')?.isFull).toBe(false);
    expect(lane(other)?.isFull).toBe(false);

    const done = await letGo();
    expect(done.map(({ ok }) => ok)).toEqual(done.map(() => true));
    expect((await createTag(`${prefix} afterwards`, via)).ok).toBe(true);
    const { items } = await app.must('tags', { scope: ada.account, search: prefix }, as());
    expect(items.map((tag) => tag.name).sort()).toEqual(
      [...done.map((_, place) => `${prefix} ${place}`), `${prefix} afterwards`].sort(),
    );
  },
);

test('lists that wait keep no place from writes, and the metrics tell', async () => {
  const letGo = await filled('lists', () => tags());
  expect((await tags()).code).toBe('UNAVAILABLE');
  const write = createTag(unique());
  while (lane('plain')?.inFlight !== 1) await turn();
  expect((await isAuthorized()).status).toBe(200);
  await letGo();
  expect((await write).status).toBe(201);
  await nothingUnderWay();
  const { body } = await app.server.inject('/metrics');
  expect(body).toMatch(/^doorward_shed_total\{lane="lists"\} [1-9]/m);
  expect(body).toContain('doorward_in_flight{lane="lists"} 0\n');
  expect(body).toContain(`doorward_in_flight_limit{lane="lists"} ${ROOM}\n`);
});

test('a refused connection goes on, whatever was left of the body', async () => {
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.server.address() as AddressInfo;
  const letGo = await filled('plain', (place) => createTag(`${unique()} ${place}`));
  const body = JSON.stringify({ scope: ada.account, name: 'x', description: 'y'.repeat(200_000) });
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  const until = async (count: number) => {
    while (statuses().length < count) await turn();
  };
  const head = `POST /api/tags HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  // Refused before the body is there; it is read and thrown away, and the connection is good for the next.
  socket.write(head + body.slice(0, 1000));
  await until(1);
  socket.write(body.slice(1000));
  socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
  await until(2);
  socket.write(head + body + 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
  await until(4);
  expect(statuses()).toEqual(['503', '200', '503', '200']);
  socket.destroy();
  await letGo();
});

test('who sends slowly holds no place', async () => {
  const { port } = app.server.server.address() as AddressInfo;
  const head = `POST /api/tags HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ada.token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`;
  const begun = new Promise<void>((resolve) => {
    let count = 0;
    app.server.server.on('request', () => ++count === ROOM * 2 && resolve());
  });
  const slow = Array.from({ length: ROOM * 2 }, () => connect(port, '127.0.0.1'));
  for (const socket of slow) socket.write(head);
  await begun;
  expect((await createTag(unique())).status).toBe(201);
  for (const socket of slow) socket.destroy();
});

/** The head and body of a write, as it goes over a socket. */
function written(name: string): string {
  const body = JSON.stringify({ scope: ada.account, name });
  return `POST /api/tags HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ada.token}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

test.each([
  ['a connection of his own', ROOM],
  ['one connection, one behind the other', 1],
])('who goes away after asking on %s holds his place until his work is done', async (_, connections) => {
  const { port } = app.server.server.address() as AddressInfo;
  const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'));
  let left = 0;
  const count = (): void => void left++;
  const watch = (socket: Socket): void => void socket.on('close', count);
  app.server.server.on('connection', watch);
  const prefix = unique();
  const letGo = await filled('plain', async (place) => {
    sockets[place % connections]?.write(written(`${prefix} ${place}`));
  });
  app.server.server.off('connection', watch);
  for (const socket of sockets) socket.destroy();
  while (left < connections) await turn();
  await turn();
  expect(lane('plain')?.inFlight).toBe(ROOM);
  expect((await createTag(unique())).code).toBe('UNAVAILABLE');
  await letGo();
  expect((await createTag(unique())).status).toBe(201);
  expect((await tags()).ok).toBe(true);
});
