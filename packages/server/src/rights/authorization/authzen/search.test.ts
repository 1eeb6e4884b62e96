import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../../../test/contract/world.ts';
import { startOwnApp, type TestApp } from '../../../../test/support/app/app.ts';
import { createPolicy, pathOf, post } from '../../../../test/support/tenants/authzen.ts';
import { firmOf, type Firm } from '../../../../test/support/tenants/firm.ts';
import { roleIdOf } from '../../../schema/rights/built-in-ids.ts';

/** Searches (authzen §4): who may ask, what is found, and how it goes on. The payloads of the scenario: interop.test.ts. */
let app: TestApp;
let firm: Firm;
let gateway: string;
let roles: Record<string, string>;
let base: string;
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startOwnApp();
  firm = await firmOf(app);
  const { project: scope, owner } = firm;
  base = pathOf(scope);
  gateway = await keyToken(app, owner.token, scope, roleIdOf('Project Admin'));
  roles = await createPolicy(app, owner.token, scope, {
    clerk: { invoice: { read: null, approve: { Equals: { 'resource.dept': 'sales' } }, close: null } },
  });
  for (const [name, metadata] of [
    ['plain', {}],
    ['named', { externalId: 'named' }],
    ['twin', { externalId: 'twin' }],
    ['other twin', { externalId: 'twin' }],
    ['mail-like', { externalId: 'a@example.test' }],
    ['id-like', { externalId: '01890000-0000-7000-8000-000000000000' }],
    ['number', { externalId: 7 }],
  ] as const) {
    const input = { scope, name, metadata, roleIds: [roles['clerk']] };
    ids[name] = (await app.must('createUser', input as never, { token: owner.token })).id;
  }
}, 120_000);
afterAll(() => app.close());

const search = (endpoint: string, body: object, token = gateway, at = base) =>
  post(app, token, `${at}/access/v1/search/${endpoint}`, body);
const invoice = (properties?: object) => ({ type: 'invoice', id: '42', ...(properties && { properties }) });
const readers = { subject: { type: 'user' }, action: { name: 'read' }, resource: invoice() };
const named = { subject: { type: 'user', id: 'named' }, resource: invoice() };

interface Page {
  readonly next_token: string;
  readonly count: number;
}

/** All results, page by page. */
async function all(endpoint: string, body: object, limit: number) {
  const results: unknown[] = [];
  const sizes: number[] = [];
  let token: string | undefined;
  do {
    const answer = await search(endpoint, { ...body, page: { limit, ...(token && { token }) } });
    expect(answer.status).toBe(200);
    const { page, results: onPage } = answer.body as { page: Page; results: unknown[] };
    expect(page.count).toBe(onPage.length);
    sizes.push(onPage.length);
    results.push(...onPage);
    token = page.next_token;
  } while (token !== '');
  return { results, sizes };
}

describe('a subject search', () => {
  it('names users by their externalId, if it names nobody else, else by their id', async () => {
    const { status, body } = await search('subject', readers);
    expect(status).toBe(200);
    const expected = ['plain', 'twin', 'other twin', 'mail-like', 'id-like', 'number'].map(
      (name) => ids[name] ?? '',
    );
    const results = body['results'] as { type: string; id: string }[];
    expect(results.map(({ id }) => id).sort()).toEqual([...expected, 'named'].sort());
    // Each name is one by which the user can be asked about.
    for (const { type, id } of results) {
      const question = { ...readers, subject: { type, id } };
      const { body: answer } = await post(app, gateway, `${base}/access/v1/evaluation`, question);
      expect(answer['decision'], id).toBe(true);
    }
  });

  it('ignores the id of the subject, and finds no other types', async () => {
    const { body } = await search('subject', readers);
    for (const id of ['named', 7, {}])
      expect((await search('subject', { ...readers, subject: { type: 'user', id } })).body).toEqual(body);
    for (const type of ['apiKey', 'spaceship', '']) {
      const other = await search('subject', { ...readers, subject: { type } });
      expect([other.status, other.body]).toEqual([200, { results: [], page: { next_token: '', count: 0 } }]);
    }
  });

  it('decides with the attributes of the request', async () => {
    const approvers = async (resource: object) =>
      (await search('subject', { ...readers, action: { name: 'approve' }, resource })).body['page'];
    expect(await approvers(invoice({ dept: 'sales' }))).toEqual({ next_token: '', count: 7 });
    expect(await approvers(invoice({ dept: 'legal' }))).toEqual({ next_token: '', count: 0 });
  });

  it('needs Authorization:Check and User:Query', async () => {
    const { project: scope, owner } = firm;
    const checker = await firm.user({}, 'Authorization:Check');
    for (const [token, reason] of [
      [await keyToken(app, owner.token, scope, roleIdOf('Project Viewer')), 'NO_PERMISSION'],
      [(await firm.member('Organization Viewer')).token, 'NO_PERMISSION'],
    ]) {
      const { status, body } = await search('subject', readers, token);
      expect([status, body['reason']]).toEqual([403, reason]);
    }
    // The role of the organization lets this user query others.
    expect((await search('subject', readers, checker.token)).status).toBe(200);
    const lonely = await app.person();
    await app.database.pool.execute(
      sql`insert into project_users (tenant_id, user_id) values (${firm.projectId}::uuid, ${lonely.userId}::uuid)`,
    );
    const role = await firm.role(scope, 'Authorization:Check');
    await app.must(
      'updateUser',
      { scope, id: lonely.userId, roleIds: [role.roleId] },
      { token: owner.token },
    );
    const refused = await search('subject', readers, lonely.token);
    expect([refused.status, refused.body['code']]).toEqual([403, 'FORBIDDEN']);
  });

  it('works for the key of an organization at the root', async () => {
    const { organization: scope, owner } = firm;
    const machine = {
      scope,
      kind: 'service' as const,
      name: 'Machine',
      roleIds: [roleIdOf('Organization Admin')],
    };
    const { id: userId } = await app.must('createUser', machine, { token: owner.token });
    const token = await keyToken(app, owner.token, scope, undefined, userId);
    const members = {
      subject: { type: 'user' },
      action: { name: 'Remove' },
      resource: { type: 'OrganizationMember', id: '1' },
    };
    const { status, body } = await search('subject', members, token, '');
    expect(status).toBe(200);
    expect((body['results'] as { id: string }[]).map(({ id }) => id)).toContain(owner.userId);
    expect((await search('subject', readers, token)).status).toBe(200);
  });
});

describe('an action search', () => {
  it('decides about every action with the attributes of the request', async () => {
    const names = async (body: object) =>
      ((await search('action', body)).body['results'] as { name: string }[]).map(({ name }) => name);
    expect(await names(named)).toEqual(['close', 'read']);
    expect(await names({ ...named, resource: invoice({ dept: 'sales' }) })).toEqual([
      'approve',
      'close',
      'read',
    ]);
    expect(
      await names({ ...named, action: { name: 'read' }, resource: { type: ' INVOICE ', id: '1' } }),
    ).toEqual(['close', 'read']);
    for (const type of ['order', '', '__proto__', 'Role'])
      expect(await names({ ...named, resource: { type, id: '1' } })).toEqual([]);
    for (const subject of [
      { type: 'user', id: 'nobody' },
      { type: 'group', id: 'named' },
    ])
      expect(await names({ ...named, subject })).toEqual([]);
  });

  it('about another user needs Authorization:Check, about the token itself nothing', async () => {
    const person = await firm.member('Organization Viewer');
    const own = { subject: { type: 'user', id: person.userId }, resource: { type: 'Role', id: '1' } };
    const answer = await search('action', own, person.token);
    expect([answer.status, answer.body['results']]).toEqual([200, [{ name: 'Query' }]]);
    for (const id of ['named', 'nobody']) {
      const refused = await search('action', { ...named, subject: { type: 'user', id } }, person.token);
      expect([refused.status, refused.body['reason']]).toEqual([403, 'NO_PERMISSION']);
    }
  });
});

describe('the pages', () => {
  it('go on until the token is empty, without a gap or a repetition', async () => {
    const whole = await search('subject', readers);
    const inPages = await all('subject', readers, 3);
    expect(inPages.results).toEqual(whole.body['results']);
    expect(Math.max(...inPages.sizes)).toBe(3);
    const actions = await all('action', { ...named, resource: invoice({ dept: 'sales' }) }, 1);
    expect(actions).toEqual({
      results: [{ name: 'approve' }, { name: 'close' }, { name: 'read' }],
      sizes: [1, 1, 1],
    });
  });

  it('belong to the entities, the limit and the caller that they were made for', async () => {
    const other = await keyToken(app, firm.owner.token, firm.project, roleIdOf('Project Admin'));
    for (const [endpoint, body] of [
      ['subject', readers],
      ['action', named],
    ] as const) {
      const first = await search(endpoint, { ...body, page: { limit: 1 } });
      const token = (first.body['page'] as Page).next_token;
      expect(token).not.toBe('');
      const page = { limit: 1, token };
      for (const changed of [
        { ...body, resource: { ...body.resource, id: '43' }, page },
        { ...body, resource: { ...body.resource, properties: { a: 1 } }, page },
        { ...body, context: { a: 1 }, page },
        { ...body, page: { token } },
        { ...body, page: { limit: 2, token } },
        { ...body, page: { limit: 1, token: `${token}x` } },
        { ...body, page: { limit: 1, token: 'x' } },
        { ...body, page: { limit: 1, token: '.' } },
      ]) {
        const { status, body: refused } = await search(endpoint, changed);
        expect([status, refused['code']], JSON.stringify(changed)).toEqual([400, 'INVALID_CURSOR']);
      }
      expect((await search(endpoint, { ...body, page }, other)).body['code']).toBe('INVALID_CURSOR');
      expect(
        (
          await search(endpoint === 'subject' ? 'action' : 'subject', {
            ...named,
            ...readers,
            subject: named.subject,
            page,
          })
        ).body['code'],
      ).toBe('INVALID_CURSOR');
      expect((await search(endpoint, { ...body, page: { ...page, properties: { x: 1 } } })).status).toBe(200);
    }
  });

  it('have a limit, of which a hundred is the most', async () => {
    for (const limit of [100, 101, 1_000_000])
      expect((await search('subject', { ...readers, page: { limit } })).status).toBe(200);
    for (const page of [
      { limit: 0 },
      { limit: -1 },
      { limit: 1.5 },
      { limit: '1' },
      { limit: null },
      { token: 1 },
      { token: 'x'.repeat(2000) },
      'x',
      [],
      null,
    ])
      expect((await search('subject', { ...readers, page })).status, JSON.stringify(page)).toBe(400);
    expect((await search('subject', { ...readers, page: { token: '' } })).status).toBe(200);
  });

  it('are asked for with everything that is required', async () => {
    for (const [endpoint, body] of [
      ['subject', { ...readers, subject: undefined }],
      ['subject', { ...readers, action: undefined }],
      ['subject', { ...readers, resource: { type: 'invoice' } }],
      ['subject', { ...readers, subject: {} }],
      ['action', { ...named, subject: { type: 'user' } }],
      ['action', { ...named, resource: undefined }],
      ['action', { ...named, resource: { type: 'invoice', id: '1', properties: { _action: 1 } } }],
      ['subject', { ...readers, context: { a: 'x'.repeat(70_000) } }],
    ] as const) {
      const { status, body: refused } = await search(endpoint, body);
      expect([status, refused['code']], JSON.stringify(body).slice(0, 200)).toEqual([
        400,
        'VALIDATION_ERROR',
      ]);
    }
  });
});

describe('the search for an externalId', () => {
  it('uses an index, however many members there are', async () => {
    await app.owner.execute(`
      insert into users (id, name) select gen_random_uuid(), 'Many ' || n from generate_series(1, 3000) n`);
    await app.owner.execute(`
      insert into project_users (tenant_id, user_id, metadata)
      select '${firm.projectId}', id, jsonb_build_object('externalId', name) from users where name like 'Many %'`);
    await app.owner.execute('analyze project_users');
    const plan = (await app.owner.execute(`
      explain select t.user_id from project_users t where t.tenant_id = '${firm.projectId}'
        and jsonb_typeof(t.metadata -> 'externalId') = 'string' and char_length(t.metadata ->> 'externalId') <= 255
        and (t.metadata ->> 'externalId') = 'Many 7' limit 21`)) as { rows: Record<string, string>[] };
    const text = plan.rows.map((row) => Object.values(row).join()).join('\n');
    expect(text).toContain('project_users_external_id');
    const { body } = await post(app, gateway, `${base}/access/v1/evaluation`, {
      ...readers,
      subject: { type: 'user', id: 'Many 7' },
    });
    expect(body['context']).toEqual({ reason: 'NO_PERMISSION' });
  });

  it('finds nobody if more members have it than are looked at', async () => {
    await app.owner.execute(`
      update project_users set metadata = '{"externalId": "crowd"}'
      where user_id in (select id from users where name between 'Many 100' and 'Many 129')`);
    const { body } = await post(app, gateway, `${base}/access/v1/evaluation`, {
      ...readers,
      subject: { type: 'user', id: 'crowd' },
    });
    expect(body['context']).toEqual({ reason: 'SUBJECT_INACTIVE' });
  });
});
