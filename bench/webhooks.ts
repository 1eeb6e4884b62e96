/**
 * How long an event takes from its commit to its receiver, while one receiver hangs and one fails: that is what the
 * others must not feel. `npm run bench:webhooks` (`-- --per-second=5 --seconds=20`).
 *
 * On PostgreSQL when TEST_DATABASE_URL is set, else on the embedded database. It asserts nothing: figures of a busy
 * machine are no verdict.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildService, must, signUp, startService, type Service } from '../scripts/service.ts';
import { postgresDatabase } from '../test/support/postgres.ts';

const { values } = parseArgs({
  options: {
    'per-second': { type: 'string', default: '5' },
    seconds: { type: 'string', default: '20' },
  },
});
const PER_SECOND = Number(values['per-second']);
const SECONDS = Number(values.seconds);
const HEALTHY = 10;
const GOAL_MS = 5000;
/** For the last of them, once nothing more happens. */
const PATIENCE_MS = 60_000;

type Behaviour = 'healthy' | 'hanging' | 'failing';
/** From the time in the envelope, which is that of the commit, to the arrival; the first of each event and receiver. */
const latencies: number[] = [];
const arrived = new Set<string>();
const requests: Record<Behaviour, number> = { healthy: 0, hanging: 0, failing: 0 };

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, behaviour = 'healthy', number = ''] = (request.url ?? '').split('/') as [
    string,
    Behaviour,
    string,
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  requests[behaviour]++;
  if (behaviour === 'hanging') return;
  const { id, timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { id: string; timestamp: string };
  if (behaviour === 'healthy' && !arrived.has(`${number} ${id}`)) {
    arrived.add(`${number} ${id}`);
    latencies.push(Date.now() - Date.parse(timestamp));
  }
  response.writeHead(behaviour === 'failing' ? 500 : 204).end();
}

async function measure(service: Service, receiver: Server): Promise<void> {
  const { base } = service;
  const { token, organizationId } = await signUp(service);
  const { scope } = await must<{ scope: unknown }>(`${base}/api/projects`, {
    token,
    body: { scope: { tenant: 'organization', id: organizationId }, name: 'Hooks' },
  });
  const at = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const paths = ['hanging', 'failing', ...Array.from({ length: HEALTHY }, (_, index) => `healthy/${index}`)];
  for (const path of paths) {
    const body = { scope, url: `${at}/${path}`, eventTypes: ['role.created'] };
    await must(`${base}/api/webhook-subscriptions`, { token, body });
  }

  const began = performance.now();
  const writes: Promise<unknown>[] = [];
  for (let turn = 0; turn < PER_SECOND * SECONDS; turn++) {
    const due = began + (turn * 1000) / PER_SECOND;
    if (due > performance.now()) await sleep(due - performance.now());
    writes.push(must(`${base}/api/roles`, { token, body: { scope, name: `role ${turn}` } }));
  }
  await Promise.all(writes);
  const expected = writes.length * HEALTHY;
  const deadline = performance.now() + PATIENCE_MS;
  while (arrived.size < expected && performance.now() < deadline) await sleep(50);

  latencies.sort((a, b) => a - b);
  const quantile = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(share * latencies.length))] ?? 0;
  const [p50, p99, longest] = [quantile(0.5), quantile(0.99), latencies.at(-1) ?? 0];
  process.stdout.write(
    [
      '',
      `${writes.length} events at ${PER_SECOND}/s for ${HEALTHY} healthy receivers, one that hangs, one that fails`,
      `  arrived: ${arrived.size} of ${expected}; requests to the one that hangs ${requests.hanging}, to the one that fails ${requests.failing}`,
      `  commit to arrival: p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms; goal p99 < ${GOAL_MS} ms: ${p99 < GOAL_MS && arrived.size === expected ? 'met' : 'missed'}`,
      '',
    ].join('\n'),
  );
}

await buildService();
const adminUrl = process.env['TEST_DATABASE_URL'];
const database = adminUrl ? await postgresDatabase(adminUrl, null) : null;
const receiver = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1');
await once(receiver, 'listening');
try {
  const service = await startService({
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      WEBHOOKS_ALLOW_HTTP: 'true',
      WEBHOOKS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
      ...(database ? { DATABASE_URL: database.url } : {}),
    },
  });
  try {
    await measure(service, receiver);
  } finally {
    await service.stop();
  }
} finally {
  receiver.closeAllConnections();
  receiver.close();
  await database?.drop();
}
