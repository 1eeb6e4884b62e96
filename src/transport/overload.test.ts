import fastify, { type FastifyInstance } from 'fastify';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { LaneName } from './lanes.ts';
import { createOverload } from './overload.ts';

/** What one turn takes in: of work that is done in one go, as the embedded database does it. */
const ROOM = 6;
/** Of which a tenth is for each lane under load. Far more than a pause of this process. */
const DELAY_MS = 2000;
const LONG_MS = 250;

let app: FastifyInstance;
afterEach(() => app.close());

async function start(): Promise<void> {
  app = fastify();
  app.decorateRequest('route', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.route = request.routeOptions.config;
    done();
  });
  createOverload(app, {
    limits: { maxInFlight: ROOM, delayMs: DELAY_MS, waitMs: 0 },
    operations: [],
    askDatabase: () => Promise.resolve(),
    lineMs: () => 0,
  });
  const route = (path: string, lane: LaneName, ms: number) =>
    app.get(path, { config: { lane } }, () => {
      const began = performance.now();
      while (performance.now() - began < ms);
      return 'done';
    });
  route('/change', 'plain', 0);
  route('/long-change', 'plain', LONG_MS);
  route('/decision', 'checks', 0);
  await app.ready();
}

/** Asked in one turn of the event loop; answers the statuses. */
async function inOneTurn(...paths: string[]): Promise<number[]> {
  await turnEnd();
  return (await Promise.all(paths.map((path) => app.inject(path)))).map(({ statusCode }) => statusCode);
}
const times = (count: number, path: string): string[] => Array.from({ length: count }, () => path);

test('a burst is worked off', async () => {
  await start();
  expect(await inOneTurn('/long-change', ...times(3, '/change'))).toEqual([200, 200, 200, 200]);
});

test('from the first refusal on a turn is short for the lane that fills it, and for no other', async () => {
  await start();
  const full = await inOneTurn(...times(ROOM + 1, '/change'));
  expect(full.filter((status) => status === 503)).toHaveLength(1);

  const flooded = await inOneTurn(...times(3, '/long-change'), ...times(ROOM, '/decision'));
  expect(flooded).toEqual([200, 503, 503, ...times(ROOM, '').map(() => 200)]);
});

test('one of each lane is let in, however long the others take', async () => {
  await start();
  await inOneTurn(...times(ROOM + 1, '/decision'));
  expect(await inOneTurn('/long-change', '/change', '/decision')).toEqual([200, 503, 200]);
});
