/**
 * What ten times the capacity does to the service: `npm run bench:overload` (`-- --quick` for a glance, `--only=writes`,
 * `--on=embedded`). For each kind of work the capacity is found with closed loops: the most answers a second. Then ten
 * times as many arrive each second for a minute, from a process of its own, whether or not the last were answered. Told
 * is what was served in percent of the capacity, how fast the rest was refused, how `/health/live` was answered
 * meanwhile, and how large the process grew. The capacity is looked at again right before and right after the flood: the
 * best of those that were tried first is what luck made of them, and a machine that is shared is another one a minute
 * later. `--rounds=3` does all of it three times over, and tells the median.
 *
 * PostgreSQL is used beside the embedded database where one answers, as in `npm run bench`. Service and PostgreSQL then
 * have a core for themselves (bench/apart.ts), since ten times the capacity costs whoever sends it more than it costs to
 * serve; `--beside` leaves them all cores, with the sender, as the embedded database has them: that is one thread, and
 * leaves him a core anyway. It asserts nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildService, must, signUp, startService, type Service } from '../scripts/service.ts';
import type { TestDatabase } from '../test/support/postgres.ts';
import { standApart } from './apart.ts';
import type { Quantiles, Task, Told } from './arrivals.ts';
import { median } from './measure.ts';
import { newDatabase } from './setting.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    on: { type: 'string' },
    beside: { type: 'boolean', default: false },
    times: { type: 'string', default: '10' },
    seconds: { type: 'string' },
    rounds: { type: 'string', default: '1' },
  },
});
const TIMES = Number(values.times);
const ROUNDS = Number(values.rounds);
const CLOSED_SECONDS = values.quick ? 3 : 8;
const FLOOD_SECONDS = Number(values.seconds ?? (values.quick ? 10 : 60));
/** Under way at a time while the capacity is looked for. */
const AT_A_TIME = [4, 16, 48];
const CONNECTIONS = 500;
const PROJECTS = 8;
const LISTED = 60;
const LIVE_MS = 50;
const TICKS_PER_SECOND = 100;

const root = join(import.meta.dirname, '..');
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function load(task: Task): Promise<Told> {
  const child = spawn(process.execPath, [join(root, 'dist', 'arrivals.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stdin.end(JSON.stringify(task));
  await once(child, 'close');
  return JSON.parse(text) as Told;
}

async function buildArrivals(): Promise<void> {
  const child = spawn(process.execPath, ['scripts/run.mjs', '--build-only', 'bench/arrivals.ts'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
}

/** A POST as it goes over the wire. */
function post(path: string, body: unknown, token?: string): string {
  const text = JSON.stringify(body).replaceAll('{n}', '0000000{n}');
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
  ];
  return `${head.join('\r\n')}\r\n\r\n${text.replaceAll('0000000{n}', '{n}0000000')}`;
}

type Loads = Readonly<Record<string, readonly string[]>>;

/** What is asked for; each needs another part of the service. */
async function loadsOf(service: Service): Promise<Loads> {
  const { base } = service;
  const { token, organizationId } = await signUp(service);
  const make = <D = { id: string }>(path: string, body: Record<string, unknown>) =>
    must<D>(`${base}/api/${path}`, { token, body });
  const scope = { tenant: 'organization', id: organizationId };
  const group = await make('groups', { scope, name: 'Listed' });
  for (let count = 0; count < LISTED; count++)
    await make('roles', { scope, name: `Listed ${count}`, groupIds: [group.id] });
  const exchange: string[] = [];
  for (let count = 0; count < PROJECTS; count++) {
    const project = await make('projects', { scope, name: `Project ${count}` });
    const at = { tenant: 'organizationProject', id: `${organizationId}:${project.id}` };
    const role = await make('roles', { scope: at, name: 'Reader' });
    const key = await make<{ clientId: string; clientSecret: string; scope: unknown }>('api-keys', {
      scope: at,
      roleId: role.id,
    });
    const { clientId, clientSecret } = key;
    exchange.push(post('/api/auth/token', { clientId, clientSecret, scope: key.scope }));
  }
  const write = post('/api/roles', { scope, name: 'Flood {n}' }, token);
  const query = `query Q($scope: ScopeInput!) {
    roles(input: {scope: $scope, limit: 50}) { totalCount items { id name groups { id name } tags { id } } } }`;
  const list = post('/graphql', { query, variables: { scope } }, token);
  const asked = { permission: { resource: 'role', action: 'query' }, scope };
  const check = post('/api/auth/is-authorized', asked, token);
  const [one = '', two = ''] = exchange;
  return {
    lists: [list],
    exchange,
    mix: [write, list, one, write, check, list, write, two, check, write],
    // Last, for it makes the tables that the others read larger.
    writes: [write],
  };
}

const ofProcess = (pid: number, name: string): number =>
  Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) /
  1024;

/** Seconds of a processor that the process has used, in all its threads. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/** Asks for `/health/live` at fixed times until it is told to stop. */
function watchLive({ base }: Service): () => Promise<{ failed: number; ms: number[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ms: number[] = [];
  let failed = 0;
  const one = async (): Promise<void> => {
    const began = performance.now();
    try {
      const sent = request(`${base}/health/live`, { agent });
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      if (response.statusCode !== 200) failed++;
      ms.push(performance.now() - began);
    } catch {
      failed++;
    }
  };
  const asked: Promise<void>[] = [];
  const timer = setInterval(() => asked.push(one()), LIVE_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(asked);
    agent.destroy();
    return { failed, ms: ms.sort((a, b) => a - b) };
  };
}

const rounded = ({ p50, p99, max }: Quantiles): string =>
  `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, longest ${max.toFixed(0)} ms`;
const successes = ({ statuses }: Told): number =>
  Object.entries(statuses).reduce((sum, [status, count]) => sum + (status.startsWith('2') ? count : 0), 0);

const portOf = ({ base }: Service): number => Number(new URL(base).port);

interface Flooded {
  readonly service: Service;
  readonly requests: readonly string[];
  /** Holds everybody at his place. */
  readonly hold: () => Promise<void>;
}

/** Served in a second with so many at a time, and for a second of the service's processor. */
async function closedLoop({ service, requests, hold }: Flooded, connections: number) {
  await hold();
  const used = cpuSeconds(service.pid);
  const told = await load({
    port: portOf(service),
    requests,
    seconds: CLOSED_SECONDS,
    connections,
    perSecond: null,
  });
  const perSecond = successes(told) / CLOSED_SECONDS;
  say(
    `  ${connections} at a time: ${perSecond.toFixed(0)}/s ${JSON.stringify(told.statuses)}, ${rounded(told.served)}`,
  );
  return { perSecond, perCpuSecond: successes(told) / (cpuSeconds(service.pid) - used) };
}

/** Capacity, flood, capacity. @returns what was served in the flood, in percent of the capacity before and after it */
async function round(flooded: Flooded, connections: number): Promise<number> {
  const { service, requests, hold } = flooded;
  const before = await closedLoop(flooded, connections);
  await sleep(2000);
  const memory = ofProcess(service.pid, 'VmRSS');
  const used = cpuSeconds(service.pid);
  const stopWatching = watchLive(service);
  await hold();
  const perSecond = before.perSecond * TIMES;
  const told = await load({
    port: portOf(service),
    requests,
    seconds: FLOOD_SECONDS,
    connections: CONNECTIONS,
    perSecond,
  });
  const servedPerCpu = successes(told) / (cpuSeconds(service.pid) - used);
  const live = await stopWatching();
  const at = (share: number) => live.ms[Math.floor(share * live.ms.length)] ?? 0;
  const goodput = successes(told) / FLOOD_SECONDS;
  await sleep(3000);
  const after = await closedLoop(flooded, connections);
  const percent = (200 * goodput) / (before.perSecond + after.perSecond);
  const perCpuSecond = (before.perCpuSecond + after.perCpuSecond) / 2;
  const offered = Object.values(told.statuses).reduce((sum, count) => sum + count, 0) / FLOOD_SECONDS;
  say(
    [
      `  ${perSecond.toFixed(0)}/s asked for, ${offered.toFixed(0)}/s sent for ${FLOOD_SECONDS} s`,
      `  goodput ${goodput.toFixed(0)}/s, ${percent.toFixed(0)} % of the capacity before and after, ${before.perSecond.toFixed(0)} and ${after.perSecond.toFixed(0)}/s (goal 80 %)`,
      `  of the service's processor time ${((100 * servedPerCpu) / perCpuSecond).toFixed(0)} % went to what was served (${servedPerCpu.toFixed(0)} for a second, ${perCpuSecond.toFixed(0)} before and after)`,
      `  served  ${rounded(told.served)}`,
      `  shed    ${rounded(told.shed)} (goal p99 50 ms); ${told.unhinted} without Retry-After`,
      `  answers ${JSON.stringify(told.statuses)}; never sent ${told.unsent}; sender late ${rounded(told.late)}`,
      `  live    ${live.ms.length} answers, ${live.failed} failed, ${rounded({ p50: at(0.5), p99: at(0.99), max: live.ms.at(-1) ?? 0 })}`,
      `  memory  ${memory.toFixed(0)} MB before, ${ofProcess(service.pid, 'VmHWM').toFixed(0)} MB at the highest`,
    ].join('\n'),
  );
  await sleep(3000);
  return percent;
}

async function flood(what: string, flooded: Flooded): Promise<void> {
  say(what);
  const found = new Map<number, number>();
  for (const connections of AT_A_TIME)
    found.set(connections, (await closedLoop(flooded, connections)).perSecond);
  const [best] = [...found].reduce((one, other) => (other[1] > one[1] ? other : one));
  const percents: number[] = [];
  for (let count = 0; count < ROUNDS; count++) percents.push(await round(flooded, best));
  if (ROUNDS > 1)
    say(
      `${what}: ${percents.map((one) => one.toFixed(0)).join(', ')} %, median ${median(percents).toFixed(0)} %`,
    );
}

async function run(where: string, database: TestDatabase | null): Promise<void> {
  if (values.on !== undefined && values.on !== where) return;
  const service = await startService({
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      LOG_LEVEL: 'warn',
      LOG_PRETTY: 'false',
      ...(database ? { DATABASE_URL: database.url } : {}),
    },
  });
  let apart: Awaited<ReturnType<typeof standApart>> = null;
  try {
    const loads = await loadsOf(service);
    if (database && !values.beside) apart = await standApart([service.pid], database.url);
    const cores = apart ? 'a core apart from its load' : 'all cores beside its load';
    for (const [what, requests] of Object.entries(loads)) {
      if (values.only !== undefined && values.only !== what) continue;
      const hold = async () => apart?.hold();
      await flood(`${what}, ${where}, ${cores}`, { service, requests, hold });
    }
  } finally {
    await apart?.end();
    await service.stop();
  }
}

await buildService();
await buildArrivals();
await run('embedded', null);
const database = values.on === 'embedded' ? null : await newDatabase();
try {
  if (database) await run('postgres', database);
} finally {
  await database?.drop();
}
