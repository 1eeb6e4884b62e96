import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtIns } from '../../src/access/built-in.ts';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { evaluate } from '@doorward/decision/evaluate';
import { createResolver, type Resolver } from '../../src/access/resolve.ts';
import { openChanges, type Changes } from '../../src/db/cache/changes.ts';
import type { Principal } from '../../src/kernel/context.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { declaredPermissions, operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import { storyTransports } from '../support/cases/breadth.ts';
import { transports, unique, type Person, type Via } from '../support/app/client.ts';
import { noOperators } from '../support/tenants/operators.ts';

/**
 * A cached decision is never returned for another question: the same pair is checked by different users, tokens and
 * keys, in different scopes, with different attributes, in many orders, over both transports, with warm caches and
 * with caches that were just invalidated. Each expected answer is known in advance, so that a wrong one is detected.
 */
const actions = ['own', 'region', 'level', 'place'] as const;
const conditions: Record<(typeof actions)[number], object> = {
  own: { Equals: { 'resource.ownerId': '{{user.id}}' } },
  region: { Equals: { 'resource.region': '{{role.metadata.region}}' } },
  level: { NumericGreaterThanEquals: { 'user.metadata.level': { $ref: 'resource.level' } } },
  place: { Equals: { 'scope.tenant': { $ref: 'resource.tenant' } } },
};

let app: TestApp;
let founder: Person;
let projectId: string;
let scope: ScopeRef;
let editor: { userId: string; token: string; roleId: string };
let other: { userId: string; token: string; roleId: string };
let projectKey: string;
let viewerKey: string;

const as = () => ({ token: founder.token });

async function tokenOf(keyScope: ScopeRef, roleId?: string): Promise<string> {
  const key = await app.must('createApiKey', { scope: keyScope, ...(roleId ? { roleId } : {}) }, as());
  const { clientId, clientSecret } = key;
  const exchange = { clientId, clientSecret: clientSecret as string, scope: key.scope };
  return (await app.must('exchangeApiKey', exchange)).accessToken;
}

beforeAll(async () => {
  app = await startApp();
  founder = await app.person({ type: 'organization' });
  const { id } = await app.must('createOrganization', { scope: founder.account, name: 'O' }, as());
  const organization: ScopeRef = { tenant: 'organization', id };
  const project = await app.must('createProject', { scope: organization, name: 'P' }, as());
  ({ id: projectId, scope } = project);
  const resource = await app.must(
    'createResource',
    { scope, name: 'Doc', slug: 'doc', actions: [...actions] },
    as(),
  );
  const permissionIds = [];
  for (const action of actions) {
    const about = { resourceId: resource.id, action, name: action, condition: conditions[action] as never };
    permissionIds.push((await app.must('createPermission', { scope, ...about }, as())).id);
  }
  const group = await app.must('createGroup', { scope, name: 'Docs', permissionIds }, as());
  async function wearing(region: string, level: number) {
    const role = { scope, name: region, metadata: { region }, groupIds: [group.id] };
    const { id: roleId } = await app.must('createRole', role, as());
    const member = { scope: organization, name: region, roleIds: [roleIdOf('Organization Viewer')] };
    const { id: userId } = await app.must('createUser', member, as());
    await app.must('createUser', { scope, userId, metadata: { level }, roleIds: [roleId] }, as());
    const token = await tokenOf({ tenant: 'projectUser', id: `${projectId}:${userId}` });
    return { userId, token, roleId };
  }
  editor = await wearing('eu', 5);
  other = await wearing('us', 1);
  projectKey = await tokenOf(scope, editor.roleId);
  viewerKey = await tokenOf(scope, roleIdOf('Project Viewer'));
});
afterAll(() => app.close());

interface Case {
  readonly name: string;
  readonly token: string;
  readonly input: Record<string, unknown>;
  readonly reason: string;
}

const [met, unmet] = ['ALLOWED_BY_CONDITION', 'CONDITION_NOT_MET'];

/** The same pairs for every caller in every scope; the expected answer follows from the caller and the scope. */
function cases(): Case[] {
  const own: ScopeRef = { tenant: 'projectUser', id: `${projectId}:${editor.userId}` };
  const requested = (action: string, resource?: object) => ({
    permission: { resource: 'doc', action },
    ...(resource ? { context: { resource } } : {}),
  });
  const everybody = [
    {
      who: 'editor',
      token: editor.token,
      about: {},
      userId: editor.userId,
      region: 'eu',
      level: 5,
    },
    {
      who: 'other',
      token: other.token,
      about: {},
      userId: other.userId,
      region: 'us',
      level: 1,
    },
    // The key acts by its role: the founder, who owns the key, has no level.
    {
      who: 'key',
      token: projectKey,
      about: {},
      userId: founder.userId,
      region: 'eu',
      level: -1,
    },
    {
      who: 'founder about editor',
      token: founder.token,
      about: { scope, subject: { userId: editor.userId } },
      userId: editor.userId,
      region: 'eu',
      level: 5,
    },
    {
      who: 'founder about other',
      token: founder.token,
      about: { scope, subject: { userId: other.userId } },
      userId: other.userId,
      region: 'us',
      level: 1,
    },
    {
      who: 'editor in the project',
      token: editor.token,
      about: { scope },
      userId: editor.userId,
      region: 'eu',
      level: 5,
    },
  ];
  const of = (name: string, token: string, input: object, reason: string | boolean | undefined): Case => ({
    name,
    token,
    input: { ...input },
    reason: typeof reason === 'string' ? reason : reason ? met : unmet,
  });
  return [
    ...everybody.flatMap(({ who, token, about, ...item }) => [
      ...[editor.userId, other.userId, founder.userId].map((ownerId) =>
        of(`${who} owns`, token, { ...about, ...requested('own', { ownerId }) }, ownerId === item.userId),
      ),
      ...['eu', 'us'].map((region) =>
        of(
          `${who} in ${region}`,
          token,
          { ...about, ...requested('region', { region }) },
          region === item.region,
        ),
      ),
      ...[1, 5].map((level) =>
        of(`${who} at ${level}`, token, { ...about, ...requested('level', { level }) }, level <= item.level),
      ),
      ...['projectUser', 'organizationProject'].map((tenant) =>
        of(
          `${who} at a ${tenant}`,
          token,
          { ...about, ...requested('place', { tenant }) },
          // Also of a key or session of the user of a project: conditions read the project.
          tenant === 'organizationProject',
        ),
      ),
      of(`${who} without attributes`, token, { ...about, ...requested('own') }, false),
    ]),
    of('viewer', viewerKey, requested('own', { ownerId: founder.userId }), 'NO_PERMISSION'),
    of(
      'founder',
      founder.token,
      { scope, ...requested('own', { ownerId: founder.userId }) },
      'NO_PERMISSION',
    ),
    of('founder elsewhere', founder.token, { scope: founder.account, ...requested('own') }, 'NO_PERMISSION'),
    of('founder for another', founder.token, { scope: own, ...requested('own') }, 'NO_PERMISSION'),
    of('a key elsewhere', projectKey, { scope: founder.account, ...requested('own') }, 'INVALID_SCOPE'),
  ];
}

/** A shuffle with a fixed seed. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const next = () => (state = (state * 1103515245 + 12345) % 2 ** 31);
  return items
    .map((item) => [next(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

describe('a cached decision', () => {
  const forget = () => app.must('createGroup', { scope, name: `Cold ${unique()}` }, as());
  const orders: [string, (all: Case[]) => Case[], (() => Promise<unknown>) | null][] = [
    ['as they stand', (all) => all, forget],
    ['backwards', (all) => all.toReversed(), null],
    ['shuffled, warm', (all) => shuffled(all, 7), null],
    ['shuffled, cold', (all) => shuffled(all, 11), forget],
    ['each twice', (all) => shuffled([...all, ...all], 13), forget],
  ];

  it.each(orders)('is not returned to another caller: %s', async (_, order, before) => {
    await before?.();
    for (const [turn, { name, token, input, reason }] of order(cases()).entries()) {
      const via = transports[turn % 2] as Via;
      const answer = await app.raw('isAuthorized', input, { token, via });
      expect([name, (answer.data as { reason: string } | null)?.reason ?? answer.code]).toEqual([
        name,
        reason,
      ]);
    }
  });

  it('is not returned to another caller when all ask at once with cold caches', async () => {
    await forget();
    const all = shuffled(cases(), 17);
    const answers = await Promise.all(
      all.map(({ token, input }, turn) =>
        app.raw('isAuthorized', input, { token, via: transports[turn % 2] as Via }),
      ),
    );
    const reasons = answers.map(({ data }, at) => [all[at]?.name, (data as { reason: string }).reason]);
    expect(reasons).toEqual(all.map(({ name, reason }) => [name, reason]));
  });

  it.each(storyTransports(import.meta))('is invalidated when a role or a scope changes (%s)', async (via) => {
    const ask = async (token: string, action: string, resource: object, about = {}) => {
      const permission = { resource: 'doc', action };
      const input = { ...about, permission, context: { resource } } as never;
      return (await app.must('isAuthorized', input, { token, via })).authorized;
    };
    const everyWay = async (action: string, resource: object) => [
      await ask(editor.token, action, resource),
      await ask(editor.token, action, resource, { scope }),
      await ask(founder.token, action, resource, { scope, subject: { userId: editor.userId } }),
    ];
    for (const region of ['us', 'eu']) {
      const changed = { scope, id: editor.roleId, metadata: { region } };
      expect(await everyWay('region', { region })).toEqual([false, false, false]);
      await app.must('updateRole', changed, { ...as(), via });
      expect(await everyWay('region', { region })).toEqual([true, true, true]);
      expect(await ask(projectKey, 'region', { region })).toBe(true);
    }
    for (const level of [9, 5]) {
      const expected = level === 9;
      await app.must('updateUser', { scope, id: editor.userId, metadata: { level } }, { ...as(), via });
      expect(await everyWay('level', { level: 9 })).toEqual([expected, expected, expected]);
      // The level of another user must not change.
      expect(await ask(other.token, 'level', { level: 9 })).toBe(false);
    }
  });

  it.each(storyTransports(import.meta))(
    'of one session does not pass the MFA gate of another (%s)',
    async (via) => {
      const person = await app.person();
      const before = { token: person.token, via };
      const question = { scope: person.account, permission: { resource: 'Project', action: 'Query' } };
      const { factor, secret } = await app.must('createMfaFactor', {}, { token: person.token });
      const code = codeShown(secret, app.clock.now());
      const { accessToken } = await app.must(
        'verifyMfaFactor',
        { id: factor.id, code },
        { token: person.token },
      );
      const login = {
        provider: 'email',
        providerId: person.email,
        providerData: { password: person.password },
      } as const;
      const pending = (await app.must('login', login)).accessToken;
      for (const token of [accessToken, pending, pending, accessToken]) {
        const answer = await app.call('isAuthorized', question, { ...before, token });
        expect(answer.code ?? answer.data.reason).toBe(token === pending ? 'MFA_REQUIRED' : 'ALLOWED');
      }
    },
  );
});

describe('rights of tokens of an app', () => {
  let changes: Changes;
  let resolver: Resolver;
  beforeAll(async () => {
    changes = await openChanges(app.database, () => undefined);
    resolver = createResolver(
      app.database.pool,
      changes,
      builtIns(declaredPermissions(operations)),
      noOperators,
    );
  });
  afterAll(() => changes.close());

  const principal = (over: Partial<Principal>): Principal => ({
    type: 'projectApp',
    userId: editor.userId,
    credentialId: '0198f1c0-0000-7000-8000-000000000001',
    name: null,
    emailVerified: true,
    verificationDeadline: null,
    acr: 'aal1',
    mfaPending: false,
    authenticatedAt: null,
    pinned: scope,
    consented: null,
    origins: [],
    ...over,
  });
  const reasonOf = async (caller: Principal, [resource, action]: readonly [string, string]) => {
    const scopeAndRights = await resolver.resolve(caller, scope);
    const attributes = { ownerId: editor.userId, region: 'eu', level: 5 };
    return scopeAndRights
      ? evaluate(scopeAndRights.rights.grants, { resource, action, attributes }).reason
      : null;
  };

  it('differ by consented scopes, by kind of token and by session, in every order', async () => {
    const [own, region, query] = [
      ['doc', 'own'],
      ['doc', 'region'],
      ['Role', 'Query'],
    ] as const;
    const not = 'SCOPE_NOT_CONSENTED';
    const table = [
      [principal({}), met, met, 'NO_PERMISSION'],
      [principal({ consented: new Set() }), not, not, not],
      [principal({ consented: new Set(['doc:own']) }), met, not, not],
      [principal({ consented: new Set(['doc:region']) }), not, met, not],
      [principal({ consented: new Set(['doc:own', 'doc:region']) }), met, met, not],
      [principal({ consented: new Set(['Role:Query']) }), not, not, 'ALLOWED'],
      // One scope whose two spellings look like two scopes.
      [principal({ consented: new Set(['doc:own doc:region']) }), not, not, not],
      [principal({ type: 'session', pinned: null }), met, met, 'ALLOWED'],
      [principal({ userId: other.userId }), unmet, unmet, 'NO_PERMISSION'],
      [principal({ userId: other.userId, consented: new Set(['doc:own']) }), unmet, not, not],
      [principal({ type: 'session', pinned: null, userId: other.userId }), unmet, unmet, 'ALLOWED'],
      [
        principal({ type: 'session', pinned: null, userId: founder.userId }),
        'NO_PERMISSION',
        'NO_PERMISSION',
        'ALLOWED',
      ],
    ] as const;
    const questions = table.flatMap(([caller, ...reasons]) =>
      [own, region, query].map((pair, at) => ({ caller, pair, reason: reasons[at] })),
    );
    for (const seed of [1, 2, 3, 4]) {
      for (const { caller, pair, reason } of shuffled(questions, seed)) {
        const consented = caller.consented && [...caller.consented];
        const about = [caller.type, caller.userId, consented, ...pair];
        expect([about, await reasonOf(caller, pair)]).toEqual([about, reason]);
      }
    }
  });
});
