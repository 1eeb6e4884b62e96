/** examples/vendor, installed from the tarballs: what its read-me promises, with a service that runs beside it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  buildService,
  call,
  callOrThrow,
  freePort,
  mailedToken,
  signUp,
  startService,
  type Service,
  type SignedUp,
} from '../../scripts/service.ts';
import { answers, examplesIn, exported, node, type Environment, type Examples } from './support/example.ts';
import { run } from './support/installation.ts';

let service: Service;
let examples: Examples;
let folder: string;
let vendor: SignedUp;
let environment: Environment;
let url: string;

beforeAll(async () => {
  await buildService();
  service = await startService();
  examples = await examplesIn();
  folder = await examples.install('vendor');
  await run('npm', ['run', 'build'], folder);
  vendor = await signUp(service, 'vendor');
  const { token: DOORWARD_TOKEN, accountId: ACCOUNT_ID } = vendor;
  const given = { DOORWARD_URL: service.base, DOORWARD_TOKEN, ACCOUNT_ID };
  environment = exported(await node(folder, ['dist/run-set-up.js'], given));
  const { DOORWARD_URL = '', PROJECT_SCOPE = '' } = environment;
  const PORT = String(await freePort());
  url = `http://127.0.0.1:${PORT}`;
  // The service has no key.
  examples.start(folder, ['dist/main.js'], { DOORWARD_URL, PROJECT_SCOPE, PORT });
  await answers(url);
});
afterAll(async () => {
  await examples?.endAll();
  await service?.stop();
  await examples?.tidy();
});

const password = 'three-lanterns-in-the-harbour';
/** Follows the link of an invitation as a new user, or as the one who is signed in. @returns their token */
async function accept(email: string, token?: string): Promise<string> {
  const invitation = { token: await mailedToken(service.mailDir, email) };
  const body = token ? invitation : { ...invitation, registration: { name: email, password } };
  const path = `${service.base}/api/organization-invitations/accept`;
  const answer = await callOrThrow<{ signIn: { accessToken: string } | null }>(path, {
    body,
    ...(token ? { token } : {}),
  });
  return token ?? answer.signIn?.accessToken ?? '';
}
const ask = async (method: string, path: string, token: string) => {
  const response = await fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  return response.status;
};
const onboard = async (...args: readonly string[]) => {
  const printed = await node(folder, ['dist/run-onboard.js', ...args], environment);
  return new Map(
    printed
      .trim()
      .split('\n')
      .map((line) => /^(\S+) (\S+) (.*)$/.exec(line) ?? [])
      .map(([, slug = '', id = '', done = '']) => [slug, { id, done }]),
  );
};

test('one project, three customers', async () => {
  // One key onboards; again, and it changes nothing; changed terms change the grant alone.
  const first = await onboard();
  expect([...first].map(([slug, { done }]) => `${slug}: ${done}`)).toEqual([
    'acme: created, granted, invited',
    'globex: created, granted, invited',
    'initech: created, granted, invited',
  ]);
  const [acme, globex, initech] = [...first.values()].map(({ id }) => id) as [string, string, string];
  const grace = await accept('grace@acme.example');
  const alan = await accept('alan@globex.example');
  const events = () =>
    callOrThrow<{ totalCount: number }>(
      `${service.base}/api/audit-logs?tenant=organization&scopeId=${acme}`,
      { token: grace },
    );
  const before = await events();
  for (const { done } of (await onboard()).values()) expect(done).toBe('unchanged');
  expect((await events()).totalCount).toBe(before.totalCount);
  const more = [{ slug: 'acme', name: 'Acme', admin: 'grace@acme.example', maxUsers: 50 }];
  await writeFile(join(folder, 'more.json'), JSON.stringify(more));
  expect((await onboard('more.json')).get('acme')).toEqual({ id: acme, done: 'changed' });

  // The administrator of a customer gives granted roles only.
  const hire = (admin: string, organization: string, email: string, role: string) =>
    node(folder, ['dist/run-hire.js', organization, email, role], { ...environment, ADMIN_TOKEN: admin });
  await hire(grace, acme, 'carla@example.test', 'Clerk');
  const carla = await accept('carla@example.test');
  await hire(alan, globex, 'carla@example.test', 'Reader');
  await accept('carla@example.test', carla);
  await expect(hire(grace, acme, 'dan@example.test', 'Onboarding')).rejects.toThrow('has no role Onboarding');
  const projectId = (environment['PROJECT_SCOPE'] ?? '').split(':')[2] ?? '';
  const scopeOf = (organization: string) => ({
    tenant: 'organizationProject',
    id: `${organization}:${projectId}`,
  });
  const own = `tenant=accountProject&scopeId=${vendor.accountId}:${projectId}`;
  const { items: roles } = await callOrThrow<{ items: { id: string; name: string }[] }>(
    `${service.base}/api/roles?${own}&limit=100`,
    { token: vendor.token },
  );
  const roleNamed = (name: string) => roles.find((role) => role.name === name)?.id ?? '';
  const me = await callOrThrow<{ user: { id: string } }>(`${service.base}/api/me`, { token: carla });
  const { id: userId } = me.user;
  const assign = (role: string) =>
    call(`${service.base}/api/users/${userId}`, {
      token: grace,
      method: 'PATCH',
      body: { scope: scopeOf(acme), roleIds: [roleNamed(role)] },
    });
  expect((await assign('Onboarding')).status).toBe(404);
  expect((await assign('Project Admin')).status).toBe(404);
  expect((await assign('Clerk')).status).toBe(200);

  // The same person has other rights for another customer, and none for the third.
  const path = (organization: string) => `/customers/${organization}/invoices`;
  expect(await ask('POST', path(acme), carla)).toBe(201);
  expect(await ask('GET', path(acme), carla)).toBe(200);
  expect(await ask('POST', path(globex), carla)).toBe(403);
  expect(await ask('GET', path(globex), carla)).toBe(200);
  expect(await ask('GET', path(initech), carla)).toBe(403);
  expect(await ask('GET', path(acme), 'no-token')).toBe(401);
  expect(await ask('GET', path('acme'), carla)).toBe(404);

  // A machine of a customer has its key, which is good for that customer alone.
  const key = await callOrThrow<{ clientId: string; clientSecret: string; scope: object }>(
    `${service.base}/api/api-keys`,
    { token: grace, body: { scope: scopeOf(acme), roleId: roleNamed('Clerk') } },
  );
  const { clientId, clientSecret, scope } = key;
  const exchange = () =>
    call<{ accessToken: string }>(`${service.base}/api/auth/token`, {
      body: { clientId, clientSecret, scope },
    });
  const robot = (await exchange()).data.accessToken;
  expect(await ask('POST', path(acme), robot)).toBe(201);
  expect(await ask('GET', path(globex), robot)).toBe(403);

  // The vendor adds a permission to what clerks may do: clerks of all customers have it.
  await hire(alan, globex, 'erin@example.test', 'Clerk');
  const erin = await accept('erin@example.test');
  expect(await ask('POST', path(globex), erin)).toBe(201);
  const pay = (organization: string) => `${path(organization)}/1/pay`;
  expect(await ask('POST', pay(acme), carla)).toBe(403);
  expect(await ask('POST', pay(globex), erin)).toBe(403);
  await node(folder, ['dist/run-improve.js'], { ...environment, DOORWARD_TOKEN: vendor.token });
  expect(await ask('POST', pay(acme), carla)).toBe(200);
  expect(await ask('POST', pay(globex), erin)).toBe(200);
  expect(await ask('POST', pay(globex), carla)).toBe(403);
  expect(await ask('POST', pay(acme), robot)).toBe(200);
  // The machine grants the larger role too, because it holds what its groups give.
  for (const { done } of (await onboard('customers.json')).values())
    expect(['unchanged', 'changed']).toContain(done);

  // A grant is revoked: keys, roles and checks of that customer end, those of the others stay.
  const offboard = () => node(folder, ['dist/run-offboard.js', 'acme'], environment);
  expect(await offboard()).toBe('acme ended\n');
  await vi.waitFor(
    async () => {
      expect(await ask('GET', path(acme), carla)).toBe(403);
      expect(await ask('GET', path(acme), robot)).toBe(401);
    },
    { timeout: 1000, interval: 20 },
  );
  expect((await exchange()).status).toBe(401);
  expect(await ask('GET', path(globex), carla)).toBe(200);
  expect(await ask('POST', path(globex), erin)).toBe(201);
  expect(await offboard()).toBe('acme has no grant\n');
});
