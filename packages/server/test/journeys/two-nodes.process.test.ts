/**
 * Two nodes with the variables of compose.two-nodes.yaml, behind nginx with deploy/nginx.conf: only addresses differ, and TLS,
 * for which nginx is asked whether it takes the file as it is.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { firstCheck } from '../../../../scripts/first-check.ts';
import {
  buildService,
  call,
  callOrThrow,
  freePort,
  startService,
  type Service,
} from '../../../../scripts/service.ts';
import { certificateFor } from '../support/app/certificate.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases/postgres.ts';

const root = join(import.meta.dirname, '../../../..');
const hasNginx = spawnSync('nginx', ['-v']).status === 0;
const redisUrl = process.env['TEST_REDIS_URL'];
const read = (file: string) => readFile(join(root, file), 'utf8');

describe.runIf(hasNginx && redisUrl && inject('postgresUrl'))('two nodes behind nginx', () => {
  let directory: string;
  let database: TestDatabase;
  let nodes: Service[];
  let proxy: ChildProcess;
  let base: string;

  beforeAll(async () => {
    await buildService();
    directory = await mkdtemp(join(tmpdir(), 'doorward-nodes-'));
    database = await postgresDatabase(inject('postgresUrl'), null);
    const environment = await nodeEnvironment();
    // At once, as compose starts them: one of them migrates.
    nodes = await Promise.all(
      ['a', 'b'].map((name) => startService({ dataDir: join(directory, name), env: environment })),
    );
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    proxy = await startNginx(port);
  });
  afterAll(async () => {
    proxy?.kill();
    await Promise.all((nodes ?? []).map((node) => node.kill()));
    await database?.drop();
    await rm(directory, { recursive: true, force: true });
  });

  async function nodeEnvironment(): Promise<Record<string, string>> {
    const compose = parse(await read('compose.two-nodes.yaml'), { merge: true }) as {
      services: { 'node-a': { environment: Record<string, string> } };
    };
    const given: Record<string, string> = {
      APP_URL: 'https://access.example.test',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      SMTP_URL: 'smtp://127.0.0.1:2525',
      POSTGRES_PASSWORD: 'letters1',
    };
    const filled = Object.entries(compose.services['node-a'].environment).map(([name, value]) => [
      name,
      value.replaceAll(
        /\$\{(\w+):[?-]([^}]*)\}/g,
        (_, variable: string, rest: string) => given[variable] ?? rest,
      ),
    ]);
    return {
      NODE_ENV: 'production',
      ...(Object.fromEntries(filled) as Record<string, string>),
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl ?? '',
      SECURITY_TRUSTED_PROXIES: '127.0.0.1/32',
      MAIL_PROVIDER: 'file',
      MAIL_FILE_DIR: join(directory, 'mail'),
    };
  }

  async function startNginx(port: number): Promise<ChildProcess> {
    const written = await read('deploy/nginx.conf');
    const { key, cert } = certificateFor('access.example.test');
    await writeFile(join(directory, 'privkey.pem'), key);
    await writeFile(join(directory, 'fullchain.pem'), cert);
    const [a, b] = nodes.map((node) => node.base.replace('http://', ''));
    const site = written
      .replace('node-a:4000', a ?? '')
      .replace('node-b:4000', b ?? '')
      .replaceAll('/etc/nginx/certificates', directory)
      .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
      .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`);
    await promisify(execFile)('nginx', [
      '-t',
      '-e',
      'stderr',
      '-p',
      directory,
      '-c',
      await nginxFile('tls', site),
    ]);
    const plain = site.replace(`${port} ssl;`, `${port};`).replaceAll(/^\s*ssl_.*$/gm, '');
    const child = spawn('nginx', ['-e', 'stderr', '-p', directory, '-c', await nginxFile('plain', plain)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // It says so when its workers are started.
    for await (const line of child.stderr) if (String(line).includes('start worker')) break;
    return child;
  }

  async function nginxFile(name: string, site: string): Promise<string> {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const file = join(directory, `${name}.conf`);
    await writeFile(
      file,
      `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${directory}/${name}.pid;
      error_log stderr notice; worker_processes 1; events {}
      http {
        access_log off;
        ${temporary.map((kind) => `${kind}_temp_path ${directory}/${kind};`).join(' ')}
        ${site}
      }`,
    );
    return file;
  }

  test('sign a user up and check a permission, whichever answers', async () => {
    const { granted, other, pages } = await firstCheck({ base, mailDir: join(directory, 'mail') });
    expect({ granted, other }).toEqual({ granted: true, other: false });
    expect(pages).toMatchObject({ '/': 200, '/console/': 200, '/health/live': 200 });
    const metrics = await fetch(`${base}/metrics`);
    expect([metrics.status, metrics.headers.get('server')]).toEqual([404, 'nginx']);
  });

  test('see the address of the caller, and not what the caller claims', async () => {
    const body = {
      provider: 'email',
      providerId: 'ada@example.test',
      providerData: { password: 'three-lanterns-in-the-harbour' },
    };
    const signedIn = await fetch(`${base}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
      body: JSON.stringify(body),
    });
    const { data } = (await signedIn.json()) as { data: { accessToken: string } };
    const token = data.accessToken;
    const { items } = await callOrThrow<{ items: object[] }>(`${base}/api/me/sessions`, { token });
    expect(items.length).toBeGreaterThan(1);
    expect(JSON.stringify(items)).toContain('127.0.0.1');
    expect(JSON.stringify(items)).not.toContain('203.0.113.9');
  });

  test('answer every request while one of them ends', async () => {
    const [first, second] = nodes;
    const stopping = first?.stop();
    const seen = new Set<number>();
    for (let request = 0; request < 200; request++) seen.add((await call(`${base}/health/live`)).status);
    expect(await stopping).toBe(0);
    for (let request = 0; request < 20; request++) seen.add((await call(`${base}/health/live`)).status);
    expect([...seen]).toEqual([200]);
    expect(second?.output()).not.toContain('"level":"error"');
  });
});
