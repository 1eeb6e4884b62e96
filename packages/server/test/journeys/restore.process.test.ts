/**
 * A start, use, a backup, a restore at another location, and use again, with the commands of
 * docs/operating/backup-and-restore.md: they are read from the document, so that the document is tested.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  buildService,
  call,
  callOrThrow,
  signUp,
  startService,
  type Service,
  type SignedUp,
} from '../../../../scripts/service.ts';
import { verifyExport } from '../../../node/src/audit.ts';
import { ownPostgres, serverBinaries, type OwnPostgres } from '../support/databases/own-postgres.ts';

/** The code blocks of the section, in order. */
async function documented(): Promise<readonly [tar: string, untar: string, dump: string, restore: string]> {
  const text = await readFile(
    join(import.meta.dirname, '../../../../docs/operating/backup-and-restore.md'),
    'utf8',
  );
  const section = /^## Backups$([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(4);
  return blocks as unknown as readonly [string, string, string, string];
}

let home: string;
const running = new Set<Service>();
beforeAll(async () => {
  await buildService();
  home = await mkdtemp(join(tmpdir(), 'doorward-restore-'));
});
afterAll(async () => {
  for (const item of running) await item.kill();
  await rm(home, { recursive: true, force: true });
});

const shell = (commands: string, env: Record<string, string>) =>
  promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });

async function start(name: string, env: Record<string, string> = {}): Promise<Service> {
  const service = await startService({
    dataDir: join(home, name),
    env: { APP_URL: 'http://doorward.test', MAIL_FILE_DIR: join(home, 'mail'), ...env },
  });
  running.add(service);
  return { ...service, mailDir: join(home, 'mail') };
}

interface Used {
  readonly ada: SignedUp;
  readonly key: { clientId: string; clientSecret: string; scope: unknown };
}

const tag = ({ base }: Service, { token, organizationId }: SignedUp, name: string) =>
  callOrThrow(`${base}/api/tags`, {
    token,
    body: { scope: { tenant: 'organization', id: organizationId }, name },
  });

const exchange = ({ base }: Service, { key }: Used) => call(`${base}/api/auth/token`, { body: key });

/** What the first use creates: a user, an organization, a project, a working key. */
async function use(service: Service): Promise<Used> {
  const ada = await signUp(service);
  await tag(service, ada, 'before');
  const scope = { tenant: 'organization', id: ada.organizationId };
  const project = await callOrThrow(`${service.base}/api/projects`, {
    token: ada.token,
    body: { scope, name: 'P' },
  });
  const inProject = { tenant: 'organizationProject', id: `${ada.organizationId}:${project.id}` };
  const key = await callOrThrow<Used['key']>(`${service.base}/api/api-keys`, {
    token: ada.token,
    body: { scope: inProject, name: 'K' },
  });
  const used = { ada, key: { clientId: key.clientId, clientSecret: key.clientSecret, scope: key.scope } };
  expect((await exchange(service, used)).status).toBe(200);
  return used;
}

/** Everything of the backup is there, nothing that was created later, and the service works. */
async function useAgain(service: Service, used: Used): Promise<void> {
  const { ada } = used;
  const query = `tenant=organization&scopeId=${ada.organizationId}`;
  const names = async () =>
    (
      await callOrThrow<{ items: { name: string }[] }>(`${service.base}/api/tags?${query}&sortField=name`, {
        token: ada.token,
      })
    ).items.map(({ name }) => name);
  expect(await names()).toEqual(['before']);
  expect((await exchange(service, used)).status).toBe(200);
  await tag(service, ada, 'restored');
  expect(await names()).toEqual(['before', 'restored']);
  const exported = await fetch(`${service.base}/api/audit-logs/export?${query}`, {
    headers: { authorization: `Bearer ${ada.token}` },
  });
  const lines = (await exported.text()).trimEnd().split('\n');
  expect(await verifyExport(lines, { filtered: false, end: 'own entry' })).toMatchObject({ fault: null });
  const email = { provider: 'email', providerId: 'ada@example.test' };
  const login = { ...email, providerData: { password: 'three-lanterns-in-the-harbour' } };
  expect((await call(`${service.base}/api/auth/login`, { body: login })).status).toBe(200);
}

const reported = (mode: string): void =>
  void process.stdout.write(
    `backup and restore as documented, ${mode}: all before it there, nothing after it, in use again\n`,
  );

test.runIf(!inject('postgresUrl') && process.env['RESTORE'])(
  'the embedded database, to another directory',
  { timeout: 120_000 },
  async () => {
    const [tar, untar] = await documented();
    const first = await start('data');
    const used = await use(first);
    expect(await first.stop()).toBe(0);
    await shell(tar, { DATA_DIR: join(home, 'data') });
    const later = await start('data');
    await tag(later, used.ada, 'after');
    expect(await later.stop()).toBe(0);
    await shell(untar, { DATA_DIR: join(home, 'elsewhere') });
    await useAgain(await start('elsewhere'), used);
    reported('embedded');
  },
);

const binaries = await serverBinaries();

describe.runIf(inject('postgresUrl') && binaries)('PostgreSQL', () => {
  let postgres: OwnPostgres;
  beforeAll(async () => void (postgres = await ownPostgres(binaries ?? '')), 60_000);
  afterAll(async () => {
    for (const item of running) await item.kill();
    await postgres.remove();
  });

  test('restores into another database, while the service runs', { timeout: 120_000 }, async () => {
    const [, , dump, restore] = await documented();
    const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');
    const first = await start('one', { DATABASE_URL: postgres.url, ENCRYPTION_KEY });
    const used = await use(first);
    await shell(dump, { DATABASE_URL: postgres.url });
    await tag(first, used.ada, 'after');
    expect(await first.stop()).toBe(0);
    const { hostname, port, username } = new URL(postgres.url);
    const DATABASE_URL = Object.assign(new URL(postgres.url), { pathname: '/doorward_restored' }).href;
    await shell(restore, { DATABASE_URL, PGHOST: hostname, PGPORT: port, PGUSER: username });
    await useAgain(await start('other', { DATABASE_URL, ENCRYPTION_KEY }), used);
    reported('PostgreSQL');
  });
});
