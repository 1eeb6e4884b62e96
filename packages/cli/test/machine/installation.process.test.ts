import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer as createMailServer } from 'node:tls';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificateFor } from '../../../server/test/support/app/certificate.ts';
import { preparedDataDir } from '../../../server/test/support/databases/prepared-data.ts';
import { freePort, startService, type Service } from '../../../../scripts/service.ts';
import type { Programs } from '../../src/environment/programs.ts';
import { builtPrograms } from '../support/machine/built-programs.ts';
import { checksOf, named } from '../support/machine/checks.ts';
import { doorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import type { How } from '../support/run/how.ts';
import { speakSmtp } from '../support/machine/line-protocol.ts';
import { doorwardProcess, startDoorwardProcess } from '../support/run/process.ts';

/** start, migrate and doctor on the machine of the service, with the embedded database. */
let programs: Programs;
let data: string;
let service: Service;
beforeAll(async () => {
  programs = await builtPrograms();
  data = await preparedDataDir();
  service = await startService({ dataDir: data });
});
afterAll(async () => {
  await service.stop();
  await rm(data, { recursive: true });
});

const at = (directory: string, env: Record<string, string> = {}): How => ({
  env: { DATA_DIR: directory, ...env },
  programs,
});

const filesOf = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true })).sort();

test('migrate lists and applies, and refuses a newer database', { timeout: 300_000 }, async () => {
  const data = join(await emptyFolder(), 'migrated');
  // Through the installed package, as users run it.
  const before = await doorwardProcess(['migrate', '--status'], at(data));
  expect(before.stdout).toMatch(/^pending {2}0000_\w+$/m);
  expect(before.stdout).toMatch(/\n0 applied, \d+ pending\n$/);
  await expect(readdir(data)).rejects.toThrow('ENOENT');
  const applied = await doorward(['migrate'], at(data));
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/^\d+ applied, 0 pending\n$/)]);
  const json = await doorward(['migrate', '--status', '--json'], at(data));
  const report = JSON.parse(json.stdout) as { migrations: { state: string }[]; unknown: number };
  expect(report.unknown).toBe(0);
  expect(new Set(report.migrations.map(({ state }) => state))).toEqual(new Set(['applied']));

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

test('an embedded database in use names the process of the service', async () => {
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

test('doctor looks at everything, and changes nothing', { timeout: 300_000 }, async () => {
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
});

test('a certificate is judged with the authorities that Node is given', async () => {
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
    const { checks } = await checksOf(['--url', url], { env: env(file) }, doorwardProcess);
    server.close();
    return checks
      .filter(({ name }) => name === 'certificate')
      .map(({ status, message }) => `${status} ${message}`);
  };
  const trusted = (file: string) => ({ NODE_EXTRA_CA_CERTS: file });
  expect(await lookAt('now', trusted)).toEqual(['warn expires within a day']);
  expect(await lookAt('past', () => ({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }))).toEqual(['fail has expired']);
  expect(await lookAt('now', trusted, 'elsewhere.example')).toEqual(['fail is not for localhost']);
});

test('so is a mail server', async () => {
  const certificate = certificateFor('localhost');
  const folder = await emptyFolder();
  const file = join(folder, 'certificate.pem');
  await writeFile(file, certificate.cert);
  const server = createMailServer(certificate, speakSmtp);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const env = {
    ...{ DATA_DIR: folder, APP_URL: 'http://127.0.0.1:9', NODE_EXTRA_CA_CERTS: file },
    ...{ MAIL_PROVIDER: 'smtp', MAIL_FROM: 'doorward@mail.invalid' },
    SMTP_URL: `smtps://me:right@localhost:${port}`,
  };
  const { checks } = await checksOf([], { env }, doorwardProcess);
  server.close();
  expect(named(checks, 'mail')?.message).toBe(`localhost:${port} accepts the sign-in, with TLS`);
});

test('start runs the service until it is told to stop, and says where the console is', async () => {
  const port = await freePort();
  const data = await preparedDataDir();
  const args = ['start', '--port', String(port), '--host', '127.0.0.1', '--data-dir', data, '--open'];
  const run = await startDoorwardProcess(args, { env: { LOG_LEVEL: 'warn', BROWSER: '/nowhere/browser' } });
  await run.printed(new RegExp(`^The console was not opened: http://localhost:${port}/console$`, 'm'));
  expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
  run.child.kill('SIGTERM');
  expect((await run.ended).code).toBe(0);
  expect(await readdir(data)).not.toContain('doorward.lock');
  await rm(data, { recursive: true });
});
