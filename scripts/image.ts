import { randomBytes } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { firstCheck } from './first-check.ts';
import { runDockerfile, type Image } from './image-steps.ts';
import { call, freePort } from './service.ts';

/**
 * Runs the Dockerfile without containers, and starts the result with PostgreSQL and the variables of compose.yaml:
 * npm run image. TEST_DATABASE_URL is a server on which it may create a database.
 */
const root = join(import.meta.dirname, '..');
const admin = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

async function withDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const name = `doorward_image_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
    await work(Object.assign(new URL(admin), { pathname: `/${name}` }).href);
  } finally {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.end();
  }
}

async function tryOut({ directory, env, command, healthCheck }: Image, databaseUrl: string): Promise<void> {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const dataDir = env['DATA_DIR'] ?? '';
  const all = {
    PATH: process.env['PATH'] ?? '',
    ...env,
    PORT: String(port),
    APP_URL: base,
    APP_URL_ALLOW_HTTP: 'true',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    DATABASE_URL: databaseUrl,
    MAIL_PROVIDER: 'file',
    MAIL_FILE_DIR: join(dataDir, 'mail'),
  };
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: directory, env: all, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  try {
    for (const deadline = performance.now() + 60_000; ; await sleep(100)) {
      const { status } = await call(`${base}/health/ready`).catch(() => ({ status: 0 }));
      if (status === 200) break;
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it was ready`);
      if (performance.now() > deadline) throw new Error('it was not ready within a minute');
    }
    const [check = '', ...checkArgs] = healthCheck;
    const healthy = spawnSync(check, checkArgs, { cwd: directory, env: all, stdio: 'inherit' });
    assert(healthy.status === 0, 'HEALTHCHECK finds it healthy');
    const { granted, other, pages } = await firstCheck({ base, mailDir: join(dataDir, 'mail') });
    assert(granted && !other, 'a user signs up, and a key may do what its role says');
    for (const [path, status] of Object.entries(pages)) assert(status === 200, `${path} answers 200`);
    child.kill('SIGTERM');
    assert((await ended)[0] === 0, 'it stops with 0');
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
  const lines = printed.split('\n').filter((line) => line !== '');
  assert(lines.length > 0 && lines.every(isJson), 'it prints lines of JSON and nothing else');
}

function assert(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not so: ${what}`);
  process.stdout.write(`ok  ${what}\n`);
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

const folder = await mkdtemp(join(tmpdir(), 'doorward-image-'));
try {
  const image = runDockerfile(root, folder);
  await withDatabase((url) => tryOut(image, url));
} finally {
  await rm(folder, { recursive: true, force: true });
}
