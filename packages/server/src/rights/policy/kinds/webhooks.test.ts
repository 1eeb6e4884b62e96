import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../../../test/contract/world.ts';
import { startApp, type TestApp } from '../../../../test/support/app/app.ts';
import { storyTransports } from '../../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../../test/support/app/client.ts';
import { firmOf } from '../../../../test/support/tenants/firm.ts';
import { rowsOf } from '../../../db/statements/rows.ts';
import type { ScopeRef } from '../../../kernel/scope.ts';
import { webhookSecrets, webhookSubscriptions } from '../../../schema/webhooks/webhook-subscription.ts';

/** Webhooks are part of the document; their secrets are answered once, and name servers are asked before the transaction. */
let app: TestApp;
let owner: Person;
const asked: string[] = [];
const hidden = new Set<string>();

beforeAll(async () => {
  app = await startApp({ WEBHOOKS_MAX_PER_PROJECT: '3' }, undefined, {
    resolve: (name) => {
      asked.push(name);
      return Promise.resolve([hidden.has(name) ? '10.0.0.1' : '93.184.215.14']);
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

const ledger = { url: 'https://ledger.example.test/in', eventTypes: ['role.*'] };
const withHooks = (webhooks: object, more: object = {}) => ({ version: 1, webhooks, ...more });

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const as = (token = owner.token) => ({ token, via });
  const plan = ({ id, scope }: Project, policy: object, more: object = {}) =>
    app.must('planPolicy', { id, scope, policy: policy as never, ...more }, as());
  const applied = async (project: Project, policy: object, more: object = {}, token = owner.token) => {
    const { version, number } = await app.must('policy', project, as());
    const ifVersion = number === null ? null : version;
    return app.call('applyPolicy', { ...project, policy: policy as never, ifVersion, ...more }, as(token));
  };
  const hooks = async ({ scope }: Project) => (await app.must('webhookSubscriptions', { scope }, as())).items;

  it('are planned, applied with their secret, exported, and change nothing the second time', async () => {
    const project = await newProject();
    const { changes, blocked } = await plan(project, withHooks({ ledger }));
    expect(changes).toMatchObject([{ kind: 'webhooks', key: 'ledger', action: 'create', id: null }]);
    expect(blocked).toEqual([]);
    expect(await hooks(project)).toEqual([]);

    const key = unique();
    const policy = withHooks({ ledger }) as never;
    const input = { ...project, policy, ifVersion: null };
    const headers = { 'idempotency-key': key };
    const first = await app.call('applyPolicy', input, { ...as(), headers });
    expect(first.data).toMatchObject({
      applied: { counts: { created: 1, updated: 0, deleted: 0 } },
      secrets: [{ kind: 'webhooks', key: 'ledger', secret: expect.stringMatching(/^whsec_/) as string }],
    });
    const replayed = await app.call('applyPolicy', input, { ...as(), headers });
    expect(replayed.data).toMatchObject({ version: first.data.version, secrets: null });

    const [row] = await hooks(project);
    expect(row).toMatchObject({
      name: 'ledger',
      ...ledger,
      active: true,
      managed: 'policy',
      createdBy: owner.userId,
    });
    const [stored] = await app.database.pool
      .select()
      .from(webhookSecrets)
      .where(eq(webhookSecrets.subscriptionId, row?.id ?? ''));
    const opened = app.app.kek.open(stored?.sealed ?? '', `webhook_secrets:${stored?.id}`);
    expect(first.data.secrets?.[0]?.secret).toBe(`whsec_${opened.toString('base64')}`);

    const exported = await app.must('policy', project, as());
    expect(exported.document).toMatchObject({ webhooks: { ledger } });
    expect(JSON.stringify(exported.document)).not.toContain('whsec_');
    expect((await plan(project, exported.document)).changes).toEqual([]);
    expect((await applied(project, policy)).data).toMatchObject({ applied: null, secrets: [] });
    const version = await app.must('policyVersion', { ...project, number: 1 }, as());
    expect(JSON.stringify(version)).not.toContain('whsec_');
    const { items } = await app.must('auditLogs', { scope: project.scope, limit: 100 }, as());
    expect(JSON.stringify(items)).not.toContain('whsec_');
    expect(items.map(({ operation, target }) => [operation, target?.type])).toContainEqual([
      'applyPolicy',
      'WebhookSubscription',
    ]);
  });

  it('are adopted by their name, renamed, changed, and drift', async () => {
    const project = await newProject();
    const { scope } = project;
    const byHand = await app.must('createWebhookSubscription', { scope, ...ledger, name: 'ledger' }, as());
    const unnamed = await app.must('createWebhookSubscription', { scope, ...ledger }, as());
    expect((await app.must('policy', project, as())).document).toMatchObject({
      webhooks: { ledger: { ...ledger, description: null, active: true } },
    });
    const policy = withHooks({ ledger: { ...ledger, description: 'Books' } });
    const adopting = await plan(project, policy);
    expect(adopting.changes).toMatchObject([
      { action: 'adopt', id: byHand.id, fields: { description: { from: null, to: 'Books' } } },
    ]);
    // The secret stays that of the row.
    expect((await applied(project, policy)).data.secrets).toEqual([]);

    await app.must('updateWebhookSubscription', { scope, id: byHand.id, name: 'other' }, as());
    const drifted = await plan(project, policy);
    expect(drifted.drift).toMatchObject([{ kind: 'webhooks', key: 'ledger' }]);
    const renamed = withHooks({ books: { ...ledger, renamedFrom: 'ledger' } });
    expect((await plan(project, renamed)).changes).toMatchObject([
      { action: 'rename', id: byHand.id, fields: { name: { from: 'other', to: 'books' } } },
    ]);
    expect((await applied(project, renamed)).ok).toBe(true);
    const empty = { version: 1 };
    expect((await applied(project, empty)).details).toEqual([
      expect.objectContaining({ path: 'policy.webhooks.books', code: 'not_allowed' }),
    ]);
    expect((await applied(project, empty, { allowDelete: true })).ok).toBe(true);
    expect((await hooks(project)).map(({ id }) => id)).toEqual([unnamed.id]);

    const { version: ifVersion } = await app.must('policy', project, as());
    const back = await app.must('rollbackPolicy', { ...project, number: 2, ifVersion }, as());
    expect(back).toMatchObject({ applied: { rollbackOf: 2 }, secrets: [{ key: 'books' }] });
    const { changes } = await app.must('policyDiff', { ...project, from: '1', to: 'current' }, as());
    expect(changes.map(({ kind, key, action }) => `${action} ${kind} ${key}`)).toEqual([
      'create webhooks books',
      'delete webhooks ledger',
    ]);
  });

  it('exchange names that were exchanged by hand, and give up the name of one that goes', async () => {
    const project = await newProject();
    const { scope } = project;
    const two = withHooks({ a: ledger, b: { ...ledger, eventTypes: ['user.*'] } });
    await applied(project, two);
    const idOf = async (name: string) => (await hooks(project)).find((row) => row.name === name)?.id ?? '';
    const [a, b] = [await idOf('a'), await idOf('b')];
    for (const [id, name] of [
      [a, 'c'],
      [b, 'a'],
      [a, 'b'],
    ])
      await app.must('updateWebhookSubscription', { scope, id: id ?? '', name: name ?? '' }, as());
    expect((await applied(project, two)).ok).toBe(true);
    expect([await idOf('a'), await idOf('b')]).toEqual([a, b]);

    await app.must('updateWebhookSubscription', { scope, id: b, name: 'new' }, as());
    const changed = withHooks({ a: ledger, new: ledger });
    expect((await applied(project, changed, { allowDelete: true })).ok).toBe(true);
    expect(await idOf('new')).not.toBe(b);
  });

  it('that are deleted drop what waits; those switched on again send it', async () => {
    const project = await newProject();
    const { scope } = project;
    await applied(project, withHooks({ a: ledger, b: { ...ledger, active: false } }));
    const statusesOf = async (name: string) => {
      const deliveries = await rowsOf<{ status: string }>(
        app.database.pool,
        sql`select d.status from webhook_deliveries d join webhook_subscriptions s on s.id = d.subscription_id
          where s.tenant_id = ${project.id}::uuid and s.name = ${name}`,
      );
      return deliveries.map(({ status }) => status);
    };
    await app.must('createRole', { scope, name: 'R' }, as());
    await app.app.flushMails();
    expect([await statusesOf('a'), await statusesOf('b')]).toEqual([['pending'], ['pending']]);
    await app.database.pool
      .update(webhookSubscriptions)
      .set({ disabledReason: 'failing', disabledAt: app.clock.now(), exhaustedInARow: 10 })
      .where(eq(webhookSubscriptions.name, 'b'));
    expect((await applied(project, withHooks({ b: ledger }), { allowDelete: true })).ok).toBe(true);
    const [b] = await hooks(project);
    expect(b).toMatchObject({ name: 'b', active: true, disabledReason: null });
    expect(await statusesOf('a')).toEqual(['cancelled']);
  });

  it('with a forbidden address change nothing, and name its path', async () => {
    const project = await newProject();
    hidden.add('internal.example.test');
    const policy = withHooks(
      { bad: { ...ledger, url: 'https://internal.example.test/' }, ledger },
      { tags: { t: {} } },
    );
    const refused = await applied(project, policy);
    expect(refused).toMatchObject({
      code: 'WEBHOOK_URL_NOT_ALLOWED',
      details: [{ path: 'policy.webhooks.bad.url', code: 'private_address' }],
    });
    const planned = await app.call('planPolicy', { ...project, policy: policy as never }, as());
    expect(planned.code).toBe('WEBHOOK_URL_NOT_ALLOWED');
    expect((await app.must('tags', { scope: project.scope }, as())).items).toEqual([]);
  });

  it('ask name servers only about new addresses, outside of every transaction', async () => {
    const project = await newProject();
    const url = `https://${via}.example.test/`;
    const policy = withHooks({ a: { ...ledger, url } });
    asked.length = 0;
    await applied(project, policy);
    expect(asked).toEqual([`${via}.example.test`]);
    await applied(project, { ...policy, tags: { t: {} } });
    expect(asked).toHaveLength(1);
  });

  it('are as many as the project may have', async () => {
    const project = await newProject();
    const many = withHooks({ a: ledger, b: ledger, c: ledger, d: ledger });
    const refused = await applied(project, many);
    expect(refused).toMatchObject({ code: 'CONFLICT', details: [{ path: 'scope', code: 'limit' }] });
    expect(await hooks(project)).toEqual([]);
    const tooMany = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`w${index}`, ledger]));
    expect(await applied(project, withHooks(tooMany))).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'policy.webhooks', code: 'too_big' }],
    });
  });

  it.each([
    ['a secret', { ...ledger, description: 'whsec_abc' }, 'description', 'not_allowed'],
    ['an unknown event', { ...ledger, eventTypes: ['nothing.happened'] }, 'eventTypes.0', 'enum'],
    ['no events', { ...ledger, eventTypes: [] }, 'eventTypes', 'too_short'],
    ['an unfilled variable', { ...ledger, url: '${LEDGER_URL}' }, 'url', 'format'],
    ['a secret of its own', { ...ledger, secret: 'x' }, 'secret', 'unknown_field'],
  ])('refuse %s', async (_, webhook, path, code) => {
    const project = await newProject();
    const refused = await applied(project, withHooks({ w: webhook }));
    expect(refused.details[0]).toMatchObject({ path: `policy.webhooks.w.${path}`, code });
  });

  it('need the right of their own operation, without which no name server is asked', async () => {
    const firm = await firmOf(app);
    const project = { id: firm.projectId, scope: firm.project };
    const first = { ...project, policy: withHooks({ ledger }) as never };
    await app.must('applyPolicy', first, as(firm.owner.token));
    const rights = ['Policy:Query', 'Policy:Plan', 'Policy:Apply', 'Tag:Create'];
    const planner = await firm.user({}, ...rights);
    const creator = await firm.user({}, ...rights, 'WebhookSubscription:Create');
    const { version } = await app.must('policy', project, as(planner.token));
    asked.length = 0;
    const changes: readonly (readonly [object, string])[] = [
      [{ ledger, mine: { ...ledger, url: 'https://probe.example.test/' } }, 'WebhookSubscription:Create'],
      [{ ledger: { ...ledger, url: 'https://probe.example.test/' } }, 'WebhookSubscription:Update'],
      [{ ledger: { ...ledger, active: false } }, 'WebhookSubscription:Update'],
      [{ mine: { ...ledger, renamedFrom: 'ledger' } }, 'WebhookSubscription:Update'],
      [{}, 'WebhookSubscription:Delete'],
    ];
    for (const [webhooks, cause] of changes) {
      const input = { ...project, policy: withHooks(webhooks) as never, allowDelete: true };
      const { blocked } = await app.must('planPolicy', input, as(planner.token));
      expect(blocked).toMatchObject([{ kind: 'webhooks', code: 'FORBIDDEN', cause }]);
      const refused = await app.call('applyPolicy', { ...input, ifVersion: version }, as(planner.token));
      expect(refused.code).toBe('FORBIDDEN');
    }
    expect(asked).toEqual([]);
    const input = { ...project, policy: withHooks({ ledger, mine: ledger }) as never, ifVersion: version };
    const made = await app.must('applyPolicy', input, as(creator.token));
    expect(made.secrets).toHaveLength(1);
  });

  it('read conditions as their operations do', async () => {
    const firm = await firmOf(app);
    const project = { id: firm.projectId, scope: firm.project };
    const inactive = { on: 'WebhookSubscription:Create', when: { Equals: { 'resource.active': false } } };
    const creator = await firm.user({}, 'Policy:Query', 'Policy:Plan', 'Policy:Apply', inactive);
    const input = (active: boolean) => ({
      ...project,
      policy: withHooks({ ledger: { ...ledger, active } }) as never,
    });
    const { blocked } = await app.must('planPolicy', input(true), as(creator.token));
    expect(blocked).toMatchObject([{ code: 'FORBIDDEN', cause: 'WebhookSubscription:Create' }]);
    expect((await app.must('planPolicy', input(false), as(creator.token))).blocked).toEqual([]);
  });

  it('are protected and locked, and their secret can be rotated all the same', async () => {
    const project = await newProject();
    const { scope } = project;
    const two = { a: { ...ledger, protect: true }, b: ledger };
    await applied(project, withHooks(two, { mode: 'lock' }));
    for (const { id, name } of await hooks(project)) {
      const code = name === 'a' ? 'DELETION_NOT_ALLOWED' : 'INVALID_STATE';
      const changed = await app.call('updateWebhookSubscription', { scope, id, active: false }, as());
      expect(changed.code).toBe(code);
      expect((await app.call('deleteWebhookSubscription', { scope, id }, as())).code).toBe(code);
      expect((await app.call('rotateWebhookSecret', { scope, id }, as())).ok).toBe(true);
    }
    const { blocked } = await plan(project, { version: 1 }, { allowDelete: true });
    expect(blocked).toMatchObject([{ kind: 'webhooks', key: 'a', code: 'DELETION_NOT_ALLOWED' }]);
  });

  it('go back to a document that was stored before webhooks were a part of it', async () => {
    const project = await newProject();
    await applied(project, { version: 1, tags: { t: {} } });
    await app.database.pool.execute(
      sql`update policy_documents set document = document - 'webhooks' - 'apps' where tenant_id = ${project.id}::uuid`,
    );
    expect((await applied(project, withHooks({ ledger }, { tags: { t: {} } }))).ok).toBe(true);
    const planned = await app.must('planPolicy', { ...project, number: 1, allowDelete: true }, as());
    expect(planned.changes).toMatchObject([{ kind: 'webhooks', key: 'ledger', action: 'delete' }]);
    const { changes } = await app.must('policyDiff', { ...project, from: '1', to: '2' }, as());
    expect(changes).toMatchObject([{ kind: 'webhooks', key: 'ledger', action: 'create' }]);
  });

  it('are applied by a key that may, whose user is their creator', async () => {
    const project = await newProject();
    const roles = { Appliers: { groups: ['Policy: Query, Plan, Apply'] } };
    await applied(project, { version: 1, roles });
    const role = (await app.must('roles', { scope: project.scope, isSystem: false }, as())).items[0];
    const machine = await keyToken(app, owner.token, project.scope, role?.id ?? '');
    const refused = await applied(project, withHooks({ ledger }, { roles }), {}, machine);
    expect(refused).toMatchObject({ code: 'FORBIDDEN', details: [{ path: 'policy.webhooks.ledger' }] });
  });

  it('of the same name exist once', async () => {
    const { scope } = await newProject();
    await app.must('createWebhookSubscription', { scope, ...ledger, name: 'x' }, as());
    const again = await app.call('createWebhookSubscription', { scope, ...ledger, name: 'x' }, as());
    expect(again).toMatchObject({ code: 'CONFLICT', details: [{ path: 'name', code: 'taken' }] });
    const other = await app.must('createWebhookSubscription', { scope, ...ledger }, as());
    const renamed = { scope, id: other.id, name: 'x' };
    expect((await app.call('updateWebhookSubscription', renamed, as())).code).toBe('CONFLICT');
  });
});
