import fastify from 'fastify';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createGracefulShutdown } from './graceful-shutdown.ts';

test('requests that stood behind another when their connection was cut do not hold up the end', async () => {
  const app = fastify();
  createGracefulShutdown(app);
  let answer = (): void => undefined;
  const gate = new Promise<void>((resolve) => (answer = resolve));
  app.get('/', async () => gate.then(() => 'done'));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  let begun = 0;
  const all = new Promise<void>((resolve) => {
    app.server.on('request', () => ++begun === 20 && resolve());
  });
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warned);

  const [accepted, hasty] = [once(app.server, 'connection'), connect(port, '127.0.0.1')];
  hasty.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(20));
  const [socket] = (await accepted) as [NodeJS.EventEmitter];
  await all;
  const cut = once(socket, 'close');
  hasty.destroy();
  await cut;
  answer();
  const silent = connect(port, '127.0.0.1');
  await once(silent, 'connect');
  const closed = once(silent, 'close');
  await app.close();
  await closed;
  process.off('warning', warned);
  expect(warnings).toEqual([]);
});

test('what had arrived before the end began is answered: on a connection, and on one that was not accepted yet', async () => {
  const app = fastify({ forceCloseConnections: 'idle', return503OnClosing: false });
  createGracefulShutdown(app);
  app.get('/', async () => 'done');
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const existing = connect(port, '127.0.0.1');
  const answers = new Map<string, string>();
  const listen = (name: string, socket: Socket) =>
    socket.on('data', (bytes) => answers.set(name, `${answers.get(name) ?? ''}${bytes.toString()}`));
  listen('known', existing);
  existing.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(existing, 'data');
  answers.clear();

  // In the kernel by the time at which the end begins; the server has read neither.
  const fresh = listen('fresh', connect(port, '127.0.0.1'));
  fresh.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  existing.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const ends = [once(existing, 'close'), once(fresh, 'close')];
  await app.close();
  await Promise.all(ends);
  for (const name of ['known', 'fresh']) {
    expect(answers.get(name), name).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nconnection: close\r\n[\s\S]*done$/i);
  }
});
