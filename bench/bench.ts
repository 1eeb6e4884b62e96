/**
 * The goals for speed as ratios, each measured side by side with what it is held against, in one run: `npm run bench`
 * (`-- --quick` for a glance). It asserts nothing and writes nothing: figures of a busy machine are no verdict.
 *
 * PostgreSQL is used when DATABASE_URL, TEST_DATABASE_URL or 127.0.0.1:5432 answers, in databases of its own.
 */
import autocannon from 'autocannon';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildService, must, signUp, startService, type Service, type SignedUp } from '../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../test/support/postgres.ts';

const root = join(import.meta.dirname, '..');
const quick = process.argv.includes('--quick');
const SECONDS = quick ? 3 : 10;
const ROUNDS = quick ? 2 : 3;
const WARM_UP_SECONDS = quick ? 1 : 3;
const CONNECTIONS = 64;
const CORES = 2;
const PROJECTS = 8;

interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Connections take turns. */
  readonly bodies: readonly string[];
}

interface Row {
  readonly what: string;
  readonly measured: number;
  readonly against: string;
  readonly reference: number;
  readonly goal: number;
  readonly latency?: string;
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
};

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Requests per second; anything but 200 is no measurement. */
async function fire({ url, headers, bodies }: Load, seconds: number): Promise<autocannon.Result> {
  let next = 0;
  const result = await autocannon({
    url,
    method: 'POST',
    connections: CONNECTIONS,
    duration: seconds,
    headers: { 'content-type': 'application/json', ...headers },
    body: bodies[0] ?? '',
    setupClient: (client) => client.setBody(bodies[next++ % bodies.length] ?? ''),
  });
  const { non2xx, errors, timeouts } = result;
  if (non2xx + errors + timeouts > 0) {
    throw new Error(`${url}: ${non2xx} answers were no success, ${errors} errors, ${timeouts} timeouts`);
  }
  return result;
}

/** Loads in turns, so that what else the machine does meets all of them; the median of the rounds. */
async function measure(loads: readonly Load[]) {
  for (const load of loads) await fire(load, WARM_UP_SECONDS);
  const results = loads.map((): autocannon.Result[] => []);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [index, load] of loads.entries()) {
      const result = await fire(load, SECONDS);
      results[index]?.push(result);
      say(`  round ${round}  ${Math.round(result.requests.average)}/s  ${load.url}`);
    }
  }
  return results.map((rounds) => ({
    perSecond: median(rounds.map(({ requests }) => requests.average)),
    p50: median(rounds.map(({ latency }) => latency.p50)),
    p99: median(rounds.map(({ latency }) => latency.p99)),
  }));
}

interface Echo {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

async function startEcho(responseBytes: number): Promise<Echo> {
  await promisify(execFile)(process.execPath, ['scripts/run.mjs', '--build-only', 'bench/echo.ts'], {
    cwd: root,
  });
  const child = spawn(process.execPath, [join(root, 'dist', 'echo.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, RESPONSE_BYTES: String(responseBytes), NODE_ENV: 'production' },
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${port.toString().trim()}/echo`,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

const start = (database: TestDatabase | null): Promise<Service> =>
  startService({
    env: {
      SECURITY_RATE_LIMIT_ENABLED: 'false',
      LOG_LEVEL: 'warn',
      LOG_PRETTY: 'false',
      ...(database ? { DATABASE_URL: database.url } : {}),
    },
  });

interface Exchange {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: { readonly tenant: string; readonly id: string };
}

/** A project with one conditional permission, and a key that holds it. */
async function newKey(
  { base }: Service,
  { token, organizationId }: SignedUp,
  name: string,
): Promise<Exchange> {
  const post = <D = { id: string }>(path: string, body: Record<string, unknown>) =>
    must<D>(`${base}/api/${path}`, { token, body });
  const project = await post('projects', { scope: { tenant: 'organization', id: organizationId }, name });
  const scope = { tenant: 'organizationProject', id: `${organizationId}:${project.id}` };
  const resource = await post('resources', { scope, name: 'Invoice', slug: 'invoice', actions: ['read'] });
  const permission = await post('permissions', {
    scope,
    resourceId: resource.id,
    action: 'read',
    condition: { Equals: { 'resource.ownerId': '{{user.id}}' } },
  });
  const group = await post('groups', { scope, name: 'Own invoices', permissionIds: [permission.id] });
  const role = await post('roles', { scope, name: 'Customer', groupIds: [group.id] });
  const key = await post<Exchange>('api-keys', { scope, roleId: role.id });
  return { clientId: key.clientId, clientSecret: key.clientSecret, scope };
}

/** is-authorized with a key's token and a met condition, beside an echo of the same sizes. */
async function isAuthorized(service: Service, ada: SignedUp, where: string): Promise<Row> {
  const { base } = service;
  const key = await newKey(service, ada, 'Asked');
  const { accessToken } = await must<{ accessToken: string }>(`${base}/api/auth/token`, { body: key });
  const question = {
    permission: { resource: 'invoice', action: 'read' },
    context: { resource: { ownerId: ada.userId } },
    scope: key.scope,
  };
  const headers = { authorization: `Bearer ${accessToken}` };
  const url = `${base}/api/auth/is-authorized`;
  const sample = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(question),
  });
  const answer = await sample.text();
  if (!answer.includes('"authorized":true')) throw new Error(`is-authorized answered ${answer}`);
  const echo = await startEcho(Buffer.byteLength(answer));
  try {
    const bodies = [JSON.stringify(question)];
    say(`is-authorized, ${where}`);
    const [bare, asked] = await measure([
      { url: echo.url, headers, bodies },
      { url, headers, bodies },
    ]);
    return {
      what: `is-authorized, ${where}`,
      measured: asked?.perSecond ?? 0,
      against: 'bare Fastify echo',
      reference: bare?.perSecond ?? 0,
      goal: 0.7,
      latency: `p50 ${asked?.p50} ms, p99 ${asked?.p99} ms`,
    };
  } finally {
    await echo.stop();
  }
}

/** Token exchange with its audit row, beside what the processor can sign at all. */
async function exchange(service: Service, ada: SignedUp): Promise<Row> {
  const bodies: string[] = [];
  for (let count = 1; count <= PROJECTS; count++) {
    bodies.push(JSON.stringify(await newKey(service, ada, `Exchanged ${count}`)));
  }
  say('token exchange, PostgreSQL');
  const signs = await opensslSigns();
  const [exchanged] = await measure([{ url: `${service.base}/api/auth/token`, headers: {}, bodies }]);
  const signsAfter = await opensslSigns();
  return {
    what: 'token exchange, PostgreSQL',
    measured: exchanged?.perSecond ?? 0,
    against: `openssl rsa2048 signs, ${CORES} cores`,
    reference: median([signs, signsAfter]),
    goal: 0.6,
    latency: `p50 ${exchanged?.p50} ms, p99 ${exchanged?.p99} ms`,
  };
}

async function opensslSigns(): Promise<number> {
  const { stdout } = await promisify(execFile)('openssl', [
    'speed',
    '-seconds',
    '3',
    '-multi',
    String(CORES),
    'rsa2048',
  ]);
  // rsa 2048 bits 0.000325s 0.000009s   3072.0 105431.0
  const signs = /rsa\s*2048 bits\s+\S+\s+\S+\s+([\d.]+)/.exec(stdout)?.[1];
  if (signs === undefined) throw new Error(`openssl speed said: ${stdout}`);
  say(`  openssl  ${Math.round(Number(signs))}/s`);
  return Number(signs);
}

async function withDatabase<T>(
  database: TestDatabase | null,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  try {
    const service = await start(database);
    try {
      return await work(service);
    } finally {
      await service.stop();
    }
  } finally {
    await database?.drop();
  }
}

async function postgres(): Promise<TestDatabase | null> {
  const url =
    process.env['DATABASE_URL'] ??
    process.env['TEST_DATABASE_URL'] ??
    'postgres://postgres@127.0.0.1:5432/postgres';
  try {
    return await postgresDatabase(url, null);
  } catch (error) {
    say(`PostgreSQL is left out: ${(error as Error).message || 'it does not answer'}`);
    return null;
  }
}

function table(rows: readonly Row[]): string {
  const cells = rows.map(({ what, measured, against, reference, goal, latency = '' }) => {
    const ratio = measured / reference;
    return [
      what,
      `${Math.round(measured)}/s`,
      against,
      `${Math.round(reference)}/s`,
      ratio.toFixed(2),
      `≥ ${goal.toFixed(2)}`,
      ratio >= goal ? 'met' : 'missed',
      latency,
    ];
  });
  const lines = [['what', 'measured', 'against', 'reference', 'ratio', 'goal', '', ''], ...cells];
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const rows: Row[] = [];
await buildService();
rows.push(
  await withDatabase(null, async (service) => isAuthorized(service, await signUp(service), 'embedded')),
);
const database = await postgres();
if (database) {
  await withDatabase(database, async (service) => {
    const ada = await signUp(service);
    rows.push(await isAuthorized(service, ada, 'PostgreSQL'));
    rows.push(await exchange(service, ada));
  });
}
process.stdout.write(
  `\n${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s, medians; load and service share this machine.\n\n${table(rows)}\n`,
);
