/**
 * kill -9 while webhooks are being sent: every event of every committed mutation reaches its receiver at least once,
 * with its own id and bytes, and no other event arrives. On the embedded database, or on PostgreSQL when
 * TEST_DATABASE_URL is set.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  buildService,
  call,
  callOrThrow,
  signUp,
  startService,
  type Service,
} from '../../../../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';

const ROUNDS = Number(process.env['WEBHOOK_KILLS'] ?? 1);
const WRITERS = 4;
/** How long the number of waiting deliveries may stay the same: a slow machine needs longer for all of them. */
const PATIENCE_MS = 120_000;

let directory: string;
let postgres: TestDatabase | undefined;
let service: Service | undefined;
let receiver: Server;
let verifier: Webhook;
/** The deliveries by event: the bytes of each one, and whether one of them was acknowledged. */
const arrived = new Map<string, { readonly bodies: Set<string>; times: number; acknowledged: boolean }>();

/** Called for each request, before the response. */
let onArrival = (): void => undefined;

beforeAll(async () => {
  await buildService();
  directory = await preparedDataDir();
  if (inject('postgresUrl')) postgres = await postgresDatabase(inject('postgresUrl'), null);
  receiver = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(async () => {
  await service?.kill();
  receiver.closeAllConnections();
  receiver.close();
  await postgres?.drop();
  await rm(directory, { recursive: true, force: true });
});

/** Backdates the claims of killed processes, which otherwise have to expire; the embedded database needs none. */
async function endLeases(): Promise<void> {
  if (!postgres) return;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('update webhook_deliveries set claimed_until = now() where claimed_until > now()');
  await client.end();
}

/** Responds slowly, and fails one request in eight. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  const { id } = verifier.verify(body, request.headers as Record<string, string>) as { id: string };
  expect(request.headers['webhook-id']).toBe(id);
  const event = arrived.get(id) ?? { bodies: new Set(), times: 0, acknowledged: false };
  event.bodies.add(body);
  event.times++;
  arrived.set(id, event);
  onArrival();
  await sleep(randomInt(30));
  const status = randomInt(8) === 0 ? 500 : 204;
  if (status === 204) event.acknowledged = true;
  response.writeHead(status).end();
}

async function start(): Promise<Service> {
  service = await startService({
    dataDir: directory,
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      // The port changes with every start; the issuer of a valid token must not.
      APP_URL: 'http://doorward.test',
      JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: '60',
      WEBHOOKS_ALLOW_HTTP: 'true',
      WEBHOOKS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
      WEBHOOKS_TIMEOUT_MS: '1000',
      WEBHOOKS_RETRY_SCHEDULE_SECONDS: Array(20).fill('0.5').join(','),
      ...(postgres ? { DATABASE_URL: postgres.url } : {}),
    },
  });
  return service;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
  readonly totalCount: number;
}

test(
  `each event arrives in spite of ${ROUNDS} kills`,
  { timeout: 2 * PATIENCE_MS + ROUNDS * 15_000 },
  async () => {
    const ada = await signUp(await start());
    const { token } = ada;
    const project = await callOrThrow<{ id: string; scope: { tenant: string; id: string } }>(
      `${(service as Service).base}/api/projects`,
      { token, body: { scope: { tenant: 'organization', id: ada.organizationId }, name: 'Killed' } },
    );
    const { scope } = project;
    const inScope = `tenant=${scope.tenant}&scopeId=${scope.id}`;
    const { secret } = await callOrThrow<{ secret: string }>(
      `${(service as Service).base}/api/webhook-subscriptions`,
      {
        token,
        body: {
          scope,
          url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`,
          eventTypes: ['role.created'],
        },
      },
    );
    verifier = new Webhook(secret);

    let written = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const { base, kill } = service as Service;
      // The kill comes in the middle of sending, however fast the machine is.
      let left = randomInt(1, 8);
      const struck = new Promise<void>((resolve) => (onArrival = () => void (--left === 0 && resolve())));
      const writer = async (): Promise<void> => {
        for (;;) {
          const body = { scope, name: `role ${round}` };
          const answer = await call(`${base}/api/roles`, { token, body }).catch(() => undefined);
          if (!answer) return;
          expect(answer.status, answer.text).toBe(201);
          written++;
        }
      };
      await Promise.all([...Array.from({ length: WRITERS }, writer), struck.then(kill)]);
      await endLeases();
      await start();
    }

    const { base } = service as Service;
    const pending = `${base}/api/webhook-subscriptions/deliveries?${inScope}&status=pending&limit=1`;
    const sent: string[] = [];
    let fewest = Infinity;
    for (let deadline = performance.now() + PATIENCE_MS; ; await sleep(100)) {
      // An event without a delivery is still to be relayed.
      sent.length = 0;
      for (let after: string | null = ''; after !== null;) {
        const page: Page<{ id: string }> = await callOrThrow(
          `${base}/api/events?${inScope}&types=role.created&limit=100${after && `&after=${encodeURIComponent(after)}`}`,
          { token },
        );
        sent.push(...page.items.map(({ id }) => id));
        after = page.items.length === 100 ? page.nextCursor : null;
      }
      const { totalCount } = await callOrThrow<Page<unknown>>(pending, { token });
      if (totalCount === 0 && sent.every((id) => arrived.get(id)?.acknowledged)) break;
      const waiting = totalCount + sent.filter((id) => !arrived.get(id)?.acknowledged).length;
      if (waiting < fewest) deadline = performance.now() + PATIENCE_MS;
      fewest = Math.min(fewest, waiting);
      expect(performance.now(), `${totalCount} deliveries still wait`).toBeLessThan(deadline);
    }
    const { totalCount: roles } = await callOrThrow<Page<unknown>>(
      `${base}/api/roles?${inScope}&limit=1&isSystem=false`,
      {
        token,
      },
    );
    expect(sent.length).toBe(roles);
    expect(roles).toBeGreaterThanOrEqual(written);
    expect(new Set(arrived.keys())).toEqual(new Set(sent));
    expect([...arrived.values()].filter(({ bodies }) => bodies.size !== 1)).toEqual([]);
    const times = [...arrived.values()].reduce((sum, event) => sum + event.times, 0);
    process.stdout.write(
      `kill -9 while delivering, ${postgres ? 'postgres' : 'embedded'}: ${ROUNDS} rounds, ${written} writes acknowledged, ` +
        `${sent.length} events, all arrived under their ids (${times - sent.length} came again)\n`,
    );
  },
);
