import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';

/** Who gets a connection when there are nearly as many as there may be; every address of this machine is a network. */

const MOST = 50;
const [VISITOR, CROWD] = ['127.0.0.1', '127.0.0.2'];

let app: TestApp;
let port: number;
let sockets: Socket[];

beforeEach(async () => {
  app = await startApp({ MAX_CONNECTIONS: String(MOST) });
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.server.address() as AddressInfo);
  sockets = [];
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await app.close();
});

async function open(localAddress: string): Promise<Socket> {
  const settled = new AbortController();
  const { signal } = settled;
  const accepted = ['connection', 'drop'].map((event) => once(app.server.server, event, { signal }));
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await Promise.race(accepted);
  settled.abort();
  await Promise.allSettled(accepted);
  return socket;
}

/** The answer, or nothing if the connection ends. */
async function ask(socket: Socket, path: string): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\n\r\n`);
  if (socket.destroyed) return '';
  const [data] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
  return data instanceof Buffer ? data.toString() : '';
}

const isOpen = (socket: Socket) => !socket.destroyed && socket.readable;

/** Waits for an answer that does not come as long as the body does not. */
async function busy(localAddress: string): Promise<Socket> {
  const socket = await open(localAddress);
  const begun = once(app.server.server, 'request');
  const head = 'host: here\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{';
  socket.write(`POST /api/auth/token HTTP/1.1\r\n${head}`);
  await begun;
  return socket;
}

it(
  'nobody is kept out by a network that opens them all and says nothing',
  { tags: 'independent' },
  async () => {
    const socket = await open(VISITOR);
    expect(await ask(socket, '/health/live')).toMatch(/^HTTP\/1\.1 200/);
    const silent = [];
    for (let i = 0; i < 4 * MOST; i++) silent.push(await open(CROWD));
    for (const path of ['/health/live', '/.well-known/jwks.json', '/health/ready']) {
      expect(await ask(await open(VISITOR), path), path).toMatch(/^HTTP\/1\.1 200/);
    }
    expect(await ask(socket, '/.well-known/jwks.json')).toMatch(/^HTTP\/1\.1 200/);
    expect(silent.filter(isOpen).length).toBeLessThan(MOST);
    expect(isOpen(silent.at(-1) as Socket)).toBe(true);
  },
);

it('one network may have them all as long as nobody else wants one', { tags: 'independent' }, async () => {
  const mine = [];
  for (let i = 0; i < 40; i++) mine.push(await open(CROWD));
  for (const socket of mine) expect(await ask(socket, '/health/live')).toMatch(/^HTTP\/1\.1 200/);
});

it(
  'nobody who waits for an answer is cut off, and health checks are answered when all others wait',
  { tags: 'independent' },
  async () => {
    const waiting = [];
    for (let i = 0; i < MOST - 1; i++) waiting.push(await busy(CROWD));
    const late = await open(VISITOR);
    const refused = await ask(late, '/.well-known/jwks.json');
    expect(refused).toMatch(/^HTTP\/1\.1 503/);
    expect(refused).toMatch(/retry-after: 1/i);
    expect(refused).toContain('"UNAVAILABLE"');
    if (!late.destroyed) await once(late, 'close');
    expect(await ask(await open(VISITOR), '/health/live')).toMatch(/^HTTP\/1\.1 200/);
    expect(waiting.every(isOpen)).toBe(true);
    for (const socket of waiting) socket.write('"a": 1 }');
    const answers = await Promise.all(
      waiting.map(async (socket) => String(((await once(socket, 'data')) as [Buffer])[0])),
    );
    expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 400'))).toHaveLength(MOST - 1);
  },
);
