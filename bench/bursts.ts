/**
 * Bursts: 10, 60, 200 and 1,000 calls of one caller at once, each on its own open connection: `npm run bench:bursts`
 * (`-- --quick` omits 200; `--busy` keeps both cores busy with other work; `--only=me,list`; `--on=embedded`;
 * `--dir=<checkout>`). A cell contains the answers by status and the longest wait. The goal is no 503. The next burst
 * starts when the service is idle.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { countsOf, milliseconds } from './figures.ts';
import { cpuSeconds, request, sendAll } from './load.ts';
import { onServices, printTable, readOptions, say } from './report.ts';
import type { Report } from './sender.ts';
import { makeBusy, type Backend, type Service } from './service.ts';
import {
  addRoles,
  checks,
  credentialsOf,
  graphqlList,
  listPath,
  newPerson,
  newPolicy,
  newProject,
  newRoleList,
  newTenant,
} from './tenant.ts';

const options = readOptions();
const SIZES = options.quick ? [10, 60, 1000] : [10, 60, 200, 1000];
const LOGINS = 20;
const KEYS = 20;
/** A service that uses less than a tenth of a core is idle. */
const QUIET_MS = 300;
const QUIET_SHARE = 0.1;
const PATIENCE_MS = 30_000;

interface Burst {
  readonly what: string;
  readonly requests: readonly string[];
  readonly sizes: readonly number[];
}

async function burstsOf(service: Service): Promise<readonly Burst[]> {
  const tenant = await newTenant(service, 'ada');
  const { token } = tenant;
  const { scope } = await newProject(tenant, 'Listed');
  const list = await newRoleList(tenant, scope);
  const roleIds = await addRoles(tenant, list, 60);
  const policy = await newPolicy(service, tenant, 'Asked', KEYS);
  const someone = await newPerson(service, 'grace');
  const name = 'Tag {n}';
  const update = roleIds.map((id) =>
    request(`/api/roles/${id}`, { token, method: 'PATCH', body: { scope, description: 'Changed {n}' } }),
  );
  const all: Readonly<Record<string, readonly string[]>> = {
    me: [request('/api/me', { token })],
    list: [request(listPath(scope), { token })],
    create: [request('/api/tags', { token, body: { scope, name } })],
    update,
    check: await checks(service, policy, 'named'),
    graphql: [request('/graphql', { token, body: graphqlList(scope, null) })],
    exchange: policy.keys.map((body) => request('/api/auth/token', { body })),
    login: [request('/api/auth/login', { body: credentialsOf(someone.email) })],
  };
  return Object.entries(all)
    .filter(([what]) => options.wants(what))
    .map(([what, requests]) => ({ what, requests, sizes: what === 'login' ? [LOGINS] : SIZES }));
}

async function untilQuiet({ pid }: Service): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let used = Infinity; used > (QUIET_MS / 1000) * QUIET_SHARE && performance.now() < until;) {
    const before = await cpuSeconds(pid);
    await sleep(QUIET_MS);
    used = (await cpuSeconds(pid)) - before;
  }
}

interface Cell extends Report {
  readonly backend: Backend;
  readonly what: string;
  readonly size: number;
}

const written = ({ statuses, slowest }: Report): string => `${countsOf(statuses)}; ${milliseconds(slowest)}`;

const cells: Cell[] = [];
await onServices(options, async (backend, service) => {
  const bursts = await burstsOf(service);
  const end = options.busy ? makeBusy() : async () => undefined;
  for (const { what, requests, sizes } of bursts) {
    for (const size of sizes) {
      await untilQuiet(service);
      const task = { ports: [service.port], requests, kind: 'burst', connections: size, seconds: 0 } as const;
      const cell = { backend, what, size, ...(await sendAll(task)) };
      cells.push(cell);
      say(`  ${what}  ${size}  ${written(cell)}`);
    }
  }
  await end();
});
const refusals = cells.reduce((sum, { statuses }) => sum + (statuses['503'] ?? 0), 0);
const columns = [...new Set(cells.map(({ size }) => size))].sort((a, b) => a - b);
const kinds = [...new Set(cells.map(({ backend, what }) => `${backend}: ${what}`))];
printTable(
  `Calls at one moment, ${options.busy ? 'both cores busy with other work' : 'idle'}: answers, slowest`,
  [
    ['', ...columns.map(String)],
    ...kinds.map((kind) => [
      kind,
      ...columns.map((size) => {
        const cell = cells.find((cell) => `${cell.backend}: ${cell.what}` === kind && cell.size === size);
        return cell ? written(cell) : '';
      }),
    ]),
  ],
);
process.stdout.write(`\n503 in all: ${refusals} (goal 0)\n`);
await options.write('bursts', { refusals, cells });
