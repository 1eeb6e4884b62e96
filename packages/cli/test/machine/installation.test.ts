import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { certificateFor } from '../../../server/test/support/app/certificate.ts';
import { checksOf, named } from '../support/machine/checks.ts';
import { doorward } from '../support/run/doorward.ts';
import { emptyFolder } from '../support/folder.ts';
import { programsWith } from '../support/machine/programs-with.ts';
import { Servers } from '../support/servers.ts';

/** Configuration and address errors that doctor and migrate find without a database. */
const servers = new Servers();
afterAll(servers.close);

test('doctor names faults and doubts of the configuration, with the environment file', async () => {
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
  expect(invalid.checks.some(({ status, message }) => status === 'fail' && message.startsWith('PORT'))).toBe(
    true,
  );
});

test('doctor measures the disk before the first start has made the folder of the data', async () => {
  const data = join(await emptyFolder(), 'not', 'yet');
  const { checks } = await checksOf([], { env: { DATA_DIR: data, APP_URL: 'http://127.0.0.1:9' } });
  expect(named(checks, 'database')).toMatchObject({ status: 'skip' });
  expect(named(checks, 'disk')?.status).toMatch(/^(ok|warn)$/);
  expect(existsSync(data)).toBe(false);
});

test('doctor says when the address is something else, or nothing', async () => {
  const { url } = await servers.listen((_, response) => response.writeHead(200).end('<h1>Hello</h1>'));
  const other = await checksOf(['--url', url], {});
  expect(other.code).toBe(1);
  expect(named(other.checks, 'reachability')).toMatchObject({
    status: 'fail',
    message: `${url} answers 200, but it is not Doorward`,
  });
  expect(named(other.checks, 'key-set')).toMatchObject({ status: 'fail' });
  expect((await checksOf(['--url', 'http://127.0.0.1:9'], {})).code).toBe(1);
  expect((await doorward(['doctor', '--url', 'http://access.example.com'])).code).toBe(2);
});

test('doctor says whose keys are at the address', async () => {
  const answers: Readonly<Record<string, string>> = {
    '/health/ready': '{"status":"ok"}',
    '/.well-known/jwks.json': '{"keys":[{"kid":"a"}]}',
  };
  const { url } = await servers.listen(({ url = '' }, response) => response.end(answers[url]));
  const keySetFor = async (keyIds: readonly string[]) => {
    const programs = programsWith({ doctor: async () => ({ checks: [], appUrl: url, keyIds }) });
    return named((await checksOf([], { programs })).checks, 'key-set');
  };
  expect(await keySetFor(['b', 'a'])).toMatchObject({
    status: 'ok',
    message: 'the address belongs to this installation',
  });
  expect(await keySetFor(['b'])).toMatchObject({
    status: 'fail',
    message: 'the address belongs to another installation',
  });
});

test('doctor says when the service is shutting down, and why a certificate is not trusted', async () => {
  const answer = '{"status":"unavailable","checks":{"database":"ok"}}';
  const { url } = await servers.listen((_, response) => response.writeHead(503).end(answer));
  const closing = await checksOf(['--url', url], {});
  expect(named(closing.checks, 'reachability')?.message).toBe(`${url} is not ready: it is shutting down`);

  const server = createTlsServer(certificateFor('localhost'), (_, response) => response.end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const { checks } = await checksOf(['--url', `https://localhost:${port}`], {});
  server.close();
  expect(named(checks, 'reachability')?.message).toContain('does not answer: DEPTH_ZERO_SELF_SIGNED_CERT');
  expect(checks.filter(({ name }) => name === 'certificate')).toMatchObject([
    {
      status: 'fail',
      message: 'is of an authority that this machine does not trust (DEPTH_ZERO_SELF_SIGNED_CERT)',
    },
  ]);
});

test('migrate names what is wrong with the configuration', async () => {
  const wrong = await doorward(['migrate'], { env: { NODE_ENV: 'production' } });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY')]);
  const lost = await doorward(['migrate'], { env: { DATABASE_URL: 'postgres://127.0.0.1:9/x' } });
  expect([lost.code, lost.stderr]).toEqual([7, expect.stringContaining('DATABASE_UNUSABLE')]);
  expect((await doorward(['migrate', '--env-file', '/nowhere'])).code).toBe(2);
});

test('migrate changes nothing with --status, --check and --dry-run', async () => {
  const migrations = [
    { name: '0000_first', state: 'applied' as const },
    { name: '0001_second', state: 'pending' as const },
  ];
  const report = { migrations, unknown: 1, warnings: ['The disk is slow.'] };
  const programs = programsWith({ migrations: async () => report });
  const counts = '1 applied, 1 pending, 1 of a newer version\n';
  const rows = 'applied  0000_first\npending  0001_second\n';
  const stderr = 'warning: The disk is slow.\n';
  for (const flag of ['--status', '--dry-run'])
    expect(await doorward(['migrate', flag], { programs })).toEqual({
      code: 0,
      stdout: rows + counts,
      stderr,
    });
  expect(await doorward(['migrate', '--check'], { programs })).toEqual({ code: 1, stdout: counts, stderr });
  expect((await doorward(['migrate', '--check', '--status'], { programs })).code).toBe(2);

  const done = { migrations: migrations.slice(0, 1), unknown: 0, warnings: [] };
  const applying = programsWith({ migrate: async () => done, migrations: async () => done });
  for (const args of [[], ['--check']])
    expect(await doorward(['migrate', ...args], { programs: applying })).toEqual({
      code: 0,
      stdout: '1 applied, 0 pending\n',
      stderr: '',
    });
});

test('start refuses ports that it cannot use', async () => {
  const data = await emptyFolder();
  expect((await doorward(['start', '--port', 'x', '--data-dir', data])).code).toBe(2);
  const open = await doorward(['start', '--port', '0', '--open', '--data-dir', data]);
  expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('--open and --port 0')]);
});
