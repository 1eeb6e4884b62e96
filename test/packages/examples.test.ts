/** The examples, installed from the tarballs and run as their read-mes say, with a service that runs beside them. */
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { buildService, freePort, signUp, startService, type Service } from '../../scripts/service.ts';
import {
  answers,
  end,
  examplesIn,
  exported,
  node,
  type Environment,
  type Examples,
} from './support/example.ts';
import { run } from './support/installation.ts';

let service: Service;
let examples: Examples;
/** What `npm run setup` of the orders has printed. */
let environment: Environment = {};

beforeAll(async () => {
  await buildService();
  service = await startService();
  examples = await examplesIn();
});
afterEach(() => examples.endAll());
afterAll(async () => {
  await service.stop();
  await examples.tidy();
});

const start = (folder: string, args: readonly string[], env: Environment) =>
  examples.start(folder, args, { ...environment, ...env });

const frameworks = [
  { title: 'Express 5', packages: [] },
  { title: 'Express 4', packages: ['express@4', '@types/express@4'] },
];
test.each(frameworks)('the orders service, with $title', async ({ packages }) => {
  await examples.remove('orders');
  const folder = await examples.install('orders', ...packages);
  await run('npm', ['run', 'build'], folder);
  const { token, accountId } = await signUp(service, `orders${packages.length}`);
  const printed = await node(folder, ['dist/run-set-up.js'], {
    DOORWARD_URL: service.base,
    DOORWARD_TOKEN: token,
    ACCOUNT_ID: accountId,
    ORDERS_URL: 'https://orders.example.com',
  });
  environment = exported(printed);

  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  start(folder, ['dist/main.js'], { PORT: port });
  expect((await answers(`${url}/orders`)).status).toBe(401);
  const machine = await node(folder, ['dist/machine.js'], {
    ...environment,
    ORDERS_URL: url,
    CLIENT_ID: environment['DOORWARD_CLIENT_ID'] ?? '',
    CLIENT_SECRET: environment['DOORWARD_CLIENT_SECRET'] ?? '',
  });
  expect(machine).toMatch(/^200 \[\{"id":"1",.*\},\{"id":"2",.*\}\]\n$/);
});

test('the worker ends at SIGTERM', async () => {
  const folder = await examples.install('worker');
  await run('npm', ['run', 'build'], folder);
  const child = start(folder, ['dist/main.js'], {});
  const doorward = await keyToken();
  const tags = async (): Promise<string> =>
    (
      await fetch(`${service.base}/api/tags?${scopeQuery()}`, {
        headers: { authorization: `Bearer ${doorward}` },
      })
    ).text();
  // It runs as soon as it has made its tag.
  await vi.waitFor(async () => expect(await tags()).toContain('"new"'), { timeout: 30_000, interval: 100 });
  expect(await end(child)).toBe(0);
});

test('the Next.js application', { timeout: 600_000 }, async () => {
  const folder = await examples.install('next-app');
  await addPages(folder);
  const port = String(await freePort());
  const origin = `http://127.0.0.1:${port}`;
  const [, account, project] = (environment['DOORWARD_SCOPE'] ?? '').split(':');
  const issuer = `${service.base}/acc/${account}/prj/${project}`;
  const settings = { ISSUER: issuer, CLIENT_ID: 'orders', ORIGIN: origin };
  const next = 'node_modules/next/dist/bin/next';
  const [code] = (await once(start(folder, [next, 'build'], settings), 'exit')) as [number | null];
  expect(code).toBe(0);
  start(folder, [next, 'start', '--hostname', '127.0.0.1', '--port', port], settings);

  const page = await answers(origin);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('One moment');
  const headers = { authorization: `Bearer ${await keyToken()}` };
  const statusOf = async (path: string, init: RequestInit = {}): Promise<number> =>
    (await fetch(`${origin}${path}`, init)).status;
  expect(await statusOf('/api/orders/1')).toBe(401);
  expect(await statusOf('/api/orders/1', { headers })).toBe(200);
  expect(await statusOf('/api/orders/2', { headers })).toBe(403);
  expect(await statusOf('/api/orders/3', { headers })).toBe(404);
  expect(await statusOf('/api/me', { headers })).toBe(200);

  const read = async (path: string, init: RequestInit = {}): Promise<string> =>
    (await fetch(`${origin}${path}`, init)).text();
  expect(await read('/who')).toContain('signed out');
  expect(await read('/who', { headers })).toContain('signed in as apiKey');
  // The layout of the example shows pages only after the sign-in, so the status is not theirs; the content is.
  expect(await read('/pages/1', { headers })).toContain('content of order 1');
  for (const [path, init] of [
    ['/pages/2', { headers }],
    ['/pages/3', { headers }],
    ['/pages/1', {}],
  ] as const)
    expect(await read(path, init)).not.toContain('content of order');
});

/** Server components behind the guards, which the example does not need. */
async function addPages(folder: string): Promise<void> {
  await writeFile(
    join(folder, 'lib/pages.ts'),
    `import { createDoorward } from '@doorward/node';
    import { guard } from '@doorward/node/next';
    export const { principal, requirePermission } = guard(createDoorward());`,
  );
  await mkdir(join(folder, 'app/who'));
  await writeFile(
    join(folder, 'app/who/page.tsx'),
    `import { principal } from '../../lib/pages';
    export default async function Page() {
      const caller = await principal();
      return <p>{caller ? \`signed in as \${caller.type}\` : 'signed out'}</p>;
    }`,
  );
  await mkdir(join(folder, 'app/pages/[id]'), { recursive: true });
  await writeFile(
    join(folder, 'app/pages/[id]/page.tsx'),
    `import { orders } from '../../../lib/orders';
    import { requirePermission } from '../../../lib/pages';
    export default async function Page({ params }: { params: Promise<{ id: string }> }) {
      const resource = orders.get((await params).id);
      await requirePermission('order:read', { context: () => ({ resource }) });
      return <p>{\`content of order \${resource?.id}\`}</p>;
    }`,
  );
}

const scopeQuery = (): string => {
  const [tenant = '', ...id] = (environment['DOORWARD_SCOPE'] ?? '').split(':');
  return new URLSearchParams({ tenant, scopeId: id.join(':') }).toString();
};

async function keyToken(): Promise<string> {
  const [tenant, ...id] = (environment['DOORWARD_SCOPE'] ?? '').split(':');
  const response = await fetch(`${service.base}/api/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      clientId: environment['DOORWARD_CLIENT_ID'],
      clientSecret: environment['DOORWARD_CLIENT_SECRET'],
      scope: { tenant, id: id.join(':') },
    }),
  });
  return ((await response.json()) as { data: { accessToken: string } }).data.accessToken;
}
