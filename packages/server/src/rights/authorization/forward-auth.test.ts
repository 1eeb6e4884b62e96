import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { METHODS } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../scripts/service.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { projectUserRoles, projectUsers } from '../../schema/rights/membership.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** What a proxy hears that asks before it forwards (authorization §10.4), and permissions in one word. */

const CHECK = '/api/auth/check';
let app: TestApp;
let owner: Person;
let reader: Person;
let stranger: Person;
let scope: ScopeRef;
let key: string;

beforeAll(async () => {
  app = await startApp({ SECURITY_FRONTEND_URL: 'https://admin.example' });
  [owner, stranger] = [await app.person(), await app.person()];
  const as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as));
  await app.must(
    'createResource',
    { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'approve'], createPermissions: true },
    as,
  );
  reader = await holding('read');
  const made = await app.must('createApiKey', { scope, name: 'K' }, as);
  const { clientId, clientSecret } = made;
  key = (await app.must('exchangeApiKey', { clientId, clientSecret, scope: made.scope } as never))
    .accessToken;
});
afterAll(() => app.close());

/** A user of the project who may do this with invoices. */
async function holding(action: string): Promise<Person> {
  const as = { token: owner.token };
  const person = await app.person();
  const id = await invoicePermission(action);
  const group = await app.must('createGroup', { scope, name: action, permissionIds: [id] }, as);
  const role = await app.must('createRole', { scope, name: action, groupIds: [group.id] }, as);
  const [, tenantId = ''] = scope.id.split(':');
  const { userId } = person;
  await app.database.pool.insert(projectUsers).values({ tenantId, userId });
  await app.database.pool
    .insert(projectUserRoles)
    .values({ tenantId, userId, roleId: role.id, roleTenantId: tenantId });
  return person;
}

async function invoicePermission(action: string): Promise<string> {
  const { items } = await app.must('permissions', { scope, limit: 100 }, { token: owner.token });
  return items.find((item) => item.resource.slug === 'invoice' && item.action === action)?.id ?? '';
}

const scopeText = () => `${scope.tenant}:${scope.id}`;
const question = (permission = 'invoice:read', at = scopeText()) => ({
  'x-doorward-permission': permission,
  'x-doorward-scope': at,
});
const bearer = (token = reader.token) => ({ authorization: `Bearer ${token}` });
const ask = (headers: Record<string, string>, more: InjectOptions = {}) =>
  app.server.inject({ method: 'GET', url: CHECK, ...more, headers: { ...headers } });
const inQuery = (query: Record<string, string>) => `${CHECK}?${new URLSearchParams(query).toString()}`;

describe('a proxy', () => {
  it('learns that the token is allowed, and whose it is', async () => {
    const allowed = await ask({ ...bearer(), ...question() });
    expect([allowed.statusCode, allowed.body]).toEqual([204, '']);
    expect(allowed.headers).toMatchObject({ 'x-doorward-user': reader.userId, 'cache-control': 'no-store' });
    expect(allowed.headers).not.toHaveProperty('content-type');
    const byQuery = await ask(bearer(), { url: inQuery({ permission: 'invoice:read', scope: scopeText() }) });
    expect(byQuery.statusCode).toBe(204);
    for (const at of [scopeText(), 'own']) {
      const pinned = await ask({ ...bearer(key), ...question('invoice:read', at) });
      expect([pinned.statusCode, pinned.headers['x-doorward-reason']]).toEqual([403, 'NO_PERMISSION']);
    }
  });

  it('learns that the token is refused, and why', async () => {
    const unknown =
      'organizationProject:01890000-0000-7000-8000-000000000000:01890000-0000-7000-8000-000000000001';
    for (const [headers, reason] of [
      [{ ...bearer(), ...question('invoice:burn') }, 'NO_PERMISSION'],
      [{ ...bearer(stranger.token), ...question() }, 'INVALID_SCOPE'],
      [{ ...bearer(), ...question('invoice:read', unknown) }, 'INVALID_SCOPE'],
    ] as const) {
      const refused = await ask(headers);
      expect(refused.statusCode).toBe(403);
      expect(refused.json()).toMatchObject({ code: 'FORBIDDEN', reason });
      expect(refused.headers['x-doorward-reason']).toBe(reason);
      expect(refused.headers).not.toHaveProperty('x-doorward-user');
    }
  });

  it('learns that there is no valid token', async () => {
    for (const [headers, challenge] of [
      [{}, 'Bearer'],
      [bearer('a.b.c'), 'Bearer error="invalid_token"'],
      [{ cookie: `doorward_refresh=${reader.refreshToken}` }, 'Bearer'],
    ] as const) {
      const refused = await ask({ ...headers, ...question() });
      expect([refused.statusCode, refused.headers['www-authenticate']]).toEqual([401, challenge]);
    }
  });

  it.each<[string, Record<string, string>, Record<string, string>, string]>([
    ['no question', {}, {}, 'permission required'],
    ['a scope alone', {}, { scope: 'account:x' }, 'permission required'],
    ['one word', question('invoice', 'account:x'), {}, 'permission format'],
    ['three words', question('invoice:read:all', 'account:x'), {}, 'permission format'],
    ['an empty word', question(':read', 'account:x'), {}, 'permission format'],
    ['a long word', question(`invoice:${'x'.repeat(129)}`, 'account:x'), {}, 'permission format'],
    ['a scope of one word', { ...question('a:b', 'account') }, {}, 'scope format'],
    ['a scope of no tenant', { ...question('a:b', 'planet:1') }, {}, 'scope enum'],
    ['a scope of no id', { ...question('a:b', 'account:1') }, {}, 'scope format'],
    [
      'both places',
      question('a:b', 'account:x'),
      { permission: 'invoice:read', scope: 'x' },
      'permission excluded',
    ],
    ['both places by halves', { 'x-doorward-permission': 'a:b' }, { scope: 'account:x' }, 'scope excluded'],
    [
      'the scope in a header',
      { 'x-doorward-scope': 'account:x' },
      { permission: 'a:b' },
      'permission excluded',
    ],
    ['an unknown parameter', {}, { permission: 'a:b', scope: 'a:b', more: '1' }, 'more unknown_field'],
  ])('is refused for %s', async (_, headers, query, fault) => {
    const { statusCode, body } = await ask({ ...bearer(), ...headers }, { url: inQuery(query) });
    expect(statusCode).toBe(400);
    const { details } = JSON.parse(body) as { details: { path: string; code: string }[] };
    expect(details.map(({ path, code }) => `${path} ${code}`)[0]).toBe(fault);
  });

  it('is refused without a scope, whosever the token is, and learns where to send it', async () => {
    for (const token of [reader.token, key, await keyOfStranger()]) {
      for (const [headers, url] of [
        [{ 'x-doorward-permission': 'invoice:read' }, CHECK],
        [{}, inQuery({ permission: 'invoice:read' })],
      ] as const) {
        const { statusCode, body } = await ask({ ...bearer(token), ...headers }, { url });
        expect(statusCode).toBe(400);
        expect(JSON.parse(body)).toMatchObject({
          code: 'SCOPE_REQUIRED',
          error: expect.stringContaining('x-doorward-scope') as string,
        });
      }
    }
  });

  it('may say that the scope is that of the token, whichever project that is', async () => {
    const token = await keyOfStranger();
    for (const [headers, url] of [
      [question('invoice:read', 'own'), CHECK],
      [{}, inQuery({ permission: 'invoice:read', scope: 'own' })],
    ] as const)
      expect((await ask({ ...bearer(token), ...headers }, { url })).statusCode).toBe(204);
    expect((await ask({ ...bearer(token), ...question() })).statusCode).toBe(403);
    // A session belongs to no project.
    const { statusCode, body } = await ask({ ...bearer(), ...question('invoice:read', 'own') });
    expect([statusCode, (JSON.parse(body) as { code: string }).code]).toEqual([400, 'SCOPE_REQUIRED']);
  });

  /** A key of a project of their own, which may do there what is asked for here. */
  async function keyOfStranger(): Promise<string> {
    const as = { token: stranger.token };
    const { scope: theirs } = await app.must('createProject', { scope: stranger.account, name: 'M' }, as);
    const invoice = { scope: theirs, name: 'I', slug: 'invoice', actions: ['read'] };
    const resource = await app.must('createResource', invoice, as);
    const permission = { scope: theirs, resourceId: resource.id, action: 'read' };
    const permissionIds = [(await app.must('createPermission', permission, as)).id];
    const group = await app.must('createGroup', { scope: theirs, name: 'G', permissionIds }, as);
    const role = await app.must('createRole', { scope: theirs, name: 'R', groupIds: [group.id] }, as);
    const made = await app.must('createApiKey', { scope: theirs, name: 'K', roleId: role.id }, as);
    const { clientId, clientSecret } = made;
    const exchanged = { clientId, clientSecret: clientSecret ?? '', scope: theirs };
    return (await app.must('exchangeApiKey', exchanged)).accessToken;
  }

  it('is refused for a duplicate header, even with equal values', async () => {
    const twice = await ask(bearer(), { url: `${CHECK}?permission=a:b&permission=a:b&scope=${scopeText()}` });
    expect(twice.json()).toMatchObject({ details: [{ path: 'permission', code: 'duplicate' }] });
    for (const name of ['X-Doorward-Permission', 'x-doorward-scope']) {
      const value = question()[name.toLowerCase() as 'x-doorward-scope'];
      const answer = await overWire(`GET ${CHECK} HTTP/1.1`, [`${name}: ${value}`]);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('"duplicate"');
    }
  });

  /** One request with the good question and these lines, byte by byte. */
  async function overWire(start: string, lines: readonly string[], body = ''): Promise<string> {
    if (!app.server.server.listening) await app.server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    const good = Object.entries({ ...bearer(), ...question() }).map(([name, value]) => `${name}: ${value}`);
    socket.write([start, 'host: here', 'connection: close', ...good, ...lines, '', body].join('\r\n'));
    let received = '';
    for await (const chunk of socket) received += String(chunk);
    return received;
  }

  it('may ask by every method, and at every path below, whatever its client sends', async () => {
    // Which QUERY has to tell.
    const typed = ['content-type: text/x-odd'];
    for (const method of METHODS.filter((item) => item !== 'CONNECT')) {
      for (const path of [CHECK, `${CHECK}/`, `${CHECK}/invoices/7?permission=a:b&scope=x&a=1&a=2`]) {
        // Envoy asks below, and takes nothing but 200 for a yes.
        const yes = path === CHECK ? /^HTTP\/1\.1 204 / : /^HTTP\/1\.1 200 /;
        expect(await overWire(`${method} ${path} HTTP/1.1`, typed), `${method} ${path}`).toMatch(yes);
      }
    }
    const odd = ['content-type: text/x-odd', 'content-encoding: secret', 'content-length: 3'];
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']) {
      expect(await overWire(`${method} ${CHECK}/x HTTP/1.1`, odd, '{"a')).toMatch(/^HTTP\/1\.1 200 /);
    }
    const json = ['content-type: application/json', 'content-length: 1'];
    expect(await overWire(`POST ${CHECK} HTTP/1.1`, json, '{')).toMatch(/^HTTP\/1\.1 204 /);
    const below = await ask(bearer(), { url: `${CHECK}/x?permission=invoice:read&scope=${scopeText()}` });
    expect(below.statusCode).toBe(400);
    expect((await ask({ ...bearer(), ...question() }, { url: `${CHECK}ed` })).statusCode).toBe(404);
  });

  it('reads of no page and of no other header', async () => {
    const origin = 'https://admin.example';
    const preflight = { origin, 'access-control-request-method': 'GET' };
    const answers = [
      await ask({ ...bearer(), ...question(), origin }),
      await ask(preflight, { method: 'OPTIONS' }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 401]);
    for (const { headers } of answers) expect(headers).not.toHaveProperty('access-control-allow-origin');
    const forwarded = { 'x-forwarded-uri': '/x', 'x-original-url': '/y', 'x-forwarded-method': 'DELETE' };
    expect((await ask({ ...bearer(), ...question(), ...forwarded })).statusCode).toBe(204);
  });

  it('leaves nothing in the audit log, and is counted as a check', async () => {
    const count = async () => (await app.database.pool.select().from(auditLog)).length;
    const before = await count();
    const refused = await ask({ ...bearer(), ...question('invoice:burn') });
    expect(refused.headers['ratelimit']).toMatch(/^"check";/);
    expect(await count()).toBe(before);
  });

  it('never passes by a condition on what is asked for', async () => {
    const person = await holding('approve');
    const approving = () => ask({ ...bearer(person.token), ...question('invoice:approve') });
    expect((await approving()).statusCode).toBe(204);
    const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
    const id = await invoicePermission('approve');
    await app.must('updatePermission', { scope, id, condition }, { token: owner.token });
    const answer = await approving();
    expect([answer.statusCode, answer.headers['x-doorward-reason']]).toEqual([403, 'CONDITION_NOT_MET']);
  });
});

/** Where it is installed: the whole way, as operators set it up. */
const hasNginx = spawnSync('nginx', ['-v']).status === 0;

describe.skipIf(!hasNginx)('nginx', () => {
  it('lets through whom the service allows, and says who it is', async () => {
    if (!app.server.server.listening) await app.server.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.server.address() as AddressInfo;
    const folder = await mkdtemp(join(tmpdir(), 'doorward-nginx-'));
    await mkdir(join(folder, 'invoices'));
    await writeFile(join(folder, 'invoices', 'one'), 'an invoice');
    const [own, behind] = [await freePort(), await freePort()];
    const page = await readFile(join(import.meta.dirname, '../../../../../docs/guides/nginx.md'), 'utf8');
    const site = (/```nginx\n# doorward\.conf\n([\s\S]*?)```/.exec(page)?.[1] ?? '')
      .replace('127.0.0.1:8080', `127.0.0.1:${own}`)
      .replace('127.0.0.1:3000', `127.0.0.1:${behind}`)
      .replace('127.0.0.1:4000', `127.0.0.1:${port}`)
      .replace('accountProject:<account>:<project>', scopeText());
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    await writeFile(
      join(folder, 'nginx.conf'),
      `${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid ${folder}/pid; error_log stderr notice; worker_processes 1; events {}
      http {
        access_log off;
        ${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
        ${site}
        server { listen 127.0.0.1:${behind}; root ${folder}; add_header X-User $http_x_user; }
      }`,
    );
    const nginx = spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    try {
      // It says so when its workers are started.
      for await (const line of nginx.stderr) if (String(line).includes('start worker')) break;
      const read = (headers: Record<string, string>) =>
        fetch(`http://127.0.0.1:${own}/invoices/one`, { headers });
      const allowed = await read(bearer());
      expect([allowed.status, await allowed.text()]).toEqual([200, 'an invoice']);
      expect(allowed.headers.get('x-user')).toBe(reader.userId);
      expect((await read({})).status).toBe(401);
      expect((await read(bearer(stranger.token))).status).toBe(403);
      expect((await read({ ...bearer(stranger.token), ...question('x:y') })).status).toBe(403);
    } finally {
      nginx.kill();
    }
  });
});

describe.each(storyTransports(import.meta))('a permission in one word over %s', (via) => {
  const named = (permission: unknown) => (via === 'rest' ? { permission } : { permissionName: permission });
  const decide = async (input: object) =>
    app.raw(
      'isAuthorized',
      { scope, ...input },
      { token: reader.token, via, select: '{ authorized reason }' },
    );

  it('is the same question', async () => {
    expect((await decide(named('invoice:read'))).data).toMatchObject({ authorized: true });
    expect((await decide(named('invoice:burn'))).data).toMatchObject({ authorized: false });
    const items = [named('invoice:read'), named('invoice:burn')];
    const select = '{ items { authorized } }';
    const both = await app.raw('isAuthorizedBatch', { scope, items }, { token: reader.token, via, select });
    expect(both.data).toMatchObject({ items: [{ authorized: true }, { authorized: false }] });
  });

  it('has one colon, and is sent once', async () => {
    for (const wrong of ['invoice', 'a:b:c', ':', 'a:', `${'x'.repeat(129)}:a`]) {
      const { code, details } = await decide(named(wrong));
      expect([code, details[0]?.code], wrong).toEqual(['VALIDATION_ERROR', 'format']);
    }
    const both = { permission: { resource: 'a', action: 'b' }, permissionName: 'a:b' };
    expect((await decide(both)).details).toMatchObject([{ path: 'permissionName', code: 'excluded' }]);
    expect((await decide({})).details).toMatchObject([{ path: 'permission', code: 'required' }]);
  });
});
