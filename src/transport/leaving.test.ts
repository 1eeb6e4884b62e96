import fastify from 'fastify';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createLeaving } from './leaving.ts';

test('requests that stood behind another when their connection was cut do not hold up the end', async () => {
  const app = fastify();
  createLeaving(app);
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
