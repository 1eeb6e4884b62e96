import { build } from 'esbuild';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  customerOf,
  grantTo,
  granted,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../../../server/test/support/tenants/grants.ts';
import { redirectParameters, signInBrowser } from '../../../server/test/support/sign-in/project-app.ts';
import { visitor } from '../../../server/test/support/app/visitor.ts';
import { openShop, type Shop } from '../middleware/support/shop.ts';
import { webListener } from '../middleware/support/web-listener.ts';

/** The programs of docs/guides run as they are printed, against the real service. */
const root = join(import.meta.dirname, '../../../..');
// Below node_modules, so that Node finds the frameworks.
const directory = join(root, 'node_modules/.cache/doorward-guides');

let shop: Shop;
const variables = [
  'DOORWARD_URL',
  'DOORWARD_CLIENT_ID',
  'DOORWARD_CLIENT_SECRET',
  'DOORWARD_SCOPE',
  'PROJECT',
  'PORT',
  'WEBHOOK_SECRET',
];
const webhookSecret = `whsec_${Buffer.alloc(32, 'w').toString('base64')}`;
const before = variables.map((name) => process.env[name]);

beforeAll(async () => {
  await mkdir(directory, { recursive: true });
  shop = await openShop();
  const { url, credentials, scope } = shop;
  const { clientId, clientSecret } = credentials;
  const values = [url, clientId, clientSecret, `${scope.tenant}:${scope.id}`, scope.id, '0', webhookSecret];
  variables.forEach((name, index) => (process.env[name] = values[index]));
});
afterAll(async () => {
  variables.forEach((name, index) => {
    if (before[index] === undefined) delete process.env[name];
    else process.env[name] = before[index];
  });
  await rm(directory, { recursive: true, force: true });
  await shop.close();
});

/** The program of a guide, compiled as its reader would. */
async function run(guide: string): Promise<Record<string, unknown>> {
  const text = await readFile(join(root, 'docs/guides', `${guide}.md`), 'utf8');
  const [, contents = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(text) ?? [];
  const { outputFiles } = await build({
    stdin: { contents, loader: 'ts', resolveDir: import.meta.dirname },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    plugins: [
      {
        name: 'libraries',
        setup: (bundler) =>
          bundler.onResolve({ filter: /^[^./]/ }, ({ path }) =>
            path.startsWith('@doorward/') ? undefined : { path, external: true },
          ),
      },
    ],
  });
  const file = join(directory, `${guide}.mjs`);
  await writeFile(file, outputFiles[0]?.text ?? '');
  return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Record<string, unknown>;
}

const serve = async (listener: RequestListener): Promise<Server> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
type Fetch = (request: Request) => Promise<Response>;
type Route = (request: Request, context: { params: Promise<{ id: string }> }) => Promise<Response>;

const guides: Readonly<Record<string, (program: Record<string, unknown>) => Promise<Server>>> = {
  express: async ({ server }) => server as Server,
  fastify: async ({ server }) => server as Server,
  hono: ({ app }) => serve(webListener((app as { fetch: Fetch }).fetch)),
  nestjs: async ({ server }) => server as Server,
  nextjs: ({ GET }) =>
    serve(
      webListener((request) =>
        (GET as Route)(request, { params: Promise.resolve({ id: request.url.split('/').at(-1) ?? '' }) }),
      ),
    ),
};

describe.each(Object.entries(guides))('docs/guides/%s.md', (guide, serverOf) => {
  it('runs, and decides about orders', async () => {
    const server = await serverOf(await run(guide));
    if (!server.listening) await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const statusOf = async (path: string, token?: string): Promise<number> => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(`http://localhost:${port}${path}`, { headers });
      await response.text();
      return response.status;
    };
    expect(await statusOf('/orders/1', shop.tokens.clerk)).toBe(200);
    expect(await statusOf('/orders/1', shop.tokens.stranger)).toBe(403);
    expect(await statusOf('/orders/2', shop.tokens.clerk)).toBe(404);
    expect(await statusOf('/orders/1')).toBe(401);
    if (guide !== 'nextjs') expect(await statusOf('/me', shop.tokens.stranger)).toBe(200);
    await new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  });
});

describe('docs/guides/guards.md', () => {
  it('calls an application with a token of its key', async () => {
    let received = '';
    const server = await serve((request, response) => {
      received = request.headers.authorization ?? '';
      response.end();
    });
    process.env['ORDERS_URL'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await run('guards');
    expect(received).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
    delete process.env['ORDERS_URL'];
    await new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  });
});

describe('docs/guides/customers.md', () => {
  /** `invoice:read`, and `invoice:approve` up to 1000. */
  async function clerkOf({ scope, token, resourceId, permissions }: Vendor): Promise<string> {
    const as = { token };
    const actions = ['read', 'write', 'pay', 'approve'];
    await shop.app.must('updateResource', { scope, id: resourceId, actions }, as);
    const condition = { NumericLessThanEquals: { 'resource.amount': 1000 } };
    const approve = await shop.app.must(
      'createPermission',
      { scope, resourceId, action: 'approve', condition },
      as,
    );
    const permissionIds = [permissions['read'] ?? '', approve.id];
    const group = await shop.app.must('createGroup', { scope, name: 'Decide', permissionIds }, as);
    return (await shop.app.must('createRole', { scope, name: 'Clerk', groupIds: [group.id] }, as)).id;
  }

  /** The access token of a member who signs in to an app of the vendor. */
  async function signedIn(vendor: Vendor, customer: Customer): Promise<string> {
    const redirectUri = 'https://invoices.example/callback';
    const input = { scope: vendor.scope, name: 'Invoices', redirectUris: [redirectUri], firstParty: true };
    const { clientId } = await shop.app.must('createProjectApp', input, { token: vendor.token });
    const { email } = await memberOf(shop.app, customer, 'Organization Viewer');
    const browser = signInBrowser(shop.app, { clientId, redirectUri }, visitor(shop.app.server, shop.url));
    await browser.authorize();
    const { code = '' } = redirectParameters(await browser.open(await browser.mail(email)));
    const exchange = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      code_verifier: browser.verifier,
    } as const;
    return (await shop.app.must('projectToken', exchange)).accessToken;
  }

  it('runs, and decides for the customer of the token', async () => {
    const { app } = shop;
    const vendor = await vendorOf(app);
    const clerk = await clerkOf(vendor);
    const acme = await customerOf(app);
    const grant = await grantTo(app, vendor, acme, { roleIds: [clerk], defaultRoleId: clerk });
    const scope = granted(acme, vendor);
    const key = await app.must(
      'createApiKey',
      { scope, name: 'script', roleId: clerk },
      { token: acme.token },
    );
    const credentials = { clientId: key.clientId, clientSecret: key.clientSecret ?? '', scope };
    const ofKey = (await app.must('exchangeApiKey', credentials)).accessToken;
    const ofPerson = await signedIn(vendor, acme);

    process.env['DOORWARD_SCOPE'] = `${vendor.scope.tenant}:${vendor.scope.id}`;
    delete process.env['DOORWARD_CLIENT_ID'];
    delete process.env['DOORWARD_CLIENT_SECRET'];
    const { server } = (await run('customers')) as { server: Server };
    if (!server.listening) await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ask = async (method: string, path: string, token: string) => {
      const response = await fetch(url + path, { method, headers: { authorization: `Bearer ${token}` } });
      const { of, reason } = (await response.json()) as { of?: string; reason?: string };
      return { status: response.status, ...(of && { of }), ...(reason && { reason }) };
    };
    for (const token of [ofKey, ofPerson]) {
      expect(await ask('GET', '/invoices', token)).toEqual({ status: 200, of: scope.id });
      expect(await ask('POST', '/invoices/1/approve', token)).toEqual({ status: 200 });
      expect(await ask('POST', '/invoices/2/approve', token)).toEqual({
        status: 403,
        reason: 'CONDITION_NOT_MET',
      });
    }
    expect(await ask('GET', '/invoices', shop.tokens.clerk)).toEqual({ status: 401 });
    expect((await fetch(`${url}/invoices`)).status).toBe(401);
    await app.must('suspendProjectGrant', { scope: vendor.scope, id: grant.id }, { token: vendor.token });
    for (const token of [ofKey, ofPerson])
      expect(await ask('GET', '/invoices', token)).toEqual({ status: 401 });
    await new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  });
});

describe('docs/guides/webhooks.md', () => {
  it('runs, accepts an event and its repetition, and refuses a forged one', async () => {
    const { server } = (await run('webhooks')) as { server: Server };
    if (!server.listening) await once(server, 'listening');
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;
    const data = { id: 'user-1', projectId: 'project-1', userId: 'user-1', roleIds: [] };
    const body = JSON.stringify({ id: 'evt_1', type: 'project.user_removed', version: 1, data });
    const send = async (secret: string): Promise<number> => {
      const at = new Date();
      const headers = {
        'content-type': 'application/json',
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
      };
      return (await fetch(`${url}/webhooks`, { method: 'POST', headers, body })).status;
    };
    const blocked = async (): Promise<unknown> => (await fetch(`${url}/blocked`)).json();
    expect(await send(`whsec_${Buffer.alloc(32, 'x').toString('base64')}`)).toBe(400);
    expect(await blocked()).toEqual([]);
    expect([await send(webhookSecret), await send(webhookSecret)]).toEqual([200, 200]);
    expect(await blocked()).toEqual(['user-1']);
    await new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  });
});
