/** The standard output of a real process in production: every line is JSON, and no line is lost. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import {
  buildService,
  freePort,
  ServiceNotStarted,
  startService,
  type Service,
} from '../../../../scripts/service.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';
import { preparedDataDir } from '../support/databases/prepared-data.ts';

const production = {
  NODE_ENV: 'production',
  APP_URL_ALLOW_HTTP: 'true',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  SECURITY_RATE_LIMIT_ENABLED: 'false',
  LOG_LEVEL: 'info',
};

let dataDir: string;
let database: TestDatabase | undefined;
let service: Service | undefined;

beforeAll(() => buildService());
beforeEach(async () => {
  dataDir = await preparedDataDir();
  if (inject('postgresUrl')) database = await postgresDatabase(inject('postgresUrl'));
});
afterEach(async () => {
  await service?.kill();
  service = undefined;
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const start = async (env: Readonly<Record<string, string>>, node?: string): Promise<Service> => {
  const given = database ? { ...env, DATABASE_URL: database.url } : env;
  service = await startService({ dataDir, env: given, ...(node === undefined ? {} : { node }) });
  return service;
};

interface Line {
  readonly level: string;
  readonly message?: string;
  readonly url?: string;
  readonly requestId?: string;
  readonly worker?: number;
}

/** @throws Error at the first line that is not JSON */
const linesIn = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

/** This many calls at once, each with a request id; returns the ids of those that were answered. */
async function calls({ base }: Service, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, n) => `counted-request-${n}`);
  const answered = await Promise.all(
    ids.map(async (id) => {
      const answer = await fetch(`${base}/api/me`, { headers: { 'x-request-id': id } });
      await answer.text();
      return id;
    }),
  );
  return answered;
}

describe('in production', () => {
  test('each line is JSON, the first one says where the service listens, and a stop loses none', async () => {
    const service = await start(production);
    const ids = await calls(service, 300);
    expect(await service.stop()).toBe(0);
    const lines = linesIn(service.stdout());
    expect(lines.find(({ message }) => message === 'ready')).toMatchObject({
      level: 'info',
      url: service.base,
    });
    const logged = new Set(lines.map(({ requestId }) => requestId));
    expect(ids.filter((id) => !logged.has(id))).toEqual([]);
  });

  test('a mail that is printed is a line too, and so is the warning about it', async () => {
    const service = await start({
      ...production,
      MAIL_PROVIDER: 'console',
      MAIL_CONSOLE_IN_PRODUCTION: 'true',
    });
    const registration = {
      provider: 'email',
      providerId: 'ada@example.test',
      providerData: { password: 'three-lanterns-in-the-harbour' },
      type: 'personal',
    };
    const answer = await fetch(`${service.base}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(registration),
    });
    expect(answer.status).toBe(201);
    const { stdout } = service;
    const messages = () => linesIn(stdout()).map(({ message = '' }) => message);
    await vi.waitFor(() => expect(messages().join()).toContain('verify-email?token='), { timeout: 60_000 });
    expect(messages().join()).toContain('MAIL_PROVIDER=console');
    expect(await service.stop()).toBe(0);
  });

  test('a failed start loses no line', async () => {
    const port = await freePort();
    const taken = createServer((_, response) => void response.writeHead(404).end()).listen(port, '127.0.0.1');
    try {
      const starting = startService({
        dataDir,
        port,
        env: { ...production, MAIL_PROVIDER: 'console', MAIL_CONSOLE_IN_PRODUCTION: 'true' },
      });
      const failure = await starting.catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ServiceNotStarted);
      const { exitCode, output } = failure as ServiceNotStarted;
      expect(exitCode).toBe(1);
      expect(output).toContain('EADDRINUSE');
      const lines = linesIn(
        output
          .split('\n')
          .filter((line) => line.startsWith('{"'))
          .join('\n'),
      );
      expect(lines[0]?.message).toContain('MAIL_PROVIDER=console');
    } finally {
      taken.close();
    }
  });

  test('a full disk behind the log stops no request', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'doorward-full-'));
    const node = join(directory, 'node');
    await writeFile(node, `#!/bin/sh\nexec '${process.execPath}' "$@" >/dev/full\n`);
    await chmod(node, 0o755);
    try {
      const service = await start(production, node);
      expect(await calls(service, 20)).toHaveLength(20);
      expect((await fetch(`${service.base}/health/ready`)).status).toBe(200);
      expect(await service.stop()).toBe(0);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test.runIf(inject('postgresUrl'))(
    'lines of workers stand beside each other, whole',
    async () => {
      const service = await start({ ...production, WORKERS: '2' });
      const { stdout } = service;
      await vi.waitFor(() => expect(stdout()).toContain('"ready"'), { timeout: 60_000 });
      const ids = await calls(service, 1000);
      expect(await service.stop()).toBe(0);
      const logged = new Set(linesIn(service.stdout()).map(({ requestId }) => requestId));
      expect(ids.filter((id) => !logged.has(id))).toEqual([]);
    },
    180_000,
  );
});

test('in development lines are short text after the welcome', async () => {
  const service = await start({ LOG_LEVEL: 'info' });
  await calls(service, 1);
  const { stdout } = service;
  await vi.waitFor(() => expect(stdout()).toMatch(/\d\d:\d\d:\d\d\.\d{3}.* GET \/api\/me → 401 [\d.]+ ms/));
  expect(stdout().indexOf('Doorward is ready at')).toBeLessThan(stdout().indexOf('/api/me'));
  expect(await service.stop()).toBe(0);
});
