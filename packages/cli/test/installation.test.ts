import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificateFor } from '../../server/test/support/certificate.ts';
import { buildService, freePort, startService, type Service } from '../../../scripts/service.ts';
import { doorward, emptyFolder, startDoorward, type How } from './support/doorward.ts';

/** What runs on the machine of the service: start, migrate and doctor, on the embedded database. */
let folder: string;
beforeAll(async () => {
  await buildService();
  folder = await emptyFolder();
});

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly message: string;
  readonly fix?: string;
}

const at = (directory: string, env: Record<string, string> = {}): How => ({
  env: { DATA_DIR: directory, ...env },
});

async function checksOf(
  args: readonly string[],
  how: How,
): Promise<{ code: number | null; checks: Check[] }> {
  const { code, stdout, stderr } = await doorward(['doctor', '--json', ...args], how);
  if (stdout === '') throw new Error(stderr);
  return { code, checks: (JSON.parse(stdout) as { checks: Check[] }).checks };
}
const named = (checks: readonly Check[], name: string) => checks.find((check) => check.name === name);

/** Names, sizes and times of all files. */
const filesOf = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true })).sort();

describe('migrate', { timeout: 300_000 }, () => {
  test('lists, checks and applies, and refuses a newer database', async () => {
    const data = join(folder, 'migrated');
    const before = await doorward(['migrate', '--status'], at(data));
    expect(before.stdout).toMatch(/^pending {2}0000_\w+$/m);
    expect(before.stdout).toMatch(/\n0 applied, \d+ pending\n$/);
    await expect(readdir(data)).rejects.toThrow('ENOENT');
    expect((await doorward(['migrate', '--check'], at(data))).code).toBe(1);
    const applied = await doorward(['migrate'], at(data));
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/^\d+ applied, 0 pending\n$/)]);
    expect((await doorward(['migrate', '--check'], at(data))).code).toBe(0);
    const json = await doorward(['migrate', '--status', '--json'], at(data));
    const report = JSON.parse(json.stdout) as { migrations: { state: string }[]; unknown: number };
    expect(report.unknown).toBe(0);
    expect(new Set(report.migrations.map(({ state }) => state))).toEqual(new Set(['applied']));
    expect((await doorward(['migrate', '--check', '--status'], at(data))).code).toBe(2);

    const database = await PGlite.create(join(data, 'database'));
    await database.query(
      `insert into drizzle.__drizzle_migrations (hash, created_at) values ('later', 99999999999999)`,
    );
    await database.close();
    const newer = await doorward(['migrate'], at(data));
    expect([newer.code, newer.stderr]).toEqual([6, expect.stringContaining('NEWER_DATABASE')]);
    expect((await doorward(['migrate', '--status'], at(data))).stdout).toContain('1 of a newer version\n');
    const { checks } = await checksOf([], at(data));
    expect(named(checks, 'migrations')).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('newer') as string,
    });
  });

  test('names what is wrong with the configuration', async () => {
    const wrong = await doorward(['migrate'], { env: { NODE_ENV: 'production' } });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY')]);
    const lost = await doorward(['migrate'], { env: { DATABASE_URL: 'postgres://127.0.0.1:9/x' } });
    expect([lost.code, lost.stderr]).toEqual([7, expect.stringContaining('DATABASE_UNUSABLE')]);
    // Some versions of Node read this flag too, and end with 9.
    expect([2, 9]).toContain((await doorward(['migrate', '--env-file', '/nowhere'])).code);
  });
});

describe('beside a running service', () => {
  let service: Service;
  let data: string;
  beforeAll(async () => {
    data = await emptyFolder();
    service = await startService({ dataDir: data });
  });
  afterAll(() => service.stop());

  test('the embedded database is in use: the process is named', async () => {
    for (const command of ['migrate', 'start']) {
      const { code, stderr } = await doorward([command], at(data));
      expect([code, stderr]).toEqual([6, expect.stringContaining(`in use by process ${service.pid}`)]);
    }
    const { code, checks } = await checksOf([], at(data, { APP_URL: service.base }));
    expect(code).toBe(0);
    expect(named(checks, 'database')).toMatchObject({
      status: 'skip',
      message: expect.stringMatching(
        new RegExp(`is in use by process ${service.pid}: stop that process to check the database$`),
      ) as string,
    });
    expect(named(checks, 'reachability')?.status).toBe('ok');
  });

  test('doctor --url looks from outside, without a configuration', async () => {
    const { code, checks } = await checksOf(['--url', service.base], {});
    expect(code).toBe(0);
    expect(checks.map(({ name, status }) => `${status} ${name}`)).toEqual([
      'ok reachability',
      'ok key-set',
      'ok clock-outside',
    ]);
  });
});

describe('doctor', () => {
  test('looks at everything, and changes nothing', { timeout: 300_000 }, async () => {
    const data = await emptyFolder();
    const service = await startService({ dataDir: data });
    await service.stop();
    const before = await filesOf(data);
    const { code, checks } = await checksOf([], at(data, { APP_URL: service.base }));
    expect(await filesOf(data)).toEqual(before);
    // The service has stopped.
    expect(code).toBe(1);
    expect(Object.fromEntries(checks.map(({ name, status }) => [name, status]))).toEqual({
      config: 'ok',
      database: 'ok',
      migrations: 'ok',
      clock: 'ok',
      'encryption-key': 'ok',
      operators: 'warn',
      webhooks: 'skip',
      'audit-export': 'warn',
      disk: expect.stringMatching(/ok|warn/) as string,
      mail: 'skip',
      redis: 'skip',
      reachability: 'fail',
    });
    for (const { status, message, fix } of checks) {
      expect(fix === undefined).toBe(status === 'ok' || status === 'skip');
      if (status === 'skip') expect(message).not.toMatch(/^[A-Z](?![A-Z])|\.$/);
    }
    const other = Buffer.alloc(32, 7).toString('base64');
    const wrongKey = await checksOf([], at(data, { ENCRYPTION_KEY: other }));
    expect(named(wrongKey.checks, 'encryption-key')?.status).toBe('fail');
    const kept = (await readFile(join(data, 'encryption.key'), 'utf8')).trim();
    const unneeded = await checksOf([], at(data, { ENCRYPTION_KEY: kept, ENCRYPTION_KEYS_OLD: other }));
    expect(named(unneeded.checks, 'encryption-key')).toMatchObject({ status: 'warn' });
    const rotating = await checksOf([], at(data, { ENCRYPTION_KEY: other, ENCRYPTION_KEYS_OLD: kept }));
    expect(named(rotating.checks, 'encryption-key')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('old key') as string,
    });
    const database = await PGlite.create(join(data, 'database'));
    for (const table of ['operators', 'webhook_subscriptions'])
      await database.query(`alter table ${table} rename to other_${table}`);
    await database.close();
    const unreadable = await checksOf([], at(data));
    for (const [name, text] of Object.entries({ operators: 'OPERATORS', webhooks: 'webhooks.md' }))
      expect(named(unreadable.checks, name)).toMatchObject({
        status: 'fail',
        fix: expect.stringContaining(text) as string,
      });
    // Keys of another installation at the address.
    const second = await startService();
    const elsewhere = await checksOf([], at(data, { APP_URL: second.base }));
    await second.stop();
    expect(named(elsewhere.checks, 'key-set')).toMatchObject({ status: 'fail' });
  });

  test('names faults and doubts of the configuration, with the environment file', async () => {
    const file = join(await emptyFolder(), 'service.env');
    const key = Buffer.alloc(32, 1).toString('base64');
    const lines = {
      NODE_ENV: 'production',
      APP_URL: 'http://127.0.0.1:9',
      APP_URL_ALLOW_HTTP: 'true',
      ENCRYPTION_KEY: key,
      MAIL_PROVIDER: 'console',
      MAIL_CONSOLE_IN_PRODUCTION: 'true',
      SECURITY_TRUSTED_PROXYS: '127.0.0.1/32',
      DOORWARD_TOKN: 'x',
      REDIS_URL: 'redis://127.0.0.1:9',
      DATABASE_URL: 'postgres://127.0.0.1:9/x',
    };
    await writeFile(
      file,
      Object.entries(lines)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
    const { code, stdout } = await doorward(['doctor', '--env-file', file]);
    expect(code).toBe(1);
    for (const text of [
      'APP_URL is http',
      'MAIL_PROVIDER=console',
      'AUTH_REGISTRATION_MODE=immediate',
      'SECURITY_TRUSTED_PROXIES',
      'DOORWARD_TOKEN',
    ])
      expect(stdout).toMatch(new RegExp(`^warn {2}config +.*${text}`, 'm'));
    expect(stdout).toMatch(/^fail {2}database +.*ECONNREFUSED/m);
    expect(stdout).toMatch(/^fail {2}redis +/m);
    expect(stdout).not.toContain(key);
    const mail = {
      MAIL_PROVIDER: 'smtp',
      SMTP_URL: 'smtp://me:hidden@127.0.0.1:9',
      MAIL_FROM: 'a@mail.invalid',
    };
    const sending = await doorward(['doctor', '--env-file', file], { env: mail });
    expect(sending.stdout).toMatch(/^fail {2}mail +.*ECONNREFUSED/m);
    expect(sending.stdout).toMatch(/^warn {2}sender +.*mail\.invalid/m);
    expect(sending.stdout).not.toContain('hidden');
    const invalid = await checksOf(['--env-file', file], { env: { PORT: 'x' } });
    expect(invalid.code).toBe(1);
    expect(
      invalid.checks.some(({ status, message }) => status === 'fail' && message.startsWith('PORT')),
    ).toBe(true);
  });

  test('says when the address is something else, or nothing', async () => {
    const server = createServer((_, response) => response.writeHead(200).end('<h1>Hello</h1>'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const other = await checksOf(['--url', url], {});
    server.close();
    expect(other.code).toBe(1);
    expect(named(other.checks, 'reachability')).toMatchObject({
      status: 'fail',
      message: `${url} answers 200, but it is not Doorward`,
    });
    expect(named(other.checks, 'key-set')).toMatchObject({ status: 'fail' });
    expect((await checksOf(['--url', 'http://127.0.0.1:9'], {})).code).toBe(1);
    expect((await doorward(['doctor', '--url', 'http://access.example.com'])).code).toBe(2);
  });

  test('says when the certificate ends or is not trusted, and that the service is shutting down', async () => {
    const certificateIn = (checks: readonly Check[]) => ({
      certificates: checks
        .filter(({ name }) => name === 'certificate')
        .map(({ status, message }) => `${status} ${message}`),
    });
    const lookAt = async (
      validity: 'now' | 'past',
      env: (file: string) => Record<string, string>,
      host = 'localhost',
    ) => {
      const certificate = certificateFor(host, validity);
      const file = join(await emptyFolder(), 'certificate.pem');
      await writeFile(file, certificate.cert);
      const server = createTlsServer(certificate, (_, response) =>
        response.writeHead(503).end('{"status":"unavailable","checks":{"database":"ok"}}'),
      );
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `https://localhost:${(server.address() as AddressInfo).port}`;
      const { checks } = await checksOf(['--url', url], { env: env(file) });
      server.close();
      return { url, reachability: named(checks, 'reachability')?.message, ...certificateIn(checks) };
    };
    const valid = await lookAt('now', (file) => ({ NODE_EXTRA_CA_CERTS: file }));
    expect(valid.reachability).toBe(`${valid.url} is not ready: it is shutting down`);
    expect(valid.certificates).toEqual(['warn expires within a day']);
    const expired = await lookAt('past', () => ({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }));
    expect(expired.certificates).toEqual(['fail has expired']);
    const unknown = await lookAt('now', () => ({}));
    expect(unknown.reachability).toContain('does not answer: DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(unknown.certificates).toEqual([
      'fail is of an authority that this machine does not trust (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ]);
    const foreign = await lookAt('now', (file) => ({ NODE_EXTRA_CA_CERTS: file }), 'elsewhere.example');
    expect(foreign.certificates).toEqual(['fail is not for localhost']);
  });
});

test('start runs the service until it is told to stop', async () => {
  const port = await freePort();
  const data = join(await emptyFolder(), 'data');
  const args = ['start', '--port', String(port), '--host', '127.0.0.1', '--data-dir', data];
  const run = await startDoorward(args, { env: { LOG_LEVEL: 'warn' } });
  await run.printed(new RegExp(`http://localhost:${port}`));
  expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
  run.child.kill('SIGTERM');
  expect((await run.ended).code).toBe(0);
  expect(await readdir(data)).not.toContain('doorward.lock');
  expect((await doorward(['start', '--port', 'x'], at(data))).code).toBe(2);
});

test('start --open says where the console is if it cannot be opened', async () => {
  const port = String(await freePort());
  const data = join(await emptyFolder(), 'data');
  const args = ['start', '--host', '127.0.0.1', '--data-dir', data, '--open', '--port'];
  expect((await doorward([...args, '0'])).code).toBe(2);
  const run = await startDoorward([...args, port], {
    env: { LOG_LEVEL: 'warn', BROWSER: '/nowhere/browser' },
  });
  await run.printed(new RegExp(`^The console was not opened: http://localhost:${port}/console$`, 'm'));
  run.child.kill('SIGTERM');
  expect((await run.ended).code).toBe(0);
});
