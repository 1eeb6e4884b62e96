import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyExport } from '../../../../node/src/audit.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { OperationName, Person } from '../../../test/support/app/client.ts';
import {
  appoint,
  firstOperator,
  installation as scope,
  operatorEnvironment,
} from '../../../test/support/tenants/operators.ts';

/** What operators see: what exists and how large it is, never the content of a tenant, and no secret. */
describe.each(storyTransports(import.meta))('what operators see over %s', (via) => {
  let app: TestApp;
  let ada: Person;
  beforeEach(async () => {
    app = await startOwnApp(operatorEnvironment);
    ada = await firstOperator(app);
  });
  afterEach(() => app.close());

  const read = (name: OperationName, input: object = {}, token = ada.token) =>
    app.raw(name, { scope, ...input }, { token, via });
  const ids = (data: unknown) => (data as { items: { id: string }[] }).items.map(({ id }) => id);

  async function firm() {
    const owner = await app.person({ type: 'organization', name: 'Zoë Lovelace-Byron' });
    const { token } = owner;
    const { id } = await app.must(
      'createOrganization',
      { scope: owner.account, name: 'Lantern Books' },
      { token },
    );
    const organization = { tenant: 'organization', id } as const;
    const metadata = { note: 'a secret of the tenant' };
    const project = await app.must(
      'createProject',
      { scope: organization, name: 'Web Shop', metadata },
      { token },
    );
    const inProject = { tenant: 'organizationProject', id: `${id}:${project.id}` } as const;
    const key = await app.must('createApiKey', { scope: inProject, name: 'Export of invoices' }, { token });
    return { owner, organizationId: id, projectId: project.id, secret: key.clientSecret ?? '' };
  }

  test('the state of the installation', async () => {
    await firm();
    const { data } = await read('installation');
    expect(data).toMatchObject({
      version: '0.0.0-test',
      counts: { users: 2, accounts: 2, organizations: 1, projects: 1 },
      roles: [
        { name: 'Installation Operator' },
        { name: 'Installation Support' },
        { name: 'Installation Auditor' },
      ],
    });
    const { checks, backlogs } = data as {
      checks: { name: string; ok: boolean }[];
      backlogs: { name: string }[];
    };
    expect(checks).toContainEqual({ name: 'database', ok: true });
    expect(backlogs.map(({ name }) => name)).toContain('mails_waiting');
  });

  test('users are searched by id, address, domain and words of the name, and every search is audited', async () => {
    const { owner } = await firm();
    const idsBy = async (search: string) => ids((await read('installationUsers', { search })).data);
    expect(await idsBy(owner.userId.toUpperCase())).toEqual([owner.userId]);
    expect(await idsBy(owner.email.toUpperCase())).toEqual([owner.userId]);
    expect((await idsBy('@Example.test')).sort()).toEqual([ada.userId, owner.userId].sort());
    expect(await idsBy('zoë')).toEqual([owner.userId]);
    expect(await idsBy('love BYR')).toEqual([owner.userId]);
    for (const nothing of ['ovelace', 'love grace', '@ample.test', 'x@', '%%', "'; drop", ':*', '!!'])
      expect(await idsBy(nothing), nothing).toEqual([]);
    const { data } = await read('installationAuditLogs', { operation: 'installationUsers' });
    const entries = (data as { items: { actor: { id: string }; metadata: unknown }[] }).items;
    expect(entries).toHaveLength(13);
    expect(entries.at(-2)).toMatchObject({
      actor: { id: ada.userId },
      metadata: { by: 'address', count: 1, userIds: [owner.userId] },
    });
    expect(JSON.stringify(entries)).not.toContain(owner.email);
  });

  test(
    'lists go on from their cursor, and a plain list is not a search',
    { tags: 'independent' },
    async () => {
      const people = [ada, ...(await Promise.all([1, 2, 3].map(() => app.person())))];
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const { data } = await read('installationUsers', { limit: 2, ...(cursor ? { cursor } : {}) });
        seen.push(...ids(data));
        cursor = (data as { nextCursor: string | null }).nextCursor ?? undefined;
      } while (cursor !== undefined);
      expect(seen.sort()).toEqual(people.map(({ userId }) => userId).sort());
      expect(ids((await read('installationUsers', { status: 'disabled' })).data)).toEqual([]);
      expect((await read('installationAuditLogs')).data).toMatchObject({ items: [] });
    },
  );

  test('a user: methods, factors, sessions, memberships with names of roles, no secret; the view is audited', async () => {
    const { owner, organizationId, secret } = await firm();
    const { secret: totp } = await app.must('createMfaFactor', {}, { token: owner.token });
    const { data, body } = await read('installationUser', { id: owner.userId });
    expect(data).toMatchObject({
      id: owner.userId,
      status: 'active',
      suspendedAt: null,
      methods: [{ provider: 'email', label: owner.email, isVerified: true, isPrimary: true }],
      factors: [{ type: 'totp', isEnabled: false }],
      sessions: [{ kind: 'browser', acr: 'aal1' }],
      accounts: [{ id: owner.account.id, type: 'organization' }],
      memberships: [
        { organizationId, organizationName: 'Lantern Books', role: { name: 'Organization Owner' } },
      ],
      keyCount: 1,
      isOperator: false,
    });
    for (const hidden of [secret, totp ?? '', 'Export of invoices', 'a secret of the tenant'])
      expect(body).not.toContain(hidden);
    const log = await read('installationAuditLogs', { operation: 'installationUser' });
    expect(log.data).toMatchObject({ items: [{ target: { type: 'User', id: owner.userId } }] });
    expect(await read('installationUser', { id: organizationId })).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('organizations, projects and accounts with their sizes, without their content', async () => {
    const { owner, organizationId, projectId } = await firm();
    const organization = {
      id: organizationId,
      name: 'Lantern Books',
      ownerId: owner.userId,
      counts: { members: 1, projects: 1, keys: 1, apps: 0, subscriptions: 0 },
    };
    for (const search of [organizationId, 'lantern-books', 'book'])
      expect((await read('installationOrganizations', { search })).data).toMatchObject({
        items: [organization],
      });
    expect((await read('installationOrganization', { id: organizationId })).data).toMatchObject(organization);
    const projects = await read('installationProjects', { ownerId: organizationId, search: 'shop' });
    expect(projects.data).toMatchObject({ items: [{ id: projectId, counts: { users: 0, keys: 1 } }] });
    expect(projects.body).not.toContain('secret of the tenant');
    const accounts = await read('installationAccounts', { ownerId: owner.userId });
    expect(accounts.data).toMatchObject({
      items: [{ id: owner.account.id, counts: { organizations: 1, projects: 0, serviceUsers: 0, keys: 0 } }],
    });
  });

  test('the audit log as a file that proves itself, for those who may read it', async () => {
    const support = await appoint(app, ada, 'Installation Support');
    const auditor = await appoint(app, ada, 'Installation Auditor');
    // Only REST returns files.
    const exported = (input: object, { token }: { token: string }) =>
      app.raw('exportInstallationAuditLogs', { scope, ...input }, { token });
    const file = await exported({}, auditor);
    expect(file.headers['content-disposition']).toContain(`audit-installation-${scope.id}.ndjson`);
    const lines = file.body.split('\n').slice(0, -1);
    const entries = lines.map((line) => JSON.parse(line) as { operation: string; actor: object });
    expect(entries.map(({ operation }) => operation)).toContain('createOperator');
    expect(entries.at(-1)).toMatchObject({
      operation: 'exportInstallationAuditLogs',
      actor: { id: auditor.userId },
    });
    const { fault } = await verifyExport(lines, { filtered: false, end: 'own entry' });
    expect(fault).toBeNull();
    const some = await exported({ operation: 'createOperator', format: 'csv' }, ada);
    expect(some.headers['content-type']).toContain('text/csv');
    expect(some.body).toContain('createOperator');
    expect(some.body).not.toContain('exportInstallationAuditLogs');
    const stranger = await app.person();
    for (const person of [support, stranger])
      expect(await exported({}, person)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });

  test('each role sees what it needs, and everybody else nothing', { tags: 'independent' }, async () => {
    const support = await appoint(app, ada, 'Installation Support');
    const auditor = await appoint(app, ada, 'Installation Auditor');
    const stranger = await app.person({ type: 'organization' });
    const all = [
      'installation',
      'installationUsers',
      'installationOrganizations',
      'installationProjects',
      'installationAccounts',
      'installationAuditLogs',
      'operators',
    ] as const;
    const allowed = async (token: string) => {
      const answers = await Promise.all(all.map((name) => read(name, {}, token)));
      return all.filter((_, index) => answers[index]?.ok);
    };
    expect(await allowed(ada.token)).toEqual(all);
    expect(await allowed(support.token)).toEqual(all.slice(0, 5));
    expect(await allowed(auditor.token)).toEqual(all);
    expect(await allowed(stranger.token)).toEqual([]);
    expect(await read('installationUser', { id: ada.userId }, stranger.token)).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'INVALID_SCOPE',
    });
  });
});
