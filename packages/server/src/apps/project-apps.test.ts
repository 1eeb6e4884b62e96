import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';
import { storyTransports } from '../../test/support/cases/breadth.ts';
import type { Person, Via } from '../../test/support/app/client.ts';
import { member } from '../../test/contract/world.ts';
import { groupIdOf, roleIdOf } from '../schema/rights/built-in-ids.ts';
import { createKek } from '../crypto/keys/kek.ts';
import { SYSTEM_NODE } from '../schema/nodes.ts';
import { auditLog } from '../schema/events/audit-log-entry.ts';
import { events } from '../schema/events/event.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import { verifyAppSecret } from './access/app-secret.ts';
import { projectUserRoles, projectUsers } from '../schema/rights/membership.ts';
import { projectApps } from '../schema/apps/project-app.ts';

let app: TestApp;
let owner: Person;
let as: { token: string };
let organization: ScopeRef;
let scope: ScopeRef;
const redirectUris = ['https://app.example.test/callback'];
const nodeOf = ({ id }: ScopeRef): string => id.split(':').at(-1) as string;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
  const { id } = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as);
  organization = { tenant: 'organization', id };
  ({ scope } = await app.must('createProject', { scope: organization, name: 'P' }, as));
  await app.must(
    'createResource',
    { scope, name: 'Invoice', slug: 'invoice', actions: ['read', 'approve'], createPermissions: true },
    as,
  );
});
afterAll(() => app.close());

const developerOf = ({ id }: ScopeRef): Promise<Person> => member(app, id, 'Organization Developer');

/** A user of a project who is not a member of its organization, like a user who signed up to its app. */
async function participant(roleId: string, tenantId = nodeOf(scope)): Promise<Person> {
  const person = await app.person();
  const { userId } = person;
  const roleTenantId = roleId === roleIdOf('Project Viewer') ? SYSTEM_NODE : tenantId;
  await app.database.pool.insert(projectUsers).values({ tenantId, userId });
  await app.database.pool.insert(projectUserRoles).values({ tenantId, userId, roleId, roleTenantId });
  return person;
}

type Row = Record<string, unknown> & { id: string; clientId: string; clientSecret: string | null };

const eventsAbout = async (id: string) =>
  (await app.database.pool.select().from(events).orderBy(events.sequence))
    .map(({ body }) => body as { type: string; data: { id: string }; changes?: unknown })
    .filter(({ data }) => data.id === id);

const hashOf = async (id: string): Promise<Uint8Array> => {
  const [row] = await app.database.pool.select().from(projectApps).where(eq(projectApps.id, id));
  return row?.secretHash ?? new Uint8Array();
};

describe.each(storyTransports(import.meta))('over %s', (via: Via) => {
  const raw = (name: string, input: object, token = owner.token) =>
    app.raw(name, { scope, ...input }, { token, via });
  const done = async (name: string, input: object, token?: string) => {
    const answer = await raw(name, input, token);
    expect(answer.ok, answer.body).toBe(true);
    return answer.data as Row;
  };
  const create = (input: object = {}, token?: string) =>
    done('createProjectApp', { name: 'App', redirectUris, ...input }, token);
  /** Returns error code and first detail for a new app, and for an update of an existing app with the same input. */
  const refusals = async (input: object, token?: string) => {
    const { id } = await create();
    const made = await raw('createProjectApp', { name: 'App', redirectUris, ...input }, token);
    const changed = await raw('updateProjectApp', { id, ...input }, token);
    return [made, changed].map(({ code, details }) => [code, details?.[0]?.path, details?.[0]?.code]);
  };
  const twice = (...reported: unknown[]) => [reported, reported];

  it('creates, reads, lists, changes and deletes an app', async () => {
    const answer = await raw('createProjectApp', { name: 'Shop', redirectUris });
    if (via === 'rest') expect(answer.status).toBe(201);
    const { clientSecret, ...created } = answer.data as Row;
    expect(clientSecret).toBeNull();
    expect(created).toEqual({
      id: expect.any(String) as string,
      createdAt: expect.any(String) as string,
      updatedAt: expect.any(String) as string,
      deletedAt: null,
      projectId: nodeOf(scope),
      clientId: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ) as string,
      name: 'Shop',
      logoUrl: null,
      homepageUrl: null,
      primaryColor: null,
      senderName: null,
      texts: [],
      redirectUris,
      scopes: null,
      enabledProviders: ['email'],
      identityProviders: [],
      allowedOrigins: [],
      postLogoutRedirectUris: [],
      backchannelLogoutUri: null,
      allowSignUp: false,
      signUpRoleId: null,
      confidential: false,
      firstParty: false,
      accessTokenProfile: 'doorward',
      idTokenClaims: false,
      resources: [],
      registered: false,
      managed: null,
    });
    const { id } = created;
    expect(await done('projectApp', { id })).toEqual(created);

    const tag = await done('createTag', { name: `Customers over ${via}` });
    const patch = {
      name: 'Shop 2',
      idTokenClaims: true,
      logoUrl: 'https://app.example.test/logo.svg',
      homepageUrl: 'https://app.example.test/',
      primaryColor: '#0a7d5b',
      redirectUris: ['com.example.shop:/callback', 'http://127.0.0.1/callback'],
      scopes: ['invoice:read'],
      enabledProviders: ['github', 'email'],
      allowedOrigins: ['https://app.example.test', 'http://localhost:3000'],
      postLogoutRedirectUris: ['https://app.example.test/goodbye'],
      allowSignUp: true,
      signUpRoleId: roleIdOf('Project Viewer'),
    };
    const changed = await done('updateProjectApp', { id, ...patch, tagIds: [tag.id] });
    expect(changed).toMatchObject({ ...patch, clientId: created.clientId });
    const page = await done('projectApps', { tagIds: [tag.id], search: 'shop', sortField: 'name' });
    expect(page['items']).toMatchObject([{ id, name: 'Shop 2' }]);
    if (via === 'rest') {
      const read = await done('projectApp', { id, relations: ['tags', 'signUpRole'] });
      expect(read).toMatchObject({ tags: [{ id: tag.id }], signUpRole: { name: 'Project Viewer' } });
    }

    const reported = (await eventsAbout(id)).length;
    expect(await done('updateProjectApp', { id, ...patch })).toEqual(changed);
    expect(await eventsAbout(id)).toHaveLength(reported);
    expect(await done('deleteProjectApp', { id })).toMatchObject({ deletedAt: expect.any(String) as string });
    for (const name of ['projectApp', 'updateProjectApp', 'rotateProjectAppSecret', 'deleteProjectApp']) {
      expect((await raw(name, { id })).code, name).toBe('NOT_FOUND');
    }
    expect((await eventsAbout(id)).map(({ type }) => type)).toEqual([
      'project_app.created',
      'project_app.updated',
      'project_app.deleted',
    ]);
  });

  it('accepts well-formed addresses, names and colours, without duplicates and as typed', async () => {
    for (const [input, ...reported] of [
      [{ redirectUris: [] }, 'VALIDATION_ERROR', 'redirectUris', 'too_short'],
      [
        { redirectUris: Array<string>(21).fill(redirectUris[0] ?? '') },
        'VALIDATION_ERROR',
        'redirectUris',
        'too_long',
      ],
      [
        { redirectUris: [...redirectUris, 'https://*.example.test/'] },
        'VALIDATION_ERROR',
        'redirectUris.1',
        'format',
      ],
      [{ redirectUris: ['javascript:alert(1)'] }, 'VALIDATION_ERROR', 'redirectUris.0', 'format'],
      [{ enabledProviders: [] }, 'VALIDATION_ERROR', 'enabledProviders', 'required'],
      [{ logoUrl: 'http://app.example.test/logo.svg' }, 'VALIDATION_ERROR', 'logoUrl', 'format'],
      [{ homepageUrl: 'javascript:alert(1)' }, 'VALIDATION_ERROR', 'homepageUrl', 'format'],
      [{ primaryColor: 'red;background:url(//evil.example)' }, 'VALIDATION_ERROR', 'primaryColor', 'format'],
      [{ name: '' }, 'VALIDATION_ERROR', 'name', 'too_short'],
      ...[
        'null',
        '*',
        'https://*.example.test',
        'https://app.example.test/',
        'https://app.example.test/path',
        'https://app.example.test?',
        'https://ada@app.example.test',
        'https://app.example.test:65536',
        'http://app.example.test',
        'http://localhost.example.test',
        'com.example.shop:',
        'javascript:alert(1)',
      ].map(
        (origin) => [{ allowedOrigins: [origin] }, 'VALIDATION_ERROR', 'allowedOrigins.0', 'format'] as const,
      ),
      [
        { allowedOrigins: Array.from({ length: 21 }, (_, i) => `https://${i}.example.test`) },
        'VALIDATION_ERROR',
        'allowedOrigins',
        'too_long',
      ],
    ] as const) {
      expect(await refusals(input), JSON.stringify(input)).toEqual(twice(...reported));
    }
    const typed = ['https://APP.example.test/CallBack', 'https://APP.example.test/CallBack'];
    const enabledProviders = ['github', 'github'];
    const created = await create({ redirectUris: typed, enabledProviders });
    expect(created).toMatchObject({ redirectUris: [typed[0]], enabledProviders: ['github'] });
    const { id } = created;
    const origins = ['https://APP.example.test:443', 'https://app.example.test', 'http://[::1]:8080'];
    expect((await done('updateProjectApp', { id, allowedOrigins: origins }))['allowedOrigins']).toEqual([
      'https://app.example.test',
      'http://[::1]:8080',
    ]);
    expect((await raw('updateProjectApp', { id, confidential: true })).ok).toBe(false);
    expect((await done('projectApp', { id }))['confidential']).toBe(false);
  });

  it('accepts scopes of its project, and stores their own spelling', async () => {
    const typed = ['INVOICE:Read', ' invoice:read ', 'ApiKey:query', 'invoice:approve'];
    expect((await create({ scopes: typed }))['scopes']).toEqual([
      'invoice:read',
      'ApiKey:Query',
      'invoice:approve',
    ]);
    expect((await create({ scopes: [] }))['scopes']).toEqual([]);
    for (const [name, code] of [
      ['invoice', 'enum'],
      ['invoice:', 'enum'],
      ['invoice:delete', 'enum'],
      ['invoice:read:all', 'enum'],
      ['invoice :read', 'enum'],
      ['invoice:*', 'enum'],
      ['*', 'enum'],
      ['apikey:query', 'enum'],
      ['ApiKey:Invent', 'enum'],
      ['Organization:Query', 'not_allowed'],
      ['', 'too_short'],
    ]) {
      const reported = ['VALIDATION_ERROR', 'scopes.1', code];
      expect(await refusals({ scopes: ['invoice:read', name] }), name).toEqual(twice(...reported));
    }
    const many = Array.from({ length: 101 }, () => 'invoice:read');
    expect(await refusals({ scopes: many })).toEqual(twice('VALIDATION_ERROR', 'scopes', 'too_long'));
  });

  it('keeps a scope whose permission was deleted, but refuses it as a new one', async () => {
    const slug = `passing-${via}`;
    const { id: resourceId } = await done('createResource', { name: 'Passing', slug, actions: ['read'] });
    const permission = await done('createPermission', { resourceId, action: 'read' });
    const { id } = await create({ scopes: [`${slug}:read`] });
    await done('deletePermission', { id: permission.id });
    const scopes = ['invoice:read', `${slug}:read`];
    expect((await done('updateProjectApp', { id, scopes }))['scopes']).toEqual(scopes);
    expect((await done('updateProjectApp', { id, scopes: ['invoice:read'] }))['scopes']).toEqual([
      'invoice:read',
    ]);
    const again = await raw('updateProjectApp', { id, scopes });
    expect([again.code, again.details[0]?.path]).toEqual(['VALIDATION_ERROR', 'scopes.1']);
  });

  it('refuses a scope that the caller does not hold', async () => {
    const developer = await developerOf(organization);
    // A developer holds all permissions on the project's own resources, but not those on the audit log.
    const { id } = await create({ scopes: ['invoice:read', 'Role:Query'] }, developer.token);
    const wanted = twice('PRIVILEGE_ESCALATION', 'AuditLog:Query', 'permission');
    expect(await refusals({ scopes: ['invoice:read', 'AuditLog:Query'] }, developer.token)).toEqual(wanted);
    await done('updateProjectApp', { id, scopes: ['AuditLog:Query', 'invoice:read'] });
    // Existing scopes may stay, be reordered and be removed; a removed one counts as new.
    const change = (scopes: string[] | null) => raw('updateProjectApp', { id, scopes }, developer.token);
    expect((await change(['invoice:approve', 'AuditLog:Query'])).ok).toBe(true);
    expect((await change(['invoice:approve'])).ok).toBe(true);
    expect((await change(['invoice:approve', 'AuditLog:Query'])).code).toBe('PRIVILEGE_ESCALATION');
    // An unrestricted app counts as having the project plane, but not the management plane.
    expect((await change(null)).ok).toBe(true);
    expect((await change(['AuditLog:Query'])).code).toBe('PRIVILEGE_ESCALATION');

    const groupIds = [groupIdOf('ProjectApp', 'manage')];
    const { id: roleId } = await done('createRole', { name: 'App keeper', groupIds });
    const keeper = await participant(roleId);
    expect(await refusals({ scopes: ['ProjectApp:Query', 'Role:Query'] }, keeper.token)).toEqual(
      twice('PRIVILEGE_ESCALATION', 'Role:Query', 'permission'),
    );
    const made = await raw(
      'createProjectApp',
      { name: 'A', redirectUris, scopes: ['invoice:read'] },
      keeper.token,
    );
    expect(made.code).toBe('PRIVILEGE_ESCALATION');
    const open = await create({}, keeper.token);
    const narrowed = await done('updateProjectApp', { id: open.id, scopes: ['invoice:read'] }, keeper.token);
    expect(narrowed['scopes']).toEqual(['invoice:read']);
  });

  it('accepts only a sign-up role that the caller holds', async () => {
    const viewer = roleIdOf('Project Viewer');
    const admin = roleIdOf('Project Admin');
    for (const without of [{ allowSignUp: true }, { allowSignUp: true, signUpRoleId: null }]) {
      expect(await refusals(without)).toEqual(twice('VALIDATION_ERROR', 'signUpRoleId', 'required'));
    }
    const other = await app.must('createProject', { scope: organization, name: 'Q' }, as);
    const foreign = await app.must('createRole', { scope: other.scope, name: 'R' }, as);
    const above = await app.must('createRole', { scope: organization, name: 'R' }, as);
    const strange = [
      viewer.replace(/^.{8}/, '00000000'),
      roleIdOf('Organization Viewer'),
      foreign.id,
      above.id,
    ];
    for (const signUpRoleId of strange) {
      expect(await refusals({ allowSignUp: true, signUpRoleId }), signUpRoleId).toEqual(
        twice('NOT_FOUND', undefined, undefined),
      );
    }

    const { id } = await create({ allowSignUp: true, signUpRoleId: viewer });
    const change = (input: object, token?: string) => raw('updateProjectApp', { id, ...input }, token);
    expect((await change({ signUpRoleId: null })).details).toMatchObject([
      { path: 'signUpRoleId', code: 'required' },
    ]);
    expect((await change({ allowSignUp: false, signUpRoleId: null })).ok).toBe(true);
    expect((await change({ allowSignUp: true })).details).toMatchObject([
      { path: 'signUpRoleId', code: 'required' },
    ]);
    expect((await change({ signUpRoleId: admin })).ok).toBe(true);

    const developer = await developerOf(organization);
    expect((await refusals({ signUpRoleId: admin }, developer.token)).map(([code]) => code)).toEqual([
      'PRIVILEGE_ESCALATION',
      'PRIVILEGE_ESCALATION',
    ]);
    // Allowing sign-up with an existing role delegates it.
    expect((await change({ allowSignUp: true }, developer.token)).code).toBe('PRIVILEGE_ESCALATION');
    expect((await change({ allowSignUp: true })).ok).toBe(true);
    expect(
      (await change({ name: 'Renamed', allowSignUp: true, signUpRoleId: admin }, developer.token)).ok,
    ).toBe(true);
    expect((await change({ allowSignUp: false }, developer.token)).ok).toBe(true);
    expect((await change({ allowSignUp: true, signUpRoleId: viewer }, developer.token)).ok).toBe(true);
  });

  it('keeps the sign-up role from being deleted', async () => {
    const role = await done('createRole', { name: 'Newcomer' });
    const { id } = await create({ signUpRoleId: role.id });
    const refused = await raw('deleteRole', { id: role.id });
    expect([refused.code, refused.details]).toMatchObject(['IN_USE', [{ path: 'apps', code: 'in_use' }]]);
    expect(refused.body).toContain('1 apps');
    await done('deleteProjectApp', { id });
    expect((await raw('deleteRole', { id: role.id })).ok).toBe(true);
    const late = await raw('createProjectApp', { name: 'A', redirectUris, signUpRoleId: role.id });
    expect(late.code).toBe('NOT_FOUND');
  });

  it('shows the secret of a confidential app once, and refuses the former one at once', async () => {
    const { id, clientSecret } = await create({ confidential: true });
    const secret = clientSecret ?? '';
    expect(secret).toMatch(/^dws_[A-Za-z0-9_-]{46}[0-9A-Za-z]{6}$/);
    const { kek } = app.app;
    const first = await hashOf(id);
    expect(verifyAppSecret({ kek }, first, secret)).toEqual({ isMatch: true, rehash: null });
    const before = (await done('projectApp', { id }))['updatedAt'] as string;

    const rotated = await done('rotateProjectAppSecret', { id });
    const second = await hashOf(id);
    const judged = (given: string | null) => verifyAppSecret({ kek }, second, given ?? '').isMatch;
    expect([judged(secret), judged(rotated.clientSecret), judged('')]).toEqual([false, true, false]);
    expect(Date.parse(rotated['updatedAt'] as string)).toBeGreaterThanOrEqual(Date.parse(before));

    const reported = await eventsAbout(id);
    expect(reported.map(({ type }) => type)).toEqual(['project_app.created', 'project_app.updated']);
    const entries = (await app.database.pool.select().from(auditLog).orderBy(auditLog.sequence)).filter(
      ({ target }) => (target as { id?: string } | null)?.id === id,
    );
    expect(entries.map(({ operation }) => operation)).toEqual(['createProjectApp', 'rotateProjectAppSecret']);
    const read = await done('projectApps', { ids: [id] });
    for (const place of [reported, entries, read, await done('projectApp', { id })]) {
      const text = JSON.stringify(place);
      for (const item of [secret, rotated.clientSecret ?? '', 'secretHash', 'clientSecret']) {
        expect(text).not.toContain(item);
      }
    }
    const publicApp = await create();
    expect((await raw('rotateProjectAppSecret', { id: publicApp.id })).code).toBe('INVALID_STATE');
  });
});

it('replays a create with an idempotency key, but without the secret', async () => {
  const input = { scope, name: 'Once', redirectUris, confidential: true };
  const once = { ...as, headers: { 'idempotency-key': 'one-app' } };
  const first = await app.must('createProjectApp', input, once);
  const again = await app.must('createProjectApp', input, once);
  expect(first.clientSecret).toMatch(/^dws_/);
  expect(again).toEqual({ ...first, clientSecret: null });
});

it('accepts a secret hashed with a former key, and replaces its hash', async () => {
  const { id, clientSecret } = await app.must(
    'createProjectApp',
    { scope, name: 'Old', redirectUris, confidential: true },
    as,
  );
  const secret = clientSecret ?? '';
  const stored = await hashOf(id);
  const [current, former] = [Buffer.alloc(32, 9), Buffer.alloc(32, 7)];
  const kek = createKek({ current, old: [former] });
  const { isMatch, rehash } = verifyAppSecret({ kek }, stored, secret);
  expect(isMatch).toBe(true);
  const fresh = { kek: createKek({ current, old: [] }) };
  expect(verifyAppSecret(fresh, rehash ?? new Uint8Array(), secret)).toEqual({
    isMatch: true,
    rehash: null,
  });
  expect(verifyAppSecret(fresh, stored, secret)).toEqual({ isMatch: false, rehash: null });
  expect(verifyAppSecret({ kek }, stored, `${secret}x`)).toEqual({ isMatch: false, rehash: null });
});
