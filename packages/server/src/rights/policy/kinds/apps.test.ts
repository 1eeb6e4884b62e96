import { eq, sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken, member } from '../../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../../test/support/app/app.ts';
import { storyTransports } from '../../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../../test/support/app/client.ts';
import { firmOf } from '../../../../test/support/tenants/firm.ts';
import { verifyAppSecret } from '../../../apps/access/app-secret.ts';
import { logos } from '../../../schema/tenants/logo.ts';
import { sessions } from '../../../schema/sign-in/session.ts';
import { ProjectApp, projectApps } from '../../../schema/apps/project-app.ts';
import { WebhookSubscription } from '../../../schema/webhooks/webhook-subscription.ts';
import type { ScopeRef } from '../../../kernel/scope.ts';

/** Apps are part of the document; it gives them no right and no freedom that their own operations would refuse. */
let app: TestApp;
let owner: Person;
const asked: string[] = [];

beforeAll(async () => {
  app = await startApp({ SECURITY_STEP_UP_MAX_AGE_MINUTES: '5' }, undefined, {
    resolve: (name) => {
      asked.push(name);
      return Promise.resolve([name.startsWith('internal') ? '10.0.0.1' : '93.184.215.14']);
    },
  });
  owner = await app.person();
});
afterAll(() => app.close());

interface Project {
  readonly id: string;
  readonly scope: ScopeRef;
}
const newProject = async (): Promise<Project> => {
  const input = { scope: owner.account, name: `P ${unique()}` };
  const { id, scope } = await app.must('createProject', input, { token: owner.token });
  return { id, scope };
};

const redirectUris = ['https://portal.example.test/callback'];
const rights = {
  resources: { invoice: { actions: ['read', 'approve'] } },
  permissions: { 'invoice:read': {}, 'approve own': { resource: 'invoice', action: 'approve' } },
  groups: { Billing: { permissions: ['invoice:read'] } },
  roles: { Clerk: { groups: ['Billing'] } },
};
const Portal = { redirectUris, scopes: ['invoice:read'], signUpRole: 'Clerk', allowSignUp: true };
const withApps = (apps: object, more: object = {}) => ({ version: 1, ...rights, apps, ...more });

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = (token = owner.token) => ({ token, via });
  const plan = ({ id, scope }: Project, policy: object, more: object = {}, token = owner.token) =>
    app.must('planPolicy', { id, scope, policy: policy as never, ...more }, as(token));
  const applied = async (project: Project, policy: object, more: object = {}, token = owner.token) => {
    const { version, number } = await app.must('policy', project, as(token));
    const ifVersion = number === null ? null : version;
    return app.call('applyPolicy', { ...project, policy: policy as never, ifVersion, ...more }, as(token));
  };
  const appsOf = async ({ scope }: Project, token = owner.token) =>
    (await app.must('projectApps', { scope }, as(token))).items;

  it('are planned, applied with their secret, exported, and change nothing the second time', async () => {
    const project = await newProject();
    const policy = withApps({
      Portal,
      Server: { redirectUris, confidential: true, scopes: null, idTokenClaims: true },
    });
    const planned = await plan(project, policy);
    expect(planned.changes.map(({ kind, key, action }) => `${action} ${kind} ${key}`).slice(-3)).toEqual([
      'create roles Clerk',
      'create apps Portal',
      'create apps Server',
    ]);
    expect(planned.blocked).toEqual([]);
    expect(await appsOf(project)).toEqual([]);

    const headers = { 'idempotency-key': unique() };
    const input = { ...project, policy: policy as never, ifVersion: null };
    const first = await app.call('applyPolicy', input, { ...as(), headers });
    expect(first.data.secrets).toEqual([
      { kind: 'apps', key: 'Server', secret: expect.any(String) as string },
    ]);
    const replayed = await app.call('applyPolicy', input, { ...as(), headers });
    expect(replayed.data).toMatchObject({ secrets: null });

    const rows = await appsOf(project);
    const role = (await app.must('roles', { scope: project.scope, isSystem: false }, as())).items[0];
    expect(rows).toMatchObject([
      { name: 'Portal', redirectUris, scopes: ['invoice:read'], signUpRoleId: role?.id, managed: 'policy' },
      { name: 'Server', confidential: true, scopes: null, signUpRoleId: null, idTokenClaims: true },
    ]);
    const [stored] = await app.database.pool
      .select()
      .from(projectApps)
      .where(eq(projectApps.id, rows[1]?.id ?? ''));
    const secret = first.data.secrets?.[0]?.secret ?? '';
    expect(verifyAppSecret(app.app, stored?.secretHash ?? new Uint8Array(), secret).isMatch).toBe(true);

    const exported = await app.must('policy', project, as());
    expect(exported.document).toMatchObject({
      apps: { Portal, Server: { confidential: true, idTokenClaims: true } },
    });
    expect((await plan(project, exported.document)).changes).toEqual([]);
    expect((await applied(project, policy)).data).toMatchObject({ applied: null, secrets: [] });
    const { items } = await app.must('auditLogs', { scope: project.scope, limit: 100 }, as());
    expect(JSON.stringify(items)).not.toContain(secret);
    expect(items.map(({ event }) => event)).toContain('project_app.created');
  });

  it('of a document that was stored before they had a member have it with its default', async () => {
    const project = await newProject();
    await applied(project, withApps({ Portal }));
    await app.database.pool.execute(
      sql`update policy_documents set document = document #- '{apps,Portal,resources}' #- '{apps,Portal,firstParty}'
        where tenant_id = ${project.id}::uuid`,
    );
    expect((await plan(project, withApps({ Portal }))).drift).toEqual([]);
    expect((await app.must('planPolicy', { ...project, number: 1 }, as())).changes).toEqual([]);
  });

  it('keep client id and secret when they are adopted, renamed and changed', async () => {
    const project = await newProject();
    const { scope } = project;
    const input = { scope, name: 'Portal', redirectUris, confidential: true };
    const made = await app.must('createProjectApp', input, as());
    const confidential = { ...Portal, confidential: true };
    const adopted = await applied(project, withApps({ Portal: confidential }));
    expect(adopted.data.secrets).toEqual([]);
    const moved = { ...confidential, renamedFrom: 'Portal', redirectUris: ['https://new.example.test/cb'] };
    expect((await applied(project, withApps({ Web: moved }))).ok).toBe(true);
    expect(await appsOf(project)).toMatchObject([
      { id: made.id, clientId: made.clientId, name: 'Web', redirectUris: ['https://new.example.test/cb'] },
    ]);
    const [stored] = await app.database.pool.select().from(projectApps).where(eq(projectApps.id, made.id));
    const hash = stored?.secretHash ?? new Uint8Array();
    expect(verifyAppSecret(app.app, hash, made.clientSecret ?? '').isMatch).toBe(true);

    await app.must('updateProjectApp', { scope, id: made.id, allowSignUp: false }, as());
    const { drift } = await plan(project, withApps({ Web: { ...moved, renamedFrom: undefined } }));
    expect(drift).toEqual([{ kind: 'apps', key: 'Web', fields: { allowSignUp: { from: true, to: false } } }]);
    const { version: ifVersion } = await app.must('policy', project, as());
    const back = { ...project, number: 1, ifVersion, allowDelete: true };
    const rolledBack = await app.must('rollbackPolicy', back, as());
    expect(rolledBack.secrets).toMatchObject([{ kind: 'apps', key: 'Portal' }]);
    expect(await appsOf(project)).toMatchObject([{ name: 'Portal', redirectUris }]);
  });

  it('keep their sender name and texts, which are in no document', async () => {
    const project = await newProject();
    const texts = [
      { purpose: 'signInMail', language: 'en', subject: 'Hello from {app}', text: 'Hello!' },
    ] as const;
    const brand = { senderName: 'The portal', texts: [...texts] };
    await app.must(
      'createProjectApp',
      { scope: project.scope, name: 'Portal', redirectUris, ...brand },
      as(),
    );
    expect((await applied(project, withApps({ Portal }))).ok).toBe(true);
    expect(await appsOf(project)).toMatchObject([{ managed: 'policy', ...brand }]);
    const { document } = await app.must('policy', project, as());
    expect((document.apps as Record<string, object>)['Portal']).not.toHaveProperty('texts');
  });

  it('are other apps when they keep a secret, or no longer do', async () => {
    const project = await newProject();
    await applied(project, withApps({ Portal }));
    const [before] = await appsOf(project);
    const policy = withApps({ Portal: { ...Portal, confidential: true } });
    const { changes } = await plan(project, policy);
    expect(changes.map(({ action, key }) => `${action} ${key}`)).toEqual(['create Portal', 'delete Portal']);
    expect((await applied(project, policy)).code).toBe('DELETION_NOT_ALLOWED');
    expect((await applied(project, policy, { allowDelete: true })).data.secrets).toHaveLength(1);
    const [after, another] = await appsOf(project);
    expect([after?.confidential, another]).toEqual([true, undefined]);
    expect(after?.clientId).not.toBe(before?.clientId);
  });

  it('that go end their sessions, and free their role of sign-up', async () => {
    const project = await newProject();
    await applied(project, withApps({ Portal }));
    const [row] = await appsOf(project);
    const person = await app.person();
    const id = randomUUID();
    const [own] = await app.database.pool.select().from(sessions).where(eq(sessions.userId, person.userId));
    if (!own) throw new Error('a signed-in person has no session');
    await app.database.pool.insert(sessions).values({ ...own, id, projectAppId: row?.id ?? '' });
    const inUse = withApps({ Portal: { ...Portal, signUpRole: null, allowSignUp: false } }, { roles: {} });
    expect((await plan(project, inUse, { allowDelete: true })).blocked).toEqual([]);
    const gone = { version: 1 };
    expect((await applied(project, gone, { allowDelete: true })).ok).toBe(true);
    expect(await appsOf(project)).toEqual([]);
    const [ended] = await app.database.pool.select().from(sessions).where(eq(sessions.id, id));
    expect(ended?.endedAt).not.toBeNull();
  });

  it('that no document manages keep the role that people join with', async () => {
    const project = await newProject();
    const { scope } = project;
    await applied(project, withApps({}));
    const role = (await app.must('roles', { scope, isSystem: false }, as())).items[0]?.id ?? '';
    const input = { scope, name: 'Own', redirectUris, allowSignUp: true, signUpRoleId: role };
    await app.must('createProjectApp', input, as());
    const { blocked } = await plan(project, withApps({}, { roles: {} }), { allowDelete: true });
    expect(blocked).toEqual([{ kind: 'roles', key: 'Clerk', code: 'IN_USE', cause: '1 apps' }]);
  });

  it('that registered themselves are in no document, whatever they call themselves', async () => {
    const project = await newProject();
    const { scope } = project;
    const own = await app.must('createProjectApp', { scope, name: 'Portal', redirectUris }, as());
    await app.database.pool
      .update(projectApps)
      .set({ registrationHash: 'of a stranger' })
      .where(eq(projectApps.id, own.id));
    expect((await app.must('policy', project, as())).document).toMatchObject({ apps: {} });
    const { changes } = await plan(project, withApps({ Portal }));
    expect(changes).toContainEqual(expect.objectContaining({ kind: 'apps', action: 'create', id: null }));
  });

  it.each([
    ['an unknown scope', { ...Portal, scopes: ['invoice:pay'] }, 'scopes.0', 'enum'],
    ['a scope by a key', { ...Portal, scopes: ['approve own'] }, 'scopes.0', 'enum'],
    ['a scope of organizations', { ...Portal, scopes: ['Organization:Query'] }, 'scopes.0', 'enum'],
    ['an unknown role', { ...Portal, signUpRole: 'Clerc' }, 'signUpRole', 'enum'],
    ['a role of organizations', { ...Portal, signUpRole: 'Organization Owner' }, 'signUpRole', 'enum'],
    ['no role', { ...Portal, signUpRole: null }, 'signUpRole', 'required'],
    ['no way to sign in', { ...Portal, enabledProviders: [] }, 'enabledProviders', 'required'],
    ['an unknown provider', { ...Portal, identityProviders: ['none'] }, 'identityProviders.0', 'not_allowed'],
    ['an unknown tag', { ...Portal, tags: ['none'] }, 'tags.0', 'enum'],
    ['a wrong address', { ...Portal, redirectUris: ['http://portal.test/'] }, 'redirectUris.0', 'format'],
    ['a client id', { ...Portal, clientId: 'x' }, 'clientId', 'unknown_field'],
  ])('refuse %s, with its path', async (_, Wrong, path, code) => {
    const project = await newProject();
    const refused = await app.call('planPolicy', { ...project, policy: withApps({ Wrong }) as never }, as());
    expect(refused.details[0]).toMatchObject({ path: `policy.apps.Wrong.${path}`, code });
  });

  it('lose the uploaded logo with another address of it, or with themselves', async () => {
    const project = await newProject();
    const two = withApps({ A: { redirectUris }, B: { redirectUris } });
    await applied(project, two);
    const ids = (await appsOf(project)).map(({ id }) => id);
    const image = { tenantId: project.id, mediaType: 'image/png', bytes: Buffer.from('logo') };
    await app.database.pool
      .insert(logos)
      .values(ids.map((id) => ({ ...image, id, name: unique(), createdAt: app.clock.now() })));
    const left = async () => {
      const rows = await app.database.pool.select().from(logos).where(eq(logos.tenantId, project.id));
      return rows.length;
    };
    await applied(
      project,
      withApps({ A: { redirectUris, homepageUrl: 'https://a.example.test/' }, B: { redirectUris } }),
    );
    expect(await left()).toBe(2);
    await applied(
      project,
      withApps({ A: { redirectUris, logoUrl: 'https://a.example.test/l.svg' }, B: { redirectUris } }),
    );
    expect(await left()).toBe(1);
    await applied(project, withApps({}), { allowDelete: true });
    expect(await left()).toBe(0);
  });

  it('are in the document with every field that callers set, but for texts', async () => {
    const schema = await app.must('policySchema', {}, { via: 'rest' });
    const { properties } = schema as unknown as {
      properties: Record<string, { additionalProperties: { properties: object } }>;
    };
    const inNoDocument = new Set(['senderName', 'texts']);
    const inDocument: Readonly<Record<string, string>> = {
      name: 'renamedFrom',
      tagIds: 'tags',
      signUpRoleId: 'signUpRole',
    };
    for (const [kind, { create, patch }] of [
      ['apps', ProjectApp],
      ['webhooks', WebhookSubscription],
    ] as const) {
      const members = Object.keys(properties[kind]?.additionalProperties.properties ?? {});
      const fields = Object.keys({ ...create, ...patch })
        .filter((name) => !inNoDocument.has(name))
        .map((name) => inDocument[name] ?? name);
      expect(members, kind).toEqual(expect.arrayContaining(fields));
    }
  });

  it('send logout tokens to no address that webhooks may not have', async () => {
    const project = await newProject();
    const backchannelLogoutUri = 'https://internal.example.test/';
    const refused = await applied(project, withApps({ Portal: { ...Portal, backchannelLogoutUri } }));
    expect(refused).toMatchObject({
      code: 'WEBHOOK_URL_NOT_ALLOWED',
      details: [{ path: 'policy.apps.Portal.backchannelLogoutUri', code: 'private_address' }],
    });
    expect(await appsOf(project)).toEqual([]);
  });

  it('get no scope, no role and no sign-up that the caller does not hold', async () => {
    const firm = await firmOf(app);
    const project = { id: firm.projectId, scope: firm.project };
    const roles = { ...rights.roles, Idle: {} };
    const base = withApps({ Portal: { redirectUris, scopes: [], signUpRole: 'Clerk' } }, { roles });
    await applied(project, base, {}, firm.owner.token);
    const held = ['Policy:Query', 'Policy:Plan', 'Policy:Apply', 'Tag:Query'];
    const caller = await firm.user(
      {},
      ...held,
      ...['Create', 'Update', 'Delete'].map((act) => `ProjectApp:${act}`),
    );
    asked.length = 0;
    const attempts: readonly (readonly [object, string])[] = [
      [{ Portal: { redirectUris, scopes: ['invoice:read'], signUpRole: 'Clerk' } }, 'invoice:read'],
      [{ Portal: { redirectUris, scopes: ['Role:Create'], signUpRole: 'Clerk' } }, 'Role:Create'],
      [{ Portal: { redirectUris, scopes: [], signUpRole: 'Clerk', allowSignUp: true } }, 'invoice:read'],
      [{ Mine: { redirectUris, scopes: [], signUpRole: 'Clerk' } }, 'invoice:read'],
      [{ Mine: { redirectUris, scopes: [], signUpRole: 'Clerk', allowSignUp: true } }, 'invoice:read'],
      [{ Mine: { redirectUris, scopes: ['User:Create'] } }, 'User:Create'],
    ];
    for (const [apps, cause] of attempts) {
      const policy = withApps({ ...base.apps, ...apps }, { roles });
      const { blocked } = await plan(project, policy, {}, caller.token);
      expect(blocked).toMatchObject([{ kind: 'apps', code: 'PRIVILEGE_ESCALATION', cause }]);
      const refused = await applied(project, policy, {}, caller.token);
      expect(refused).toMatchObject({ code: 'PRIVILEGE_ESCALATION', details: [{ path: cause }] });
    }
    const admin = withApps(
      { ...base.apps, Mine: { redirectUris, scopes: [], signUpRole: 'Project Admin', allowSignUp: true } },
      { roles },
    );
    const missing = (await plan(project, admin, {}, caller.token)).blocked.map(
      ({ kind, key, code, cause }) => `${kind} ${key} ${code} ${cause}`,
    );
    expect(missing).toContain('apps Mine PRIVILEGE_ESCALATION Role:Delete');
    // A role with hundreds of permissions would fill the plan.
    expect(new Set(missing).size).toBe(20);
    const allowed = withApps(
      {
        Portal: { redirectUris, scopes: ['Tag:Query'], signUpRole: 'Clerk' },
        Mine: { redirectUris, scopes: [], signUpRole: 'Idle', allowSignUp: true },
      },
      { roles },
    );
    expect((await applied(project, allowed, {}, caller.token)).ok).toBe(true);
    expect((await applied(project, admin, { allowDelete: true }, firm.owner.token)).ok).toBe(true);
  });

  it('skip consent only by an owner in person, who has just signed in', async () => {
    const firm = await firmOf(app);
    const project = { id: firm.projectId, scope: firm.project };
    const policy = withApps({ Portal: { ...Portal, firstParty: true } });
    const developer = await member(app, firm.organization.id, 'Organization Developer');
    const { blocked } = await plan(project, policy, {}, developer.token);
    expect(blocked).toEqual([{ kind: 'apps', key: 'Portal', code: 'FORBIDDEN', cause: 'firstParty' }]);
    expect(await applied(project, policy, {}, developer.token)).toMatchObject({
      code: 'FORBIDDEN',
      details: [{ path: 'policy.apps.Portal.firstParty', code: 'not_allowed' }],
    });
    const machine = await keyToken(app, firm.owner.token, firm.project);
    expect((await plan(project, policy, {}, machine)).blocked).toMatchObject([{ code: 'SESSION_REQUIRED' }]);
    expect((await applied(project, policy, {}, machine)).code).toBe('SESSION_REQUIRED');
    expect((await applied(project, policy, {}, firm.owner.token)).ok).toBe(true);
    // What is so already is no decision: a pipeline may change the rest.
    const more = withApps({
      Portal: { ...Portal, firstParty: true, homepageUrl: 'https://a.example.test/' },
    });
    expect((await applied(project, more, {}, machine)).ok).toBe(true);

    const second = withApps({
      Portal: { ...Portal, firstParty: true },
      Other: { redirectUris, firstParty: true },
    });
    app.clock.advance(6 * 60_000);
    const late = await plan(project, second, {}, firm.owner.token);
    expect(late.blocked).toEqual([
      { kind: 'apps', key: 'Other', code: 'STEP_UP_REQUIRED', cause: 'firstParty' },
    ]);
    expect((await applied(project, second, {}, firm.owner.token)).code).toBe('STEP_UP_REQUIRED');
  });

  it('need the right of their own operation', async () => {
    const firm = await firmOf(app);
    const project = { id: firm.projectId, scope: firm.project };
    const base = withApps({ Portal });
    await applied(project, base, {}, firm.owner.token);
    const planner = await firm.user({}, 'Policy:Query', 'Policy:Plan', 'Policy:Apply');
    const plain = { redirectUris, scopes: [] };
    const changes: readonly (readonly [object, string])[] = [
      [{ Portal, Mine: plain }, 'ProjectApp:Create'],
      [{ Portal: { ...Portal, homepageUrl: 'https://a.example.test/' } }, 'ProjectApp:Update'],
      [{ Mine: { ...Portal, renamedFrom: 'Portal' } }, 'ProjectApp:Update'],
      [{}, 'ProjectApp:Delete'],
    ];
    for (const [apps, cause] of changes) {
      const policy = withApps(apps);
      const { blocked } = await plan(project, policy, { allowDelete: true }, planner.token);
      expect(blocked).toMatchObject([{ kind: 'apps', code: 'FORBIDDEN', cause }]);
      const refused = await applied(project, policy, { allowDelete: true }, planner.token);
      expect(refused.code).toBe('FORBIDDEN');
    }
  });

  it('are protected and locked, and their secret can be rotated all the same', async () => {
    const project = await newProject();
    const { scope } = project;
    const server = { redirectUris, confidential: true };
    const two = { A: { ...server, protect: true }, B: server };
    await applied(project, withApps(two, { mode: 'lock' }));
    for (const { id, name } of await appsOf(project)) {
      const code = name === 'A' ? 'DELETION_NOT_ALLOWED' : 'INVALID_STATE';
      const changed = await app.call('updateProjectApp', { scope, id, homepageUrl: null, name: 'C' }, as());
      expect(changed.code).toBe(code);
      expect((await app.call('deleteProjectApp', { scope, id }, as())).code).toBe(code);
      expect((await app.call('rotateProjectAppSecret', { scope, id }, as())).ok).toBe(true);
    }
  });
});
