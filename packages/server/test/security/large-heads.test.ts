import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';

/**
 * A client that sends too large a head gets the answer. If the connection closed while bytes of the request are unread, the
 * system would reset it, and drop the answer that the client has not read yet.
 */
let app: TestApp;
let port: number;
beforeAll(async () => {
  app = await startApp();
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.server.address() as AddressInfo);
});
afterAll(() => app.close());

/** The status of the answer, or the error code of the connection. */
const statusOf = (path: string, headers: Record<string, string>): Promise<number | string | undefined> =>
  new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      response.resume();
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      response.on('end', () => resolve(response.statusCode));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    sent.end();
  });

it.each([17_000, 70_000, 300_000, 900_000])(
  'a head of %i bytes is always answered with 431',
  async (size) => {
    const text = 'x'.repeat(size);
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => statusOf('/health', { a: text })),
      ...Array.from({ length: 5 }, () => statusOf(`/${text}`, {})),
    ]);
    expect([...new Set(answers)]).toEqual([431]);
  },
);

it.each([17_000, 40_000, 300_000])(
  'a client that reads when it has sent %i bytes gets it too',
  async (size) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true }).pause();
    let failure: string | undefined;
    socket.on('error', (error: NodeJS.ErrnoException) => (failure = error.code));
    socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\na: ');
    for (let sent = 0; sent < size; sent += 10_000) {
      socket.write('x'.repeat(10_000));
      await sleep(20);
    }
    socket.end('\r\n\r\n');
    await sleep(50);
    let text = '';
    socket.setEncoding('latin1').on('data', (part: string) => (text += part));
    socket.resume();
    await Promise.race([once(socket, 'end'), once(socket, 'close'), sleep(3000)]).catch(() => undefined);
    socket.destroy();
    expect([failure, text.slice(0, 12)]).toEqual([undefined, 'HTTP/1.1 431']);
  },
);

it('a client that goes on sending is cut off', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\na: ');
  const began = performance.now();
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const timer = setInterval(() => socket.write('x'.repeat(64 * 1024)), 5);
  await closed;
  clearInterval(timer);
  expect(performance.now() - began).toBeLessThan(30_000);
});
