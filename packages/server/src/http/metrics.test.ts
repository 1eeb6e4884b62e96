import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, expect, it } from 'vitest';
import type { QueueState } from '../kernel/context.ts';
import { registerMetrics, type MetricsOptions } from './metrics.ts';

const servers: FastifyInstance[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function served(options: Partial<MetricsOptions>) {
  const server = fastify();
  servers.push(server);
  const nothing = { enabled: true, token: undefined, gauges: async () => [], queues: () => [] };
  registerMetrics(server, { ...nothing, ...options }, async () => null);
  return async () => (await server.inject('/metrics')).body.split('\n');
}

it('tells of each queue what waits, what runs and what was refused', async () => {
  let queues: QueueState[] = [
    { name: 'database', waiting: 3, running: 10, refused: 7 },
    { name: 'passwords', waiting: 0, running: 2, refused: 0 },
  ];
  const read = served({ queues: () => queues });
  expect(await read()).toEqual(
    expect.arrayContaining([
      'doorward_queue_waiting{queue="database"} 3',
      'doorward_queue_running{queue="database"} 10',
      'doorward_queue_refused_total{queue="database"} 7',
      'doorward_queue_waiting{queue="passwords"} 0',
      'doorward_queue_running{queue="passwords"} 2',
      'doorward_queue_refused_total{queue="passwords"} 0',
    ]),
  );
  queues = [{ name: 'database', waiting: 0, running: 0, refused: 8 }];
  expect(await read()).toEqual(
    expect.arrayContaining([
      'doorward_queue_waiting{queue="database"} 0',
      'doorward_queue_refused_total{queue="database"} 8',
    ]),
  );
});

it('keeps the figures of two apps in one process apart', async () => {
  const gauges = (value: number) => async () => [{ name: 'mails_waiting', help: 'Mails', value }];
  const [item, other] = [served({ gauges: gauges(1) }), served({ gauges: gauges(2) })];
  expect(await item()).toContain('doorward_mails_waiting 1');
  expect(await other()).toContain('doorward_mails_waiting 2');
});

it('answers for all workers, whose figures come as JSON', async () => {
  const owns: (() => Promise<unknown>)[] = [];
  const gather = <T>(own: () => Promise<T>) => {
    owns.push(own);
    return async () =>
      JSON.parse(JSON.stringify(await Promise.all(owns.map((each) => each())))) as readonly T[];
  };
  const queues = (waiting: number) => () => [{ name: 'database', waiting, running: 0, refused: 0 }];
  const first = served({ worker: { number: 1, gather }, queues: queues(4) });
  const second = served({ worker: { number: 2, gather }, queues: queues(5) });
  await first();
  const lines = await second();
  expect(lines).toContain('doorward_queue_waiting{queue="database",worker="1"} 4');
  expect(lines).toContain('doorward_queue_waiting{queue="database",worker="2"} 5');
  expect(lines.filter((line) => line.startsWith('# TYPE doorward_queue_waiting'))).toHaveLength(1);
  const before = 'doorward_http_requests_total{method="GET",route="/metrics",status="200",worker="1"} 1';
  expect(lines).toContain(before);
});
