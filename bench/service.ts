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
 * Runs the service as shipped: built, in production mode, with the default log level, admission and rate limits. The
 * limits are raised, because a bench sends the calls of thousands of callers as one.
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

/** Starts a child process that never outlives this one. Of the caller's environment it gets only PATH and HOME. */
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
  // Only the end of the output is kept, because the log of a long run would fill the memory.
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

/** Builds a script of this folder as one file, to run in a separate process. */
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
  const { child, output, ended } = spawnChild(process.execPath, ['packages/server/dist/main.js'], {
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

/** Runs `work` with an empty database and an empty directory, which are removed afterwards. */
export async function withPlace<T>(
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

/** Like `withPlace`, with a running service. */
export const withService = <T>(
  dir: string,
  backend: Backend,
  work: (service: Service, place: Place) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> =>
  withPlace(dir, backend, async (place) => {
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

/** The data of a call that must succeed. A 503 is repeated. */
export async function callOrThrow<D = { id: string }>(url: string, options?: CallOptions): Promise<D> {
  for (let tries = 0; ; tries++) {
    const { status, data, text } = await call<D>(url, options);
    if (status < 400) return data;
    if (status !== 503 || tries === 60) throw new Error(`${url} answered ${status}: ${text}`);
    await sleep(500);
  }
}

/** Keeps both cores busy until the returned function is called. */
export function makeBusy(): () => Promise<void> {
  const loops = [1, 2].map(() => spawnChild(process.execPath, ['-e', 'for (;;);']));
  return async () => {
    for (const { child } of loops) child.kill('SIGKILL');
    await Promise.all(loops.map(({ ended }) => ended));
  };
}
