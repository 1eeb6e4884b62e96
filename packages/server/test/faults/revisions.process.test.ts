import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { callOrThrow, signUp, type Service } from '../../../../scripts/service.ts';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { Database } from '../../src/db/connection/open.ts';
import type { SilentPostgres } from '../support/databases/silent-postgres.ts';
import { figures, startTwoServices, type TwoServices } from '../support/app/two-services.ts';

/**
 * Permissions change on one process and are checked on another: two real processes on one PostgreSQL. With the
 * revision of the change the answer is right at once, also while the change channel is cut or silent. The delay
 * without a revision is measured and printed; no measured time decides whether a test passes.
 */
const adminUrl = inject('postgresUrl');
const ROUNDS = Number(process.env['REVISION_ROUNDS'] ?? 36);
const CUTS = Math.ceil(ROUNDS / 40);
const PATIENCE_MS = 10_000;
const SLOW_MS = 1000;

interface Question {
  readonly token: string;
  readonly permission: { readonly resource: string; readonly action: string };
}
/** Something on which a permission depends, to be granted or removed. The result is the revision. */
interface Kind {
  readonly name: string;
  readonly set: (given: boolean) => Promise<string>;
  readonly question: () => Question;
}
interface Change {
  readonly name: string;
  readonly given: boolean;
  readonly waited: number;
}

const print = (line: string) => process.stdout.write(`revisions: ${line}\n`);

describe.runIf(adminUrl)('two processes on one database', { timeout: 60_000 + ROUNDS * 2000 }, () => {
  let two: TwoServices;
  let link: SilentPostgres;
  let here: Service;
  let there: Service;
  let database: Database;
  let kinds: readonly Kind[];

  beforeAll(async () => {
    two = await startTwoServices(adminUrl, { DATABASE_POOL_MAX: '5' });
    ({ here, there, link, database } = two);
    kinds = await furnish();
  });
  afterAll(() => two.stop());

  /** An organization with users who hold one permission of each kind, and the keys and sessions that ask. */
  async function furnish(): Promise<Kind[]> {
    const ada = await signUp(here);
    const api = <D = { id: string }>(path: string, body: object, method = 'POST') =>
      callOrThrow<D>(`${here.base}/api${path}`, { token: ada.token, body, method });
    const organization = { tenant: 'organization', id: ada.organizationId };
    const project = await api('/projects', { scope: organization, name: 'Asked' });
    const scope = { tenant: 'organizationProject', id: `${organization.id}:${project.id}` };
    const viewer = roleIdOf('Organization Viewer');
    const user = await api('/users', { scope: organization, name: 'Eve', roleIds: [viewer] });

    /** A role with one permission of its own. */
    async function right(slug: string, condition: object | null = null) {
      const resource = await api('/resources', { scope, name: slug, slug, actions: ['read'] });
      const about = { resourceId: resource.id, action: 'read', name: slug, condition };
      const permission = await api('/permissions', { scope, ...about });
      const group = await api('/groups', { scope, name: slug, permissionIds: [permission.id] });
      const role = await api('/roles', { scope, name: slug, groupIds: [group.id] });
      return { slug, resource, permission, group, role };
    }
    const byGroup = await right('by-group');
    const byRole = await right('by-role');
    const byCondition = await right('by-condition');
    const byResource = await right('by-resource');
    const byWearing = await right('by-wearing');
    const byStatus = await right('by-status');
    const byWhatIsSaid = await right('by-what-is-said', { Equals: { 'user.metadata.level': 5 } });
    const byRoleData = await right('by-role-data', { Equals: { 'role.metadata.region': 'eu' } });
    const byKey = await right('by-key');
    await api(`/roles/${byRoleData.role.id}`, { scope, metadata: { region: 'eu' } }, 'PATCH');
    const others = [byGroup, byRole, byCondition, byResource, byWhatIsSaid, byRoleData];
    const assigned = others.map(({ role }) => role.id);
    const roleIds = [...assigned, byWearing.role.id];
    await api('/users', { scope, userId: user.id, metadata: { level: 5 }, roleIds });
    const sleeper = await api('/users', { scope: organization, name: 'Sleeper', roleIds: [viewer] });
    await api('/users', { scope, userId: sleeper.id, roleIds: [byStatus.role.id] });

    async function tokenOf(keyScope: object, roleId?: string): Promise<string> {
      return (await keyOf(keyScope, roleId)).token;
    }
    async function keyOf(keyScope: object, roleId?: string) {
      const key = await api<{ id: string; clientId: string; clientSecret: string; scope: object }>(
        '/api-keys',
        { scope: keyScope, ...(roleId ? { roleId } : {}) },
      );
      const { id, clientId, clientSecret } = key;
      const { answer, revision } = await changed('/auth/token', { clientId, clientSecret, scope: key.scope });
      return { id, token: (answer as { accessToken: string }).accessToken, revision };
    }
    async function changed(path: string, body: object, method = 'POST', token = ada.token) {
      const response = await fetch(`${here.base}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      expect(response.ok, text).toBe(true);
      const { data } = JSON.parse(text) as { data: unknown };
      return { answer: data, revision: response.headers.get('x-doorward-revision') as string };
    }
    const patched = async (path: string, body: object) =>
      (await changed(path, { scope, ...body }, 'PATCH')).revision;

    const eve = await tokenOf({ tenant: 'projectUser', id: `${project.id}:${user.id}` });
    const sleeping = await tokenOf({ tenant: 'projectUser', id: `${project.id}:${sleeper.id}` });
    const service = await tokenOf(scope, byGroup.role.id);
    const asks = (token: string, { slug }: { slug: string }) => {
      const question = { token, permission: { resource: slug, action: 'read' } };
      return () => question;
    };
    let ended = await keyOf(scope, byKey.role.id);
    const login = {
      provider: 'email',
      providerId: 'ada@example.test',
      providerData: { password: 'three-lanterns-in-the-harbour' },
    };
    let session = '';
    const signIn = async () => {
      const { answer, revision } = await changed('/auth/login', login);
      session = (answer as { accessToken: string }).accessToken;
      return revision;
    };
    await signIn();
    return [
      {
        name: 'permission of a group, asked by a key',
        set: (given) =>
          patched(`/groups/${byGroup.group.id}`, { permissionIds: given ? [byGroup.permission.id] : [] }),
        question: asks(service, byGroup),
      },
      {
        name: 'group of a role',
        set: (given) => patched(`/roles/${byRole.role.id}`, { groupIds: given ? [byRole.group.id] : [] }),
        question: asks(eve, byRole),
      },
      {
        name: 'condition',
        set: (given) =>
          patched(`/permissions/${byCondition.permission.id}`, {
            condition: given ? null : { Equals: { 'user.name': 'Nobody' } },
          }),
        question: asks(eve, byCondition),
      },
      {
        name: 'resource switched on or off',
        set: (given) => patched(`/resources/${byResource.resource.id}`, { isActive: given }),
        question: asks(eve, byResource),
      },
      {
        name: 'roles of a user',
        set: (given) => patched(`/users/${user.id}`, { roleIds: given ? roleIds : assigned }),
        question: asks(eve, byWearing),
      },
      {
        name: 'role of a member, above the project',
        set: (given) =>
          patched(`/organization-members/${user.id}`, {
            scope: organization,
            roleId: given ? roleIdOf('Organization Developer') : viewer,
          }),
        question: () => ({ token: eve, permission: { resource: 'Role', action: 'Create' } }),
      },
      {
        name: 'status of a user',
        set: (given) =>
          patched(`/users/${sleeper.id}`, { scope: organization, status: given ? 'active' : 'disabled' }),
        question: asks(sleeping, byStatus),
      },
      {
        name: 'what a scope says of a user',
        set: (given) => patched(`/users/${user.id}`, { metadata: { level: given ? 5 : 1 } }),
        question: asks(eve, byWhatIsSaid),
      },
      {
        name: 'what a role says',
        set: (given) => patched(`/roles/${byRoleData.role.id}`, { metadata: given ? { region: 'eu' } : {} }),
        question: asks(eve, byRoleData),
      },
      {
        name: 'key',
        async set(given) {
          if (!given) return (await changed(`/api-keys/${ended.id}/revoke`, { scope })).revision;
          ended = await keyOf(scope, byKey.role.id);
          return ended.revision;
        },
        question: () => asks(ended.token, byKey)(),
      },
      {
        name: 'session',
        set: async (given) =>
          given ? signIn() : (await changed('/auth/logout', {}, 'POST', session)).revision,
        question: () => ({ token: session, permission: { resource: 'Role', action: 'Query' }, scope }),
      },
    ];
  }

  type Way = 'rest' | 'graphql';
  /** Asks the other process. A credential that has ended is allowed nothing. */
  async function may(way: Way, question: Question, minRevision?: string): Promise<boolean> {
    const { token, ...requested } = question;
    const input = { ...requested, ...(minRevision === undefined ? {} : { minRevision }) };
    const query = 'query($input: IsAuthorizedInput!) { isAuthorized(input: $input) { authorized } }';
    const response = await fetch(`${there.base}${way === 'rest' ? '/api/auth/is-authorized' : '/graphql'}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(way === 'rest' ? input : { query, variables: { input } }),
    });
    const text = await response.text();
    if (text.includes('"code":"UNAUTHENTICATED"')) return false;
    const { data } = JSON.parse(text) as {
      data: { authorized?: boolean; isAuthorized?: { authorized: boolean } } | null;
    };
    const answer = data?.authorized ?? data?.isAuthorized?.authorized;
    if (answer === undefined) throw new Error(text);
    return answer;
  }

  /** Asks without a revision until the other process sees the change; returns after how long. */
  async function untilSeen(way: Way, question: Question, given: boolean): Promise<number> {
    for (const began = performance.now(); ;) {
      const seen = (await may(way, question)) === given;
      const waited = performance.now() - began;
      if (seen) return waited;
      if (waited > PATIENCE_MS) throw new Error('the other process did not learn of it');
    }
  }

  const state = new Map<string, boolean>();
  /** Changes one thing here and asks there, with its revision and without. */
  async function round(kind: Kind, turn: number): Promise<Change & { exact: number }> {
    const [way, other]: [Way, Way] = turn % 2 === 0 ? ['rest', 'graphql'] : ['graphql', 'rest'];
    const given = !(state.get(kind.name) ?? true);
    state.set(kind.name, given);
    // Both have cached the state before the change.
    await Promise.all([may('rest', kind.question()), may('graphql', kind.question())]);
    const revision = await kind.set(given);
    const began = performance.now();
    const question = kind.question();
    const [waited, exact, ...answers] = await Promise.all([
      untilSeen(other, question, given),
      may(way, question, revision).then((answer) => {
        expect([kind.name, answer], 'with the revision').toEqual([kind.name, given]);
        return performance.now() - began;
      }),
      may(other, question, revision),
    ]);
    expect([kind.name, ...answers], 'with the revision').toEqual([kind.name, given]);
    // After the change was seen once, it stays visible.
    expect([await may(way, question), await may(other, question)]).toEqual([given, given]);
    return { name: kind.name, given, waited, exact };
  }

  it('agree on every change at once with its revision, and soon without', async () => {
    const changes: (Change & { exact: number })[] = [];
    // The membership starts with the lesser role.
    state.set('role of a member, above the project', false);
    for (let turn = 0; turn < ROUNDS; turn++) {
      changes.push(await round(kinds[turn % kinds.length] as Kind, turn));
    }
    const late = changes.filter(({ waited, given }) => !given && waited > SLOW_MS).length;
    print(
      `${changes.length} changes of ${kinds.length} kinds, ${changes.filter(({ given }) => !given).length} of them takings: ` +
        `0 wrong answers with the revision (${figures(changes.map(({ exact }) => exact))}); ` +
        `without it seen after ${figures(changes.map(({ waited }) => waited))}; allowed later than a second: ${late}`,
    );
  });

  it.each([
    ['is closed', false],
    ['falls silent without being closed', true],
  ])('agree with the revision also when the change channel %s', async (_, silent) => {
    const changes: (Change & { exact: number })[] = [];
    const close = () =>
      database.pool.execute(
        sql`select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'doorward changes' and datname = current_database()`,
      );
    for (let turn = 0; turn < CUTS; turn++) {
      if (silent) link.silence();
      else await close();
      changes.push(await round(kinds[(turn * 3) % kinds.length] as Kind, turn));
      // A second change, when the silence has been detected.
      changes.push(await round(kinds[(turn * 3 + 1) % kinds.length] as Kind, turn));
      link.heal();
      const ready = async () => (await fetch(`${there.base}/health/ready`)).status === 200;
      for (const began = performance.now(); !(await ready());)
        if (performance.now() - began > PATIENCE_MS) throw new Error('the channel does not come back');
    }
    print(
      `${CUTS} cuts (${silent ? 'silent' : 'closed'}): 0 wrong answers with the revision (${figures(changes.map(({ exact }) => exact))}); ` +
        `without it seen after ${figures(changes.map(({ waited }) => waited))}`,
    );
  });

  it('know revisions of long ago, and those of mutations without an effect', async () => {
    const [kind] = kinds as [Kind];
    const first = await kind.set(false);
    const between = await kind.set(true);
    state.set(kind.name, true);
    for (const revision of [first, between]) {
      expect(await may('rest', kind.question(), revision)).toBe(true);
      expect(await may('graphql', kind.question(), revision)).toBe(true);
    }
  });
});
