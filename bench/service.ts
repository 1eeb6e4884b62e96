import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { call, freePort, type CallOptions } from '../scripts/service.ts';

/**
 * The service as shipped: built, in production mode, with its default log level and a reader behind its output, with
 * admission and rate limits on. Limits are raised, because one caller of a bench calls as often as thousands.
 */
export const root = join(import.meta.dirname, '..');

export const backends = ['embedded', 'PostgreSQL'] as const;
export type Backend = (typeof backends)[number];

const LIMITS = ['GENERAL', 'AUTH', 'REFRESH', 'EXCHANGE', 'CHECK', 'MAIL', 'EXPORT'];

const shipped: Readonly<Record<string, string>> = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  APP_URL: 'http://doorward.test',
  APP_URL_ALLOW_HTTP: 'true',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  MAIL_PROVIDER: 'file',
  JWT_ACCESS_TOKEN_EXPIRATION_MINUTES: '60',
  ...Object.fromEntries(LIMITS.map((name) => [`SECURITY_RATE_LIMIT_${name}_MAX`, '10000000'])),
};

export interface Service {
  readonly base: string;
  readonly port: number;
  readonly pid: number;
  readonly mailDir: string;
  /** From the start of the process to the first healthy answer. */
  readonly startMs: number;
  readonly stop: () => Promise<void>;
}

export interface Place {
  /** The checkout that is measured. */
  readonly dir: string;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}

const children = new Set<ChildProcessWithoutNullStreams>();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A child process that never outlives this one, with nothing of the caller's environment but its paths. */
export function spawnChild(
  command: string,
  args: readonly string[],
  { dir = root, env = {} }: { readonly dir?: string; readonly env?: Readonly<Record<string, string>> } = {},
): {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
} {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, args, { cwd: dir, env: { PATH, HOME, ...env } });
  children.add(child);
  let output = '';
  // Only the end of what it prints, because a log line for each request fills the memory of a long run.
  const read = (text: Buffer) =>
    (output = output.length > 100_000 ? text.toString() : output + text.toString());
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const ended = once(child, 'close').then(([code]) => {
    children.delete(child);
    return code as number | null;
  });
  return { child, output: () => output, ended };
}

async function run(command: string, args: readonly string[], dir: string): Promise<void> {
  const { ended, output } = spawnChild(command, args, { dir });
  if ((await ended) !== 0) throw new Error(`${command} ${args.join(' ')} failed in ${dir}:\n${output()}`);
}

export const build = (dir: string): Promise<void> => run('npm', ['run', '--silent', 'build'], dir);

/** A script of this folder as one file, to run in a process of its own. */
export async function buildScript(name: string): Promise<string> {
  await run(process.execPath, ['scripts/run.mjs', '--build-only', `bench/${name}.ts`], root);
  return join(root, 'dist', `${name}.js`);
}

export async function start(
  { dir, dataDir, databaseUrl }: Place,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const { child, output, ended } = spawnChild(process.execPath, ['dist/main.js'], {
    dir,
    env: {
      ...shipped,
      PORT: String(port),
      DATA_DIR: dataDir,
      ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
      ...env,
    },
  });
  while (!(await isReady(base))) {
    if (child.exitCode !== null) throw new Error(`the service ended before it was ready:\n${output()}`);
    await sleep(5);
  }
  const startMs = performance.now() - began;
  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await ended;
  }
  return { base, port, pid: child.pid ?? 0, mailDir: join(dataDir, 'mail'), startMs, stop };
}

async function isReady(base: string): Promise<boolean> {
  try {
    return (await fetch(`${base}/health/ready`, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

/** Work on an empty database and an empty directory, both removed afterwards. */
export async function inPlace<T>(
  dir: string,
  backend: Backend,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-'));
  const database = backend === 'PostgreSQL' ? await newDatabase() : null;
  try {
    return await work({ dir, dataDir, databaseUrl: database?.url ?? null });
  } finally {
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The same with a service in it. */
export const withService = <T>(
  dir: string,
  backend: Backend,
  work: (service: Service, place: Place) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> =>
  inPlace(dir, backend, async (place) => {
    const service = await start(place, env);
    try {
      return await work(service, place);
    } finally {
      await service.stop();
    }
  });

const adminUrl = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

async function newDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await sql(adminUrl, `create database ${name}`);
  return {
    url: Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href,
    drop: async () => void (await sql(adminUrl, `drop database if exists ${name} with (force)`)),
  };
}

export async function sql(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** The data of what must succeed; a 503 is asked again, as its `Retry-After` invites to. */
export async function must<D = { id: string }>(url: string, options?: CallOptions): Promise<D> {
  for (let tries = 0; ; tries++) {
    const { status, data, text } = await call<D>(url, options);
    if (status < 400) return data;
    if (status !== 503 || tries === 60) throw new Error(`${url} answered ${status}: ${text}`);
    await sleep(500);
  }
}

/** Both cores busy with other work, until it is ended. */
export function makeBusy(): () => Promise<void> {
  const loops = [1, 2].map(() => spawnChild(process.execPath, ['-e', 'for (;;);']));
  return async () => {
    for (const { child } of loops) child.kill('SIGKILL');
    await Promise.all(loops.map(({ ended }) => ended));
  };
}
