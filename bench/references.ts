import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { cpuSeconds, type Measured } from './measure.ts';

/** What the service is held against, on the same cores in the same run. */
const root = join(import.meta.dirname, '..');

export interface Echo {
  readonly url: string;
  /** Where it signs what it is sent. */
  readonly tokenUrl: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Fastify as it comes, which answers so many bytes. */
export async function startEcho(responseBytes: number): Promise<Echo> {
  await promisify(execFile)(process.execPath, ['scripts/run.mjs', '--build-only', 'bench/echo.ts'], {
    cwd: root,
  });
  const child = spawn(process.execPath, [join(root, 'dist', 'echo.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, RESPONSE_BYTES: String(responseBytes), NODE_ENV: 'production' },
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const base = `http://127.0.0.1:${port.toString().trim()}`;
  return {
    url: `${base}/echo`,
    tokenUrl: `${base}/token`,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** RSA signatures a second that OpenSSL makes on all cores, or on one: no token costs less. */
export async function opensslSigns(seconds: number, core?: string): Promise<number> {
  const speed = ['speed', '-seconds', String(seconds)];
  const { stdout } = await (core === undefined
    ? promisify(execFile)('openssl', [...speed, '-multi', String(availableParallelism()), 'rsa2048'])
    : promisify(execFile)('taskset', ['--cpu-list', core, 'openssl', ...speed, 'rsa2048']));
  // rsa 2048 bits 0.000325s 0.000009s   3072.0 105431.0
  const signs = /rsa\s*2048 bits\s+\S+\s+\S+\s+([\d.]+)/.exec(stdout)?.[1];
  if (signs === undefined) throw new Error(`openssl speed said: ${stdout}`);
  return Number(signs);
}

/** The least that a request with one statement can cost: `SELECT 1` through a pool as the service has one. */
export async function selectOne(url: string, seconds: number): Promise<Measured> {
  const connections = 10;
  const pool = new pg.Pool({ connectionString: url, max: connections });
  const waits: number[] = [];
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const [backend = { pid: 0 }] = rows;
  const before = { own: process.cpuUsage(), database: await cpuSeconds(backend.pid) };
  const began = performance.now();
  let ofBackend = 0;
  const asking = Array.from({ length: connections }, async () => {
    const client = await pool.connect();
    const { rows: own } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const isCounted = own[0]?.pid === backend.pid;
    while (performance.now() - began < seconds * 1000) {
      const sent = performance.now();
      await client.query('select 1');
      waits.push(performance.now() - sent);
      if (isCounted) ofBackend++;
    }
    client.release();
  });
  await Promise.all(asking);
  const took = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before.own);
  const database = (await cpuSeconds(backend.pid)) - before.database;
  await pool.end();
  waits.sort((a, b) => a - b);
  return {
    perSecond: waits.length / took,
    p50: waits[Math.floor(waits.length / 2)] ?? 0,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
    cpuMicros: (user + system) / waits.length,
    databaseCpuMicros: (database * 1e6) / Math.max(1, ofBackend),
  };
}
