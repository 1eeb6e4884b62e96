/**
 * Ten times the capacity: `npm run bench:flood` (`-- --seconds=60`, `--times=10`, `--only=writes` or `lists`,
 * `--on=embedded`, `--dir=<checkout>`). The capacity is the best rate of closed loops. Then a separate process sends ten
 * times as many requests per second, whether or not earlier ones were answered; a client waits for at most 30 s. The
 * goals: goodput of at least 70 % of the capacity, no failure of `/health/live`, bounded memory, and a single call within
 * 100 ms at most 5 s after the flood.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../scripts/service.ts';
import { countsOf, milliseconds, successesOf } from './figures.ts';
import { forgetPeak, memoryOf, request, send, sendAll } from './load.ts';
import { onServices, printTable, readOptions, say } from './report.ts';
import type { Service } from './service.ts';
import { addRoles, listPath, newProject, newRoleList, newTenant } from './tenant.ts';

const options = readOptions();
const SECONDS = options.number('seconds', options.quick ? 15 : 60);
const TIMES = options.number('times', 10);
const CAPACITY_SECONDS = options.quick ? 4 : 8;
/** Concurrent requests while the capacity is measured. */
const AT_A_TIME = [8, 32, 64];
const CONNECTIONS = 4000;
const LIVE_PER_SECOND = 20;
const QUICK_MS = 100;
const PATIENCE_MS = 60_000;

async function capacityOf(ports: readonly number[], requests: readonly string[]): Promise<number> {
  let best = 0;
  for (const connections of AT_A_TIME) {
    const { statuses } = await sendAll({
      ports,
      requests,
      kind: 'closed',
      connections,
      seconds: CAPACITY_SECONDS,
    });
    best = Math.max(best, successesOf(statuses) / CAPACITY_SECONDS);
  }
  return best;
}

/** Milliseconds until one call succeeds within 100 ms. */
async function untilQuick(url: string, token: string): Promise<number> {
  const began = performance.now();
  while (performance.now() - began < PATIENCE_MS) {
    const requested = performance.now();
    const { status } = await call(url, { token });
    if (status === 200 && performance.now() - requested <= QUICK_MS) return performance.now() - began;
    await sleep(20);
  }
  return PATIENCE_MS;
}

const head =
  '|capacity|goodput|served p50, p99, slowest|refused, p99|answers|live, p99|memory before, peak, after|quick again after';
const rows = [head.split('|')];
const runs: object[] = [];

interface Flood {
  readonly what: string;
  readonly requests: readonly string[];
  /** Repeats a single call until it is fast again. Answers the milliseconds. */
  readonly single: () => Promise<number>;
}

async function floodOf({ port, pid }: Service, { what, requests, single }: Flood): Promise<void> {
  const ports = [port];
  const capacity = await capacityOf(ports, requests);
  await single();
  const perSecond = capacity * TIMES;
  say(`  ${what}: ${capacity.toFixed(0)}/s, now ${perSecond.toFixed(0)}/s for ${SECONDS} s`);
  await forgetPeak(pid);
  const { now: before } = await memoryOf(pid);
  const open = { ports, kind: 'open', seconds: SECONDS } as const;
  const lives = [request('/health/live', {})];
  const live = await send({ ...open, requests: lives, connections: 50, perSecond: LIVE_PER_SECOND });
  const flood = await send({ ...open, requests, connections: CONNECTIONS, perSecond });
  await flood.sent;
  const quickAgainMs = await single();
  const [report, health] = await Promise.all([flood.report, live.report]);
  await sleep(5000);
  const { now: after, peak } = await memoryOf(pid);
  const { statuses, served, refused, unsent } = report;
  const goodput = successesOf(statuses) / SECONDS;
  rows.push([
    what,
    `${capacity.toFixed(0)}/s`,
    `${Math.round((100 * goodput) / capacity)} %`,
    [served.p50, served.p99, served.max].map(milliseconds).join(', '),
    `${refused.count}, ${milliseconds(refused.p99)}`,
    `${countsOf(statuses)}${unsent > 0 ? `, never sent × ${unsent}` : ''}`,
    `${countsOf(health.statuses)}, ${milliseconds(health.served.p99)}`,
    [before, peak, after].map((megabytes) => `${megabytes.toFixed(0)} MB`).join(', '),
    quickAgainMs < PATIENCE_MS ? milliseconds(quickAgainMs) : `not within ${milliseconds(PATIENCE_MS)}`,
  ]);
  const memory = { before, peak, after };
  runs.push({ what, capacity, seconds: SECONDS, goodput, report, health, memory, quickAgainMs });
}

await onServices(options, async (backend, service) => {
  const tenant = await newTenant(service, 'ada');
  const { token } = tenant;
  const { scope } = await newProject(tenant, 'Flooded');
  await addRoles(tenant, await newRoleList(tenant, scope), 60);
  const single = () => untilQuick(`${service.base}/api/me`, token);
  // Writes last, because they make the tables larger.
  const loads = {
    lists: [request(listPath(scope), { token })],
    writes: [request('/api/tags', { token, body: { scope, name: 'Tag {n}' } })],
  };
  for (const [what, requests] of Object.entries(loads))
    if (options.wants(what)) await floodOf(service, { what: `${backend}, ${what}`, requests, single });
});
printTable(
  `${TIMES} times the capacity for ${SECONDS} s (goals: goodput 70 %, live 0 failed, quick again within 5 s):`,
  rows,
);
await options.write('flood', { runs });
