import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { closed } from '../../test/support/app/loopback.ts';
import { startOpenidProvider, type OpenidDouble } from '../../test/support/sign-in/openid-provider.ts';
import { createTargetGuard } from '../outgoing/target-guard.ts';
import { guardedFetch } from './guarded-fetch.ts';
import { createProviderLogos } from './logos.ts';

/** Logos of providers: which are fetched and served, and which responses of a logo's site are refused. */

const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=', 'base64');
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

let answers: { status: number; body: Buffer; location?: string };
const requests: string[] = [];
const site = createServer((request, response) => {
  requests.push(request.url ?? '');
  const { status, body, location } = answers;
  response.writeHead(status, { 'content-type': 'image/gif', ...(location && { location }) }).end(body);
});
let origin: string;
let provider: OpenidDouble;
let app: TestApp;

beforeAll(async () => {
  answers = { status: 200, body: gif };
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  provider = await startOpenidProvider();
  app = await startApp({
    IDENTITY_PROVIDERS: JSON.stringify([{ ...provider.entry, logoUrl: `${origin}/logo` }]),
    FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    GITHUB_CLIENT_ID: 'id',
    GITHUB_CLIENT_SECRET: 'secret',
  });
});
afterAll(async () => {
  await app.close();
  await Promise.all([provider.close(), closed(site)]);
});
beforeEach(() => {
  answers = { status: 200, body: gif };
});

/** Fetches one logo as a new process would. `cidrs`: private networks that it may reach. */
async function fetched(logoUrl: string, cidrs: readonly string[] = ['127.0.0.0/8']) {
  const warnings: string[] = [];
  const guard = createTargetGuard({ allowHttp: true, allowedPrivateCidrs: cidrs }, async () => []);
  const providers = [{ ...provider.entry, key: 'acme', logoUrl }] as never;
  const logos = createProviderLogos({
    providers,
    fetch: guardedFetch(guard),
    warn: (text) => void warnings.push(text),
  });
  await logos.fetchMissing();
  return { logos, warnings };
}

test.each(['rest', 'graphql'] as const)('are listed as files of this service, over %s', async (via) => {
  const listed = async () => (await app.must('signInProviders', {}, { via })).items;
  await expect.poll(async () => (await listed())[1]?.logoUrl).not.toBeNull();
  const [github, acme] = await listed();
  expect(github?.logoUrl).toBe('http://localhost:4000/hosted/logos/github.svg');
  expect(acme?.logoUrl).toMatch(/^http:\/\/localhost:4000\/hosted\/logos\/acme-[0-9a-f]{16}\.gif$/);
  const { pathname } = new URL(acme?.logoUrl ?? '');
  const logo = await app.server.inject(pathname);
  expect(logo.rawPayload).toEqual(gif);
  expect(logo.headers).toMatchObject({
    'content-type': 'image/gif',
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  });
  const mark = await app.server.inject('/hosted/logos/github.svg');
  expect(mark.headers['content-type']).toBe('image/svg+xml');
  for (const other of ['acme.gif', 'acme-0000000000000000.gif', '..%2Fpage.css', '']) {
    expect((await app.server.inject(`/hosted/logos/${other}`)).statusCode, other).toBe(404);
  }
});

test('are fetched once, and again only when they are missing', async () => {
  answers = { status: 503, body: gif };
  const { logos, warnings } = await fetched(`${origin}/again`);
  expect(logos.fileOf('acme')).toBeNull();
  expect(warnings).toEqual(['The logo of the provider acme was answered with status 503; pages show none.']);
  answers = { status: 200, body: gif };
  await logos.fetchMissing();
  await logos.fetchMissing();
  expect(logos.read(logos.fileOf('acme') ?? '')).toMatchObject({ mediaType: 'image/gif', bytes: gif });
  expect(requests.filter((path) => path === '/again')).toHaveLength(2);
});

test.each([
  ['markup', { status: 200, body: svg }],
  ['a picture with something after it', { status: 200, body: Buffer.concat([gif, svg]) }],
  ['a redirect', { status: 302, body: gif, location: '/elsewhere' }],
  ['too long an answer', { status: 200, body: Buffer.alloc(300_000) }],
])('%s is no logo', async (_, answer) => {
  answers = answer;
  const { logos, warnings } = await fetched(`${origin}/bad`);
  expect(logos.fileOf('acme')).toBeNull();
  expect(warnings).toHaveLength(1);
  expect(requests).not.toContain('/elsewhere');
});

test('an address inside the network of the service is not reached', async () => {
  const { logos, warnings } = await fetched(`${origin}/internal`, []);
  expect(logos.fileOf('acme')).toBeNull();
  expect(warnings).toHaveLength(1);
  expect(requests).not.toContain('/internal');
});
