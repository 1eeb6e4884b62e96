/**
 * How long a start takes and what the process holds at rest, beside a bare Fastify and a bare PGlite: `npm run
 * bench:start`. A start is from the call of `node` until `/health/ready` answers 200, on data of a former start; its
 * share of the processor is what a busy machine distorts least. At rest is a minute after the start and one request of
 * each kind. Of the resident memory about 46 MB are pages of the `node` binary, which all processes share: what is
 * its own stands beside it. It asserts nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildService, freePort, must, signUp, startService, type Service } from '../scripts/service.ts';
import { postgresDatabase } from '../test/support/postgres.ts';

export type Mode = 'postgres' | 'embedded';

export interface Took {
  readonly ms: number;
  /** Of all threads, until then. */
  readonly cpuMs: number;
}

export interface StartFigures {
  readonly mode: Mode;
  /** On a new database: it is made, migrated and filled first. */
  readonly first: Took;
  /** On existing data, the median. */
  readonly existing: Took;
  /** The least that could be: Fastify that listens; when embedded, PGlite that has opened the same data. */
  readonly bare: Took;
}

/** Megabytes. */
export interface Memory {
  readonly resident: number;
  /** What no other process shares with it. */
  readonly own: number;
}

export interface RestFigures {
  readonly mode: Mode;
  readonly started: Memory;
  readonly rest: Memory;
  readonly bare: Memory;
}

const ROUNDS = 5;
const REST_SECONDS = 60;
const root = join(import.meta.dirname, '..');
const adminUrl =
  process.env['DATABASE_URL'] ??
  process.env['TEST_DATABASE_URL'] ??
  'postgres://postgres@127.0.0.1:5432/postgres';

/** Listens as soon as it can, then says so. */
const bareFastify = `
  import fastify from 'fastify';
  const app = fastify();
  app.get('/', async () => ({}));
  await app.listen({ host: '127.0.0.1', port: 0 });
  console.log('ready');`;
const barePglite = `
  import { PGlite } from '@electric-sql/pglite';
  const db = await PGlite.create({ dataDir: process.env.DATABASE });
  await db.query('select 1');
  console.log('ready');
  setInterval(() => undefined, 1000);`;

export async function memoryOf(pid: number): Promise<Memory> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) / 1024;
  return { resident: of('Rss'), own: of('Private_Clean') + of('Private_Dirty') };
}

/** User and system time of all threads, in clock ticks of 10 ms. */
async function cpuMsOf(pid: number): Promise<number> {
  const [, , , , , , , , , , , user, system] = (await readFile(`/proc/${pid}/stat`, 'utf8'))
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(user) + Number(system)) * 10;
}

const median = (takes: readonly Took[]): Took => {
  const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return { ms: middle(takes.map(({ ms }) => ms)), cpuMs: middle(takes.map(({ cpuMs }) => cpuMs)) };
};

/** A process that runs a few lines, while `work` looks at it. */
async function bare<T>(
  lines: string,
  env: Record<string, string>,
  work: (pid: number, took: Took) => Promise<T>,
): Promise<T> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--input-type=module', '-e', lines], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    return await work(pid, { ms: performance.now() - began, cpuMs: await cpuMsOf(pid) });
  } finally {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}

interface Home {
  readonly dataDir: string;
  readonly start: () => Promise<{ service: Service; took: Took }>;
}

/** Where the starts of one database take place. The service must have been built. */
async function inHome<T>(mode: Mode, work: (home: Home) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'doorward-start-'));
  const postgres = mode === 'postgres' ? await postgresDatabase(adminUrl, null) : null;
  const start = async () => {
    const port = await freePort();
    const began = performance.now();
    const service = await startService({
      dataDir,
      port,
      env: { ...(postgres && { DATABASE_URL: postgres.url }) },
    });
    const ms = performance.now() - began;
    return { service, took: { ms, cpuMs: await cpuMsOf(service.pid) } };
  };
  try {
    return await work({ dataDir, start });
  } finally {
    await postgres?.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Starts on a new database, then on its data, then the bare equivalent, `rounds` times each. */
export async function measureStart(mode: Mode, rounds = ROUNDS): Promise<StartFigures> {
  return inHome(mode, async ({ dataDir, start }) => {
    const timed = async (): Promise<Took> => {
      const { service, took } = await start();
      await service.stop();
      return took;
    };
    const first = await timed();
    const existing: Took[] = [];
    const least: Took[] = [];
    const [lines, env] =
      mode === 'embedded'
        ? [barePglite, { DATABASE: join(dataDir, 'database') }]
        : [bareFastify, {} as Record<string, string>];
    for (let round = 0; round < rounds; round++) {
      existing.push(await timed());
      least.push(await bare(lines, env, async (_pid, took) => took));
    }
    return { mode, first, existing: median(existing), bare: median(least) };
  });
}

/** Memory on existing data, `seconds` after the start and a request of each kind. */
export async function measureRest(mode: Mode = 'postgres', seconds = REST_SECONDS): Promise<RestFigures> {
  return inHome(mode, async ({ dataDir, start }) => {
    await (await start()).service.stop();
    const { service } = await start();
    try {
      const started = await memoryOf(service.pid);
      await oneOfEach(service);
      await sleep(seconds * 1000);
      const rest = await memoryOf(service.pid);
      await service.stop();
      const [lines, env] =
        mode === 'embedded'
          ? [barePglite, { DATABASE: join(dataDir, 'database') }]
          : [bareFastify, {} as Record<string, string>];
      return { mode, started, rest, bare: await bare(lines, env, (pid) => memoryOf(pid)) };
    } finally {
      await service.kill();
    }
  });
}

/** Registration, a decision, a list over REST and the same over GraphQL. */
async function oneOfEach(service: Service): Promise<void> {
  const { token, organizationId: id } = await signUp(service);
  const permission = { resource: 'Role', action: 'Query' };
  await must(`${service.base}/api/auth/is-authorized`, {
    token,
    body: { scope: { tenant: 'organization', id }, permission },
  });
  await must(`${service.base}/api/roles?tenant=organization&scopeId=${id}`, { token });
  const query = `{ roles(input: { scope: { tenant: organization, id: "${id}" } }) { items { id name groups { id } } } }`;
  await must(`${service.base}/graphql`, { token, body: { query } });
}

async function main(): Promise<void> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const time = ({ ms, cpuMs }: Took) => `${Math.round(ms)} ms (${Math.round(cpuMs)} ms of a core)`;
  const memory = ({ resident, own }: Memory) => `${Math.round(resident)} MB (${Math.round(own)} its own)`;
  await buildService();
  for (const mode of ['postgres', 'embedded'] as const) {
    const bareName = mode === 'postgres' ? 'Fastify' : 'PGlite';
    const { first, existing, bare: least } = await measureStart(mode);
    say(`${mode}: start ${time(existing)}, the first ${time(first)}; bare ${bareName} ${time(least)}`);
    const { started, rest, bare: small } = await measureRest(mode);
    say(
      `${mode}: at rest ${memory(rest)}, at its start ${memory(started)}; bare ${bareName} ${memory(small)}`,
    );
  }
}

if (process.argv[1] === join(root, 'dist', 'start.js')) await main();
