/**
 * A flood of wrong sign-ins, as somebody would send it who has a list of addresses and many networks: so many a second,
 * whether or not the last were answered. Told is what was answered, how long the event loop of the service was kept
 * waiting, and how others were served meanwhile. `npm run bench:logins` (`-- --per-second=400 --seconds=30`).
 *
 * On PostgreSQL when TEST_DATABASE_URL is set, else on the embedded database. It asserts nothing: figures of a busy
 * machine are no verdict.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { buildService, must, signUp, startService, type Service, type SignedUp } from '../scripts/service.ts';
import { postgresDatabase } from '../test/support/postgres.ts';

const { values } = parseArgs({
  options: {
    'per-second': { type: 'string', default: '200' },
    seconds: { type: 'string', default: '10' },
  },
});
const PER_SECOND = Number(values['per-second']);
const SECONDS = Number(values.seconds);
const USERS = 20;
/** How often others ask for something. */
const OTHERS_MS = 50;
const GOAL_MS = 100;

interface Answered {
  /** 0 when no answer came. */
  readonly status: number;
  readonly ms: number;
  readonly retryAfter: string | null;
}

/** The flood comes over many connections, the others over a few that stay open, as from a proxy. */
const flooding = new Agent({ keepAlive: true, maxSockets: 500 });
const calm = new Agent({ keepAlive: true, maxSockets: 8 });

interface Sent {
  readonly agent: Agent;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}
async function send(url: string, { agent, headers = {}, body }: Sent): Promise<Answered> {
  const began = performance.now();
  const sent = request(url, { agent, method: body === undefined ? 'GET' : 'POST', headers });
  sent.end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    const retryAfter = response.headers['retry-after'] ?? null;
    return { status: response.statusCode ?? 0, ms: performance.now() - began, retryAfter };
  } catch {
    return { status: 0, ms: performance.now() - began, retryAfter: null };
  }
}

const json = { 'content-type': 'application/json' };
const signIn = (address: string, password: string) =>
  JSON.stringify({ provider: 'email', providerId: address, providerData: { password } });

/** One guess, each from a network of its own. */
const guess = ({ base }: Service, address: string, turn: number): Promise<Answered> =>
  send(`${base}/api/auth/login`, {
    agent: flooding,
    headers: { ...json, 'x-forwarded-for': `10.${turn >> 16}.${(turn >> 8) & 255}.${turn & 255}` },
    body: signIn(address, randomBytes(9).toString('hex')),
  });

/** Sends at fixed times and waits for all answers at the end. */
async function openLoop(perSecond: number, ask: (turn: number) => Promise<Answered>): Promise<Answered[]> {
  const began = performance.now();
  const asked: Promise<Answered>[] = [];
  for (let turn = 0; turn < perSecond * SECONDS; turn++) {
    const due = began + (turn * 1000) / perSecond;
    if (due > performance.now()) await sleep(due - performance.now());
    asked.push(ask(turn));
  }
  return Promise.all(asked);
}

/** The event loop's delay since it was last asked for. */
async function loopDelay(service: Service): Promise<{ p50: number; p99: number; max: number }> {
  const before = service.output().length;
  process.kill(service.pid, 'SIGALRM');
  for (;;) {
    const line = /\{"eventLoopDelay":(\{[^}]*\})\}/.exec(service.output().slice(before))?.[1];
    if (line) return JSON.parse(line) as { p50: number; p99: number; max: number };
    await sleep(10);
  }
}

const quantile = (of: readonly Answered[], share: number): string => {
  const sorted = of.map(({ ms }) => ms).sort((a, b) => a - b);
  return `${(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0)} ms`;
};
function told(what: string, answers: readonly Answered[]): string {
  const statuses = [...new Set(answers.map(({ status }) => status))].sort();
  const lines = statuses.map((status) => {
    const these = answers.filter((answer) => answer.status === status);
    const hinted = these.filter(({ retryAfter }) => retryAfter !== null).length;
    const hint = hinted > 0 ? `, ${hinted} with Retry-After` : '';
    return `  ${status}: ${these.length}${hint}; p50 ${quantile(these, 0.5)}, p99 ${quantile(these, 0.99)}`;
  });
  return `${what}\n${lines.join('\n')}`;
}

async function flood(service: Service, { token, accountId }: SignedUp): Promise<void> {
  const { base } = service;
  const addresses: string[] = [];
  for (let count = 0; count < USERS; count++) {
    const address = `${randomBytes(6).toString('hex')}@example.test`;
    await must(`${base}/api/auth/register`, {
      body: JSON.parse(signIn(address, randomBytes(9).toString('hex'))),
    });
    addresses.push(address);
  }
  const question = JSON.stringify({
    permission: { resource: 'project', action: 'query' },
    scope: { tenant: 'account', id: accountId },
  });
  const bearer = { authorization: `Bearer ${token}` };
  await loopDelay(service);
  const [guesses, live, asked, me] = await Promise.all([
    // Every second address is nobody's.
    openLoop(PER_SECOND, (turn) =>
      guess(service, turn % 2 ? `nobody-${turn}@example.test` : (addresses[turn % USERS] ?? ''), turn),
    ),
    openLoop(1000 / OTHERS_MS, () => send(`${base}/health/live`, { agent: calm })),
    openLoop(1000 / OTHERS_MS, () =>
      send(`${base}/api/auth/is-authorized`, {
        agent: calm,
        headers: { ...json, ...bearer },
        body: question,
      }),
    ),
    openLoop(1000 / OTHERS_MS, () => send(`${base}/api/me`, { agent: calm, headers: bearer })),
  ]);
  const { p50, p99, max } = await loopDelay(service);
  const wrong = [...guesses, ...live, ...asked, ...me].filter(
    ({ status, retryAfter }) => status >= 500 && !(status === 503 && retryAfter !== null),
  );
  process.stdout.write(
    [
      '',
      told(`${PER_SECOND} wrong sign-ins a second for ${SECONDS} s`, guesses),
      told('health/live', live),
      told('is-authorized', asked),
      told('me', me),
      `event loop: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, longest ${max.toFixed(1)} ms; goal p99 < ${GOAL_MS} ms: ${p99 < GOAL_MS ? 'met' : 'missed'}`,
      `5xx other than 503 with Retry-After: ${wrong.length}`,
      '',
    ].join('\n'),
  );
}

await buildService();
const adminUrl = process.env['TEST_DATABASE_URL'];
const database = adminUrl ? await postgresDatabase(adminUrl, null) : null;
try {
  const service = await startService({
    env: {
      SECURITY_TRUSTED_PROXIES: '127.0.0.1',
      SECURITY_RATE_LIMIT_GENERAL_MAX: '1000000',
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '..', 'bench', 'loop-delay.mjs')).href}`,
      ...(database ? { DATABASE_URL: database.url } : {}),
    },
  });
  try {
    await flood(service, await signUp(service));
  } finally {
    flooding.destroy();
    calm.destroy();
    await service.stop();
  }
} finally {
  await database?.drop();
}
