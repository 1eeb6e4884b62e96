import { sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken, member, nowhere } from '../../../../test/contract/world.ts';
import { isFraming, startApp, type TestApp } from '../../../../test/support/app/app.ts';
import { appToken } from '../../../../test/support/sign-in/app-token.ts';
import { createPolicy, pathOf, post } from '../../../../test/support/tenants/authzen.ts';
import type { Person } from '../../../../test/support/app/client.ts';
import { leastToll } from '../../../../test/support/app/event-loop.ts';
import { firmOf, type Firm } from '../../../../test/support/tenants/firm.ts';
import { roleIdOf } from '../../../schema/rights/built-in-ids.ts';

/** Each row of the tables about one question and several questions (authzen §1, §2, §3, §5, §6). */
let app: TestApp;
let firm: Firm;
let owner: Person;
/** A member of the organization who may not check others, and a stranger. */
let viewer: Person;
let stranger: Person;
/** A key that may check others, and one that may only read. */
let gateway: string;
let reader: string;
let roles: Record<string, string>;
let base: string;
let clara: string;

/** `null`: without a token. */
const ask = (body: unknown, token: string | null = gateway, endpoint = 'evaluation', at = base) =>
  post(app, token ?? undefined, `${at}/access/v1/${endpoint}`, body);

const about = (subject: unknown, more: object = {}) => ({
  subject,
  action: { name: 'read' },
  resource: { type: 'invoice', id: '42' },
  ...more,
});
const user = (id: string) => ({ type: 'user', id });
const inactive = { decision: false, context: { reason: 'SUBJECT_INACTIVE' } };
const allowed = { decision: true, context: { reason: 'ALLOWED', permission: 'invoice:read' } };

async function join(name: string, metadata: Record<string, unknown>, role = 'clerk') {
  const { project: scope } = firm;
  const input = { scope, name, metadata, roleIds: [roles[role]] };
  return (await app.must('createUser', input as never, { token: owner.token })).id;
}

beforeAll(async () => {
  app = await startApp();
  firm = await firmOf(app);
  ({ owner } = firm);
  viewer = await firm.member('Organization Viewer');
  stranger = await app.person();
  const { project } = firm;
  base = pathOf(project);
  gateway = await keyToken(app, owner.token, project, roleIdOf('Project Admin'));
  reader = await keyToken(app, owner.token, project, roleIdOf('Project Viewer'));
  roles = await createPolicy(app, owner.token, project, {
    clerk: {
      invoice: {
        read: null,
        approve: { NumericLessThan: { 'resource.amount': 100 } },
        archive: { Equals: { 'resource.id': '42' } },
        delete: { Equals: { 'resource._action.soft': true } },
        export: { Equals: { 'resource._context.region': 'eu' } },
        sign: { Equals: { 'user.metadata.rank': 'chief' } },
      },
    },
  });
  clara = await join('Clara', { externalId: 'clara-7', rank: 'clerk' });
  const joining = { scope: project, userId: viewer.userId, roleIds: [roles['clerk']] };
  await app.must('createUser', joining as never, { token: owner.token });
}, 120_000);
afterAll(() => app.close());

describe('the subject', () => {
  it('is a user by id, in any spelling', async () => {
    for (const id of [clara, clara.toUpperCase()]) expect((await ask(about(user(id)))).body).toEqual(allowed);
  });

  it('is a user by the externalId that the scope keeps about them', async () => {
    expect((await ask(about(user('clara-7')))).body).toEqual(allowed);
    for (const id of ['Clara-7', ' clara-7', 'clara-7\0', '', '%', 'x'.repeat(5000)])
      expect((await ask(about(user(id)))).body, JSON.stringify(id)).toEqual(inactive);
  });

  it('is a user by the verified address, in any case', async () => {
    for (const id of [viewer.email, viewer.email.toUpperCase()])
      expect((await ask(about(user(id)))).body, id).toEqual(allowed);
    for (const id of [stranger.email, 'nobody@example.test', '@', 'a@b@c', `${viewer.email} `.repeat(99)])
      expect((await ask(about(user(id)))).body, id).toEqual(inactive);
  });

  it('is nobody by an address that is not verified', async () => {
    const unverified = await app.person({ verified: false });
    await app.database.pool.execute(
      sql`insert into project_users (tenant_id, user_id) values (${firm.projectId}::uuid, ${unverified.userId}::uuid)`,
    );
    expect((await ask(about(user(unverified.email)))).body).toEqual(inactive);
    expect((await ask(about(user(unverified.userId)))).body['context']).toEqual({ reason: 'NO_PERMISSION' });
  });

  it('is nobody by an externalId that two users have, that is no text, or that is overlong', async () => {
    await join('Twin', { externalId: 'twin' });
    expect((await ask(about(user('twin')))).body).toEqual(allowed);
    await join('Other twin', { externalId: 'twin' });
    expect((await ask(about(user('twin')))).body).toEqual(inactive);
    await join('Number', { externalId: 7 });
    await join('List', { externalId: ['7', '8'] });
    const long = 'ü'.repeat(256);
    await join('Long', { externalId: long });
    for (const id of ['7', '["7", "8"]', long]) expect((await ask(about(user(id)))).body).toEqual(inactive);
    await join('Bound', { externalId: 'ü'.repeat(255) });
    expect((await ask(about(user('ü'.repeat(255))))).body).toEqual(allowed);
  });

  it('is known by the externalId of the project, which counts before that of the organization', async () => {
    const both = await firm.member('Organization Viewer');
    const setOf = (table: string, tenantId: string, externalId: string) =>
      app.owner.execute(
        `update ${table} set metadata = '{"externalId": "${externalId}"}' where tenant_id = '${tenantId}' and user_id = '${both.userId}'`,
      );
    await setOf('organization_members', firm.organization.id, 'in-organization');
    expect((await ask(about(user('in-organization')))).body['context']).toEqual({ reason: 'NO_PERMISSION' });
    await app.must(
      'createUser',
      { scope: firm.project, userId: both.userId, roleIds: [roles['clerk']] } as never,
      { token: owner.token },
    );
    await setOf('project_users', firm.projectId, 'in-project');
    expect((await ask(about(user('in-project')))).body).toEqual(allowed);
    expect((await ask(about(user('in-organization')))).body).toEqual(inactive);
  });

  it('is nobody if the user is disabled, of another tenant or unknown: all alike', async () => {
    const disabled = await join('Dora', { externalId: 'dora' });
    await app.must(
      'updateUser',
      { scope: firm.project, id: disabled, status: 'disabled' },
      { token: owner.token },
    );
    const other = await app.must(
      'createProject',
      { scope: owner.account, name: 'Other' },
      { token: owner.token },
    );
    const foreign = await app.must(
      'createUser',
      { scope: other.scope, name: 'Foreign', roleIds: [], metadata: { externalId: 'foreign' } },
      { token: owner.token },
    );
    for (const id of [disabled, 'dora', stranger.userId, foreign.id, 'foreign', randomUUID(), 'nobody'])
      expect((await ask(about(user(id)))).body, id).toEqual(inactive);
  });

  it('is nobody if it is no user and not the key of the token', async () => {
    for (const type of ['apiKey', 'User', 'group', '', '__proto__'])
      for (const token of [gateway, reader, owner.token])
        expect((await ask(about({ type, id: clara }), token)).body, type).toEqual(inactive);
  });

  it('is the token itself, which needs no right to check', async () => {
    const own = await ask(
      about(user(viewer.userId), { resource: { type: 'Role', id: 'x' }, action: { name: 'Query' } }),
      viewer.token,
    );
    expect(own.body).toEqual({ decision: true, context: { reason: 'ALLOWED', permission: 'Role:Query' } });
    const { items } = await app.must('apiKeys', { scope: firm.project, limit: 100 }, { token: owner.token });
    const key = await post(app, reader, `${base}/access/v1/evaluation`, {
      subject: { type: 'apiKey', id: idOfKey(reader) },
      action: { name: 'Query' },
      resource: { type: 'Role', id: 'x' },
    });
    expect(items.map(({ id }) => id)).toContain(idOfKey(reader));
    expect(key.body).toEqual({ decision: true, context: { reason: 'ALLOWED', permission: 'Role:Query' } });
    // A key is not the user who made it.
    expect((await ask(about(user(owner.userId)), reader)).status).toBe(403);
    // And a user id that equals the id of the key does not stand for the key.
    expect((await ask(about(user(idOfKey(reader))), reader)).status).toBe(403);
    const otherKey = { type: 'apiKey', id: idOfKey(gateway) };
    expect((await ask(about(otherKey), reader)).body).toEqual(inactive);
  });

  it('is an app token with what its user consented to', async () => {
    const redirectUri = 'https://app.example/callback';
    const client = await app.must(
      'createProjectApp',
      { scope: firm.project, name: 'App', redirectUris: [redirectUri], scopes: ['invoice:read'] },
      { token: owner.token },
    );
    const person = await app.person();
    await app.owner.execute(
      `insert into project_users (tenant_id, user_id) values ('${firm.projectId}', '${person.userId}')`,
    );
    await app.must(
      'updateUser',
      { scope: firm.project, id: person.userId, roleIds: [roles['clerk'] ?? ''] },
      { token: owner.token },
    );
    const token = await appToken(app, {
      app: { ...client, redirectUri },
      userId: person.userId,
      scopes: ['invoice:read'],
    });
    for (const at of [base, '']) {
      expect((await ask(about(user(person.userId)), token, 'evaluation', at)).body).toEqual(allowed);
      const approve = about(user(person.userId), { action: { name: 'approve' } });
      expect((await ask(approve, token, 'evaluation', at)).body).toEqual({
        decision: false,
        context: { reason: 'SCOPE_NOT_CONSENTED' },
      });
      expect((await ask(about(user(clara)), token, 'evaluation', at)).status).toBe(403);
    }
  });

  it('is told to nobody who may not check others: 403 alike, and nothing is looked up', async () => {
    const bodies = new Set<string>();
    for (const id of [clara, 'clara-7', viewer.email, 'nobody', 'nobody@example.test', randomUUID()]) {
      const { status, body } = await ask(about(user(id)), reader);
      expect(status).toBe(403);
      const { requestId, ...rest } = body;
      expect(requestId).toBeTypeOf('string');
      bodies.add(JSON.stringify(rest));
    }
    expect([...bodies].map((body) => JSON.parse(body) as unknown)).toEqual([
      {
        error: 'You may not do this.',
        code: 'FORBIDDEN',
        reason: 'NO_PERMISSION',
        fix: 'Ask an administrator of this scope for a role that holds Authorization:Check.',
      },
    ]);
    for (const id of ['clara-7', viewer.email, 'nobody']) {
      const statements = await app.spent(() => ask(about(user(id)), reader));
      expect(statements, id).toEqual([]);
    }
    // With the right, the same question does look.
    expect((await app.spent(() => ask(about(user('clara-7'))))).join()).toContain('externalId');
  });

  it('has the attributes of the database, not those that the caller sends', async () => {
    const sign = { action: { name: 'sign' } };
    const promoted = { ...user('clara-7'), properties: { rank: 'chief', metadata: { rank: 'chief' } } };
    expect((await ask(about(promoted, sign))).body).toEqual({
      decision: false,
      context: { reason: 'CONDITION_NOT_MET', permission: 'invoice:sign' },
    });
    await join('Chief', { externalId: 'chief', rank: 'chief' });
    expect((await ask(about(user('chief'), sign))).body).toEqual({
      decision: true,
      context: { reason: 'ALLOWED_BY_CONDITION', permission: 'invoice:sign' },
    });
  });
});

/** The id of the key of a token. */
const idOfKey = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { jti: string }).jti;

describe('the question', () => {
  const decide = async (more: object) => (await ask(about(user(clara), more))).body['decision'];

  it('is about attributes of the resource, its id, the action and the context', async () => {
    const resource = (id: string, properties?: object) => ({
      resource: { type: 'invoice', id, ...(properties && { properties }) },
    });
    expect(await decide({ action: { name: 'approve' }, ...resource('1', { amount: 99 }) })).toBe(true);
    expect(await decide({ action: { name: 'approve' }, ...resource('1', { amount: 100 }) })).toBe(false);
    expect(await decide({ action: { name: 'approve' }, ...resource('1') })).toBe(false);
    // The member wins over a property of the same name.
    expect(await decide({ action: { name: 'archive' }, ...resource('42', { id: '7' }) })).toBe(true);
    expect(await decide({ action: { name: 'archive' }, ...resource('7', { id: '42' }) })).toBe(false);
    for (const soft of [true, false])
      expect(await decide({ action: { name: 'delete', properties: { soft } } })).toBe(soft);
    for (const region of ['eu', 'us'])
      expect(await decide({ action: { name: 'export' }, context: { region } })).toBe(region === 'eu');
  });

  it('names resources and actions as every other check does', async () => {
    expect(await decide({ resource: { type: ' INVOICE', id: '1' }, action: { name: 'Read ' } })).toBe(true);
    for (const [type, name] of [
      ['invoice', 'burn'],
      ['Invoice!', 'read'],
      ['', ''],
      ['__proto__', 'constructor'],
      ['x'.repeat(3000), 'read'],
    ])
      expect((await ask(about(user(clara), { resource: { type, id: '1' }, action: { name } }))).body).toEqual(
        {
          decision: false,
          context: { reason: 'NO_PERMISSION' },
        },
      );
  });

  it('never shows the condition and the attributes', async () => {
    const { body } = await ask(
      about(user(clara), {
        action: { name: 'approve' },
        resource: { type: 'invoice', id: '1', properties: { amount: 7 } },
      }),
      owner.token,
    );
    expect(body).toEqual({
      decision: true,
      context: { reason: 'ALLOWED_BY_CONDITION', permission: 'invoice:approve' },
    });
  });

  it.each<[string, object, string, string]>([
    [
      'a property _action',
      { resource: { type: 'a', id: '1', properties: { _action: 1 } } },
      'resource.properties._action',
      'not_allowed',
    ],
    [
      'a property _context',
      { resource: { type: 'a', id: '1', properties: { _context: {} } } },
      'resource.properties._context',
      'not_allowed',
    ],
    [
      'long properties',
      { resource: { type: 'a', id: '1', properties: { a: 'x'.repeat(65_536) } } },
      'resource.properties',
      'too_long',
    ],
    ['a long id', { resource: { type: 'a', id: 'x'.repeat(65_536) } }, 'resource.properties', 'too_long'],
    ['a long context', { context: { a: 'x'.repeat(65_536) } }, 'context', 'too_long'],
    [
      'long action properties',
      { action: { name: 'read', properties: { a: 'x'.repeat(65_536) } } },
      'action.properties',
      'too_long',
    ],
    [
      'parts that are long together',
      {
        resource: { type: 'a', id: '1', properties: { a: 'x'.repeat(40_000) } },
        context: { a: 'x'.repeat(40_000) },
      },
      'context',
      'too_long',
    ],
    [
      'deep properties',
      { resource: { type: 'a', id: '1', properties: nested(10) } },
      'resource.properties',
      'too_deep',
    ],
    ['a context that is deep where conditions read it', { context: nested(9) }, 'context', 'too_deep'],
    [
      'a number that JSON has rounded',
      { resource: { type: 'a', id: '1', properties: { n: 2 ** 53 } } },
      'resource.properties.n',
      'too_big',
    ],
    ['such a number in the context', { context: { a: { n: -(2 ** 60) } } }, 'context.a.n', 'too_small'],
    [
      'such a number of the action',
      { action: { name: 'read', properties: { n: 2 ** 60 } } },
      'action.properties.n',
      'too_big',
    ],
    ['no subject', { subject: undefined }, 'subject', 'required'],
    ['no action', { action: undefined }, 'action', 'required'],
    ['no resource', { resource: undefined }, 'resource', 'required'],
    ['a subject that is a text', { subject: 'clara' }, 'subject', 'type'],
    ['a subject without type', { subject: { id: 'x' } }, 'subject.type', 'required'],
    ['a subject without id', { subject: { type: 'user' } }, 'subject.id', 'required'],
    ['a null id', { subject: { type: 'user', id: null } }, 'subject.id', 'type'],
    ['an action without name', { action: {} }, 'action.name', 'required'],
    ['a number as name', { action: { name: 123 } }, 'action.name', 'type'],
    ['a resource without type', { resource: { id: '1' } }, 'resource.type', 'required'],
    ['a resource without id', { resource: { type: 'a' } }, 'resource.id', 'required'],
    ['a list as resource', { resource: [] }, 'resource', 'type'],
    [
      'a list as properties',
      { resource: { type: 'a', id: '1', properties: [] } },
      'resource.properties',
      'type',
    ],
    ['a text as context', { context: 'now' }, 'context', 'type'],
    ['null as context', { context: null }, 'context', 'type'],
  ])('is refused with %s', async (_, more, path, code) => {
    const { status, body } = await ask(about(user(clara), more));
    expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body['details']).toEqual(expect.arrayContaining([expect.objectContaining({ path, code })]));
  });

  it('may have any unknown member, whose meaning is nothing here', async () => {
    const scope = { tenant: 'organization', id: firm.organization.id };
    const strange = {
      ...about(
        { ...user(clara), identity: 1 },
        { action: { name: 'read', x: 1 }, resource: { type: 'invoice', id: '1', ownerID: 'x' } },
      ),
      scope,
      minRevision: 'x',
      dryRun: true,
      projectId: randomUUID(),
    };
    const url = `${base}/access/v1/evaluation?scopeId=x&tenant=account&scope=1&a=1&a=2`;
    expect((await post(app, gateway, url, strange)).body).toEqual(allowed);
  });
});

/** An object with this many levels. */
function nested(levels: number): object {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

describe('the request', () => {
  const url = () => `${base}/access/v1/evaluation`;

  it.each<[string, string, Record<string, string>, string]>([
    ['an empty body', '', {}, 'empty_body'],
    ['null', 'null', {}, 'empty_body'],
    ['broken JSON', '{"subject":', {}, 'malformed_json'],
    ['a prototype', '{"__proto__": {"a": 1}}', {}, 'malformed_json'],
    ['a list', '[]', {}, 'type'],
    ['a text', '"x"', {}, 'type'],
    ['deep JSON', `${'['.repeat(50)}${']'.repeat(50)}`, {}, 'too_deep'],
    ['a text body', '{}', { 'content-type': 'text/plain' }, 'malformed_json'],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 'malformed_json'],
    ['XML', '<a/>', { 'content-type': 'application/xml' }, 'malformed_json'],
    ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }, 'malformed_json'],
    ['a compressed body', '{}', { 'content-encoding': 'gzip' }, 'malformed_json'],
  ])('is refused with %s', async (_, payload, headers, code) => {
    const { status, body } = await post(app, gateway, url(), payload, headers);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body['details']).toEqual([expect.objectContaining({ path: '', code })]);
  });

  it('needs a valid token, before its body is looked at', async () => {
    for (const endpoint of ['evaluation', 'evaluations', 'search/subject', 'search/action']) {
      for (const token of [null, 'x.y.z']) {
        const { status, headers } = await ask('{', token, endpoint);
        expect([status, headers['www-authenticate']]).toEqual([
          401,
          token ? 'Bearer error="invalid_token"' : 'Bearer',
        ]);
      }
    }
  });

  it('may not be too large', async () => {
    expect((await ask({ a: 'x'.repeat(2_000_000) })).status).toBe(413);
  });

  it('gets its request id back, whatever its form; the log has one of the usual form', async () => {
    for (const id of ['a', 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716', '"{!~}"/?'.repeat(31), 'x'.repeat(255)]) {
      for (const body of [about(user(clara)), '{']) {
        const { headers } = await post(app, gateway, url(), body, { 'x-request-id': id });
        expect(headers['x-request-id']).toBe(id);
      }
    }
    const refused = await post(app, undefined, url(), {}, { 'x-request-id': '<script>' });
    expect(refused.headers['x-request-id']).toBe('<script>');
    expect(refused.body['requestId']).toMatch(/^[0-9a-f-]{36}$/);
    expect(app.logs.join()).not.toContain('<script>');
    for (const id of ['x'.repeat(256), 'a b', 'ü', '']) {
      const { headers } = await post(app, gateway, url(), about(user(clara)), { 'x-request-id': id });
      expect(headers['x-request-id'], id).toMatch(/^[0-9a-f-]{36}$/);
    }
    const elsewhere = await app.server.inject({ url: '/health', headers: { 'x-request-id': 'a' } });
    expect(elsewhere.headers['x-request-id']).not.toBe('a');
  });

  it('is answered raw, and not stored', async () => {
    const { body, headers } = await ask(about(user(clara)));
    expect(Object.keys(body)).toEqual(['decision', 'context']);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
  });
});

describe('the path', () => {
  it('is the scope; a foreign or unknown project, or another than that of the token, is a decision', async () => {
    const { project: other } = await firmOf(app);
    const mine = await app.must(
      'createProject',
      { scope: firm.organization, name: 'Second' },
      { token: owner.token },
    );
    const invalid = { decision: false, context: { reason: 'INVALID_SCOPE' } };
    const swapped = pathOf({ tenant: 'accountProject', id: firm.project.id });
    for (const path of [pathOf(other), pathOf(mine.scope), pathOf(nowhere('organizationProject')), swapped])
      for (const subject of [
        user(clara),
        { type: 'apiKey', id: idOfKey(gateway) },
        { type: 'group', id: '1' },
      ])
        expect((await ask(about(subject), gateway, 'evaluation', path)).body, path).toEqual(invalid);
    for (const subject of [user(stranger.userId), user(clara), user('clara-7')])
      expect((await ask(about(subject), stranger.token)).body).toEqual(invalid);
    const batch = await ask(
      { ...about(user(clara)), evaluations: [{}, { subject: 1 }] },
      stranger.token,
      'evaluations',
    );
    expect(batch.body['evaluations']).toEqual([invalid, expect.objectContaining({ decision: false })]);
    for (const token of [
      stranger.token,
      await keyToken(app, owner.token, mine.scope, roleIdOf('Project Admin')),
    ]) {
      for (const endpoint of ['search/subject', 'search/action']) {
        const { status, body } = await ask(about(user(clara)), token, endpoint);
        expect([status, body['code'], body['reason']]).toEqual([403, 'FORBIDDEN', 'INVALID_SCOPE']);
      }
    }
  });

  it('may be written in upper case, and must name two ids', async () => {
    const [, prefix, ownerId = '', , projectId = ''] = base.split('/');
    const path = `/${prefix}/${ownerId.toUpperCase()}/prj/${projectId.toUpperCase()}`;
    expect((await ask(about(user(clara)), gateway, 'evaluation', path)).body).toEqual(allowed);
    for (const at of [
      `/org/x/prj/${projectId}`,
      `/org/${ownerId}/prj/'--`,
      `/org/${ownerId}/prj/%00`,
      '/org//prj/',
    ]) {
      const { status, body } = await ask(about(user(clara)), gateway, 'evaluation', at);
      expect([status, body['code']], at).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('at the root is the scope of the token, which a session has not', async () => {
    expect((await ask(about(user(clara)), gateway, 'evaluation', '')).body).toEqual(allowed);
    const batch = { ...about(user(clara)), evaluations: [{}] };
    expect((await ask(batch, gateway, 'evaluations', '')).body).toEqual({ evaluations: [allowed] });
    expect((await ask(about(user('clara-7')), gateway, 'search/action', '')).status).toBe(200);
    expect((await ask(about(user('clara-7')), gateway, 'search/subject', '')).status).toBe(200);
    for (const endpoint of ['evaluation', 'evaluations', 'search/action', 'search/subject']) {
      const { status, body } = await ask(about(user(clara)), owner.token, endpoint, '');
      expect([status, body['code']]).toEqual([400, 'SCOPE_REQUIRED']);
      expect(body['fix']).toContain(`/access/v1/${endpoint}`);
    }
  });

  it('has no other methods, and no resource search', async () => {
    const get = await app.server.inject({ url: `${base}/access/v1/evaluation` });
    expect([get.statusCode, get.headers.allow]).toEqual([405, 'POST, OPTIONS']);
    for (const at of [base, '']) {
      for (const token of [gateway, null]) {
        const { status, body } = await ask(about(user(clara)), token, 'search/resource', at);
        expect([status, body['code']]).toEqual([404, 'NOT_FOUND']);
        expect(body['fix']).toMatch(/no resource search/);
      }
    }
    expect((await app.server.inject({ method: 'POST', url: '/nothing' })).json()).not.toHaveProperty('fix');
  });
});

describe('several questions', () => {
  const many = async (body: object, token = gateway) => {
    const answer = await ask(body, token, 'evaluations');
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body['evaluations'] as {
      decision: boolean;
      context: { error?: { status: number; code: string; message: string } };
    }[];
  };
  const action = (name: string) => ({ action: { name } });
  const decisions = async (body: object) => (await many(body)).map(({ decision }) => decision);

  it('replace whole members of the request', async () => {
    const request = about(user(clara), {
      action: { name: 'approve' },
      resource: { type: 'invoice', id: '1', properties: { amount: 1 } },
    });
    const other = { resource: { type: 'invoice', id: '2' } };
    expect(
      await decisions({ ...request, evaluations: [{}, other, { ...other, ...action('read') }] }),
    ).toEqual([true, false, true]);
    const incomplete = await many({
      ...request,
      evaluations: [{ resource: { id: '2', properties: { amount: 1 } } }],
    });
    expect(incomplete[0]?.context.error?.status).toBe(400);
  });

  it('end with the first refusal, or the first permit, if the request says so', async () => {
    const evaluations = [action('read'), action('burn'), action('read'), {}];
    const run = (evaluations_semantic?: string, items: object[] = evaluations) =>
      decisions({
        ...about(user(clara)),
        evaluations: items,
        options: { ...(evaluations_semantic && { evaluations_semantic }), other: 1 },
      });
    expect(await run()).toEqual([true, false, true, true]);
    expect(await run('execute_all')).toEqual([true, false, true, true]);
    expect(await run('deny_on_first_deny')).toEqual([true, false]);
    expect(await run('permit_on_first_permit')).toEqual([true]);
    expect(await run('permit_on_first_permit', [action('burn'), action('read'), {}])).toEqual([false, true]);
    // The error of a question is a refusal.
    expect(await run('deny_on_first_deny', [{ resource: 1 }, {}])).toEqual([false]);
    for (const options of [{ evaluations_semantic: 'first' }, { evaluations_semantic: 1 }, 'x', null, []]) {
      const { status } = await ask({ ...about(user(clara)), evaluations, options }, gateway, 'evaluations');
      expect(status, JSON.stringify(options)).toBe(400);
    }
  });

  it('fail one by one', async () => {
    const answers = await many({
      ...about(user(clara)),
      evaluations: [
        {},
        { subject: { type: 'user' } },
        null,
        7,
        [],
        { context: { a: 'x'.repeat(70_000) } },
        { resource: { type: 'invoice', id: '1', properties: { _context: 1 } } },
        { subject: user('nobody') },
        {},
      ],
    });
    expect(answers.map(({ decision }) => decision)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
      false,
      false,
      true,
    ]);
    const bad = { status: 400, code: 'VALIDATION_ERROR', message: 'The request is not valid.' };
    for (const index of [1, 2, 3, 4, 5, 6])
      expect(answers[index]).toEqual({ decision: false, context: { error: bad } });
    expect(answers[7]).toEqual(inactive);
  });

  it('about somebody who may not be asked about are refused one by one', async () => {
    const own = { type: 'apiKey', id: idOfKey(reader) };
    const request = { action: { name: 'Query' }, resource: { type: 'Role', id: '1' } };
    const answers = await many(
      {
        ...request,
        evaluations: [
          { subject: own },
          { subject: user(clara) },
          { subject: user('nobody') },
          { subject: own },
        ],
      },
      reader,
    );
    const refused = {
      decision: false,
      context: { error: { status: 403, code: 'FORBIDDEN', message: 'You may not do this.' } },
    };
    expect([answers[1], answers[2]]).toEqual([refused, refused]);
    expect([answers[0]?.decision, answers[3]?.decision]).toEqual([true, true]);
  });

  it('are at most a hundred, about different users, and look them up at once', async () => {
    const external = Array.from({ length: 99 }, (_, i) => ({
      subject: user(i % 2 ? 'clara-7' : `nobody-${i}`),
    }));
    const evaluations = [{ subject: user(viewer.email) }, ...external];
    const answers = await many({ ...about(user(clara)), evaluations });
    expect(answers.map(({ decision }) => decision)).toEqual([true, ...external.map((_, i) => i % 2 === 1)]);
    const statements = await app.spent(() => many({ ...about(user(clara)), evaluations }));
    expect(statements.filter((text) => !isFraming(text)).length).toBeLessThanOrEqual(2);
    const tooMany = await ask(
      { ...about(user(clara)), evaluations: [...evaluations, {}] },
      gateway,
      'evaluations',
    );
    expect([tooMany.status, tooMany.body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    for (const wrong of [{}, 'x', 1, null])
      expect((await ask({ ...about(user(clara)), evaluations: wrong }, gateway, 'evaluations')).status).toBe(
        400,
      );
  });

  it('share attributes that are large, without holding up other requests', async () => {
    const evaluations = Array.from({ length: 100 }, (_, i) => ({
      resource: { type: 'invoice', id: String(i) },
    }));
    const members = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i]));
    for (const [context, status] of [
      [members(30_000), 400],
      [{ text: 'x'.repeat(60_000) }, undefined],
      [members(5_000), undefined],
    ] as const) {
      const { result, blockedMs } = await leastToll(750, () =>
        many({ ...about(user(clara)), context, evaluations }),
      );
      expect(result.map((answer) => answer.context.error?.status)).toEqual(Array(100).fill(status));
      expect(blockedMs).toBeLessThan(750);
    }
  });

  it('cost one check each, and a single one costs one', async () => {
    // A Redis counts for both processes, and this key has not asked yet.
    const fresh = await keyToken(app, owner.token, firm.project, roleIdOf('Project Admin'));
    const limited = await startApp({ SECURITY_RATE_LIMIT_CHECK_MAX: '20' }, app);
    try {
      const remaining = async (body: object, endpoint: string) =>
        Number(
          /r=(\d+)/.exec(
            String((await post(limited, fresh, `${base}/access/v1/${endpoint}`, body)).headers['ratelimit']),
          )?.[1],
        );
      expect(await remaining(about(user(clara)), 'evaluation')).toBe(19);
      expect(await remaining(about(user(clara)), 'evaluations')).toBe(18);
      expect(await remaining({ ...about(user(clara)), evaluations: [{}, {}, {}] }, 'evaluations')).toBe(15);
      expect(await remaining(about(user(clara)), 'search/action')).toBe(5);
      const refused = await post(limited, fresh, `${base}/access/v1/search/subject`, about(user(clara)));
      expect([refused.status, refused.body['code']]).toEqual([429, 'RATE_LIMITED']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    } finally {
      await limited.close();
    }
  });
});

describe('members of the organization', () => {
  it('may ask about others with the right to check', async () => {
    const developer = await member(app, firm.organization.id, 'Organization Developer');
    expect((await ask(about(user('clara-7')), developer.token)).body).toEqual(allowed);
    const refused = await ask(about(user('clara-7')), viewer.token);
    expect([refused.status, refused.body['reason']]).toEqual([403, 'NO_PERMISSION']);
  });
});
