import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { Remedy } from '@doorward/decision/explain';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import type { JsonObject } from '../../src/kernel/input/values.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { transports, type Person } from '../support/app/client.ts';
import { joinOrganization } from './memberships.ts';
import { doWhatIsSaid, type Question } from './remedy-doer.ts';

/**
 * Explanations are correct: for many refusals, in each kind of scope and for each kind of asker, an owner does through
 * the API what `nearest` says, and then the same question is allowed.
 */
let app: TestApp;
let olga: Person;
let otto: Person;
let mia: Person;
let paula: Person;

type Place = 'organization' | 'organizationProject' | 'accountProject';
type Asker = 'owner' | 'session' | 'key' | 'userKey';

/** Resources of the permissions. */
interface Pair {
  readonly resourceId: string;
  readonly resource: string;
  readonly action: string;
}

/**
 * A tenant with pairs of resource and action that are used once each, and a group that allows asking for explanations.
 */
interface Site {
  readonly scope: ScopeRef;
  readonly scopes: readonly ScopeRef[];
  readonly owners: readonly Person[];
  readonly pairs: Pair[];
  readonly base: string;
  readonly builtIn: ReadonlyMap<string, string>;
}
const sites = new Map<Place, Site>();
/** Remedies that were done, and how many of them were listed first. */
let shown = 0;
let first = 0;

const as = (person: Person) => ({ token: person.token });
const ownerOf = ({ owners }: Site) => owners[0] as Person;

beforeAll(async () => {
  app = await startApp();
  [olga, otto, mia, paula] = await Promise.all([
    app.person({ type: 'organization' }),
    app.person(),
    app.person(),
    app.person(),
  ]);
  const { id } = await app.must('createOrganization', { scope: olga.account, name: 'O' }, as(olga));
  const organization: ScopeRef = { tenant: 'organization', id };
  const joining = (role: 'Organization Owner' | 'Organization Viewer') => ({
    ...{ app, via: 'rest' as const, token: olga.token, scope: organization },
    roleIds: [roleIdOf(role)],
  });
  await joinOrganization(joining('Organization Owner'), otto);
  await joinOrganization(joining('Organization Viewer'), mia);
  const { scope } = await app.must('createProject', { scope: organization, name: 'P' }, as(olga));
  sites.set('organization', await open([organization], [olga, otto]));
  sites.set('organizationProject', await open([scope, organization], [olga, otto]));
  const own = await app.must('createProject', { scope: paula.account, name: 'A' }, as(paula));
  sites.set('accountProject', await open([own.scope], [paula]));
});
afterAll(() => app.close());

async function open(scopes: readonly [ScopeRef, ...ScopeRef[]], owners: readonly [Person, ...Person[]]) {
  const [[scope], [owner]] = [scopes, owners];
  const { items } = await app.must('permissions', { scope, isSystem: true, limit: 100 }, as(owner));
  const builtIn = new Map(items.map((item) => [item.name, item.id]));
  const permissionIds = [builtIn.get('Authorization:Explain') ?? ''];
  const { id: base } = await app.must('createGroup', { scope, name: 'Base', permissionIds }, as(owner));
  // An organization has no resources of its own: there, permissions are on built-in ones.
  const pairs =
    scope.tenant === 'organization'
      ? items
          .filter(({ name }) => !/^(Authorization|AuditLog|Event|Organization\w*):/.test(name))
          .map(({ action, resource }) => ({ resourceId: resource.id, resource: resource.slug, action }))
      : await ownPairs(scope, owner);
  return { scope, scopes, owners, pairs, base, builtIn } satisfies Site;
}

async function ownPairs(scope: ScopeRef, owner: Person): Promise<Pair[]> {
  const actions = Array.from({ length: 50 }, (_, index) => `a${index}`);
  const { id } = await app.must('createResource', { scope, name: 'T', slug: 'thing', actions }, as(owner));
  return actions.map((action) => ({ resourceId: id, resource: 'thing', action }));
}

const site = (place: Place): Site => sites.get(place) as Site;

async function permission(at: Site, pair: Pair, condition: JsonObject | null = null): Promise<string> {
  const { resourceId, action } = pair;
  const input = { scope: at.scope, resourceId, action, condition };
  return (await app.must('createPermission', input, as(ownerOf(at)))).id;
}

async function group(at: Site, permissionIds: string[], metadata: JsonObject = {}): Promise<string> {
  const input = { scope: at.scope, name: 'G', permissionIds, metadata };
  return (await app.must('createGroup', input, as(ownerOf(at)))).id;
}

/** With the permission to ask for explanations, since some subjects ask about themselves. */
async function role(at: Site, groupIds: string[], metadata: JsonObject = {}): Promise<string> {
  const input = { scope: at.scope, name: 'R', groupIds: [...groupIds, at.base], metadata };
  return (await app.must('createRole', input, as(ownerOf(at)))).id;
}

/** A refusal: the role of the subject, the pair in question, and the remedy that the explanation must list. */
interface Refusal {
  readonly assigned: string;
  readonly pair: Pick<Pair, 'resource' | 'action'>;
  readonly context?: JsonObject;
  readonly metadata?: JsonObject;
  readonly remedy: { readonly kind: Remedy['kind'] } & Record<string, unknown>;
}
type Recipe = (at: Site) => Promise<Refusal>;

const pairOf = (at: Site): Pair => at.pairs.pop() as Pair;

/** A condition on the resource in question, which is not met; the remedy must name its attribute. */
const thing =
  (condition: JsonObject, context: JsonObject | undefined, path: string, expected: unknown): Recipe =>
  async (at) => {
    const pair = pairOf(at);
    const assigned = await role(at, [await group(at, [await permission(at, pair, condition)])]);
    const remedy = { kind: 'setAttribute' as const, path: `resource.${path}`, expected };
    return { assigned, pair, ...(context && { context }), remedy };
  };

const wearing =
  (condition: JsonObject, where: 'user' | 'role' | 'group', set: object): Recipe =>
  async (at) => {
    const pair = pairOf(at);
    const metadata = { region: 'us', level: 1 };
    const made = await group(at, [await permission(at, pair, condition)], where === 'group' ? metadata : {});
    const assigned = await role(at, [made], where === 'role' ? metadata : {});
    return {
      assigned,
      pair,
      context: { amount: 5 },
      ...(where === 'user' && { metadata }),
      remedy: { kind: 'setAttribute', ...set },
    };
  };

const recipes = {
  /** Another user has a role that would be enough; a larger role exists too. */
  async role(at) {
    const pair = pairOf(at);
    const allowed = await permission(at, pair);
    const [small, large] = [
      await group(at, [allowed]),
      await group(at, [...at.builtIn.values()].slice(0, 9)),
    ];
    await role(at, [small, large]);
    const roleId = await role(at, [small]);
    return { assigned: await role(at, []), pair, remedy: { kind: 'assignRole', roleId } };
  },
  /** Of two roles only one meets the condition. */
  async roleByCondition(at) {
    const pair = pairOf(at);
    const held = await group(at, [await permission(at, pair, { Equals: { 'role.metadata.region': 'eu' } })]);
    await role(at, [held], { region: 'us' });
    const roleId = await role(at, [held], { region: 'eu' });
    return { assigned: await role(at, []), pair, remedy: { kind: 'assignRole', roleId } };
  },
  /** The permission exists, but no group holds it. */
  async link(at) {
    const pair = pairOf(at);
    const permissionId = await permission(at, pair);
    const groupId = await group(at, []);
    return {
      assigned: await role(at, [groupId]),
      pair,
      // In an organization a built-in group holds it too.
      remedy: {
        kind: 'addPermissionToGroup',
        ...(at.scope.tenant !== 'organization' && { permissionId, groupId }),
      },
    };
  },
  async linkByCondition(at) {
    const pair = pairOf(at);
    await permission(at, pair, { Equals: { 'resource.kind': 'other' } });
    const permissionId = await permission(at, pair, { Equals: { 'resource.kind': 'mine' } });
    const remedy = { kind: 'addPermissionToGroup' as const, permissionId };
    return { assigned: await role(at, [await group(at, [])]), pair, context: { kind: 'mine' }, remedy };
  },
  builtInRole: async (at) => ({
    assigned: await role(at, []),
    pair: { resource: 'AuditLog', action: 'query' },
    remedy: {
      kind: 'assignRole',
      roleId: roleIdOf(at.scope.tenant === 'organization' ? 'Organization Admin' : 'Project Admin'),
    },
  }),
  builtInLink: async (at) => ({
    assigned: await role(at, [await group(at, [])]),
    pair: { resource: 'Event', action: 'Query' },
    remedy: { kind: 'addPermissionToGroup', permissionId: at.builtIn.get('Event:Query') },
  }),
  user: wearing({ Equals: { 'user.metadata.region': 'eu' } }, 'user', {
    path: 'user.metadata.region',
    expected: 'eu',
  }),
  userDeeply: wearing({ In: { 'user.metadata.desk.name': ['front', 'back'] } }, 'user', {
    path: 'user.metadata.desk.name',
    expected: 'front',
  }),
  roleMetadata: wearing({ NotEquals: { 'role.metadata.region': 'us' } }, 'role', {
    path: 'role.metadata.region',
    expected: null,
  }),
  groupMetadata: wearing({ NumericGreaterThan: { 'group.metadata.level': 4 } }, 'group', {
    path: 'group.metadata.level',
    expected: 5,
  }),
  draft: thing({ Equals: { 'resource.status': 'draft' } }, { status: 'final' }, 'status', 'draft'),
  absent: thing({ StringIn: { 'resource.a.b': ['x', 'y'] } }, undefined, 'a.b', 'x'),
  label: thing({ Contains: { 'resource.labels': 'x' } }, { labels: ['y'] }, 'labels', ['y', 'x']),
  unlabelled: thing({ Not: { Contains: { 'resource.labels': 'x' } } }, { labels: ['x'] }, 'labels', []),
  cheap: thing({ NumericLessThan: { 'resource.amount': 10 } }, { amount: 10 }, 'amount', 9),
  prefix: thing({ StartsWith: { 'resource.name': 'pre-' } }, { name: 'x' }, 'name', 'pre-'),
  open: thing(
    { And: [{ Equals: { 'resource.id': 1 } }, { Not: { Equals: { 'resource.locked': true } } }] },
    { id: 1, locked: true },
    'locked',
    false,
  ),
  either: thing(
    { Or: [{ Equals: { 'resource.a': 1, 'resource.b': 1 } }, { Equals: { 'resource.c': 1 } }] },
    { a: 1, c: 2 },
    'b',
    1,
  ),
} satisfies Record<string, Recipe>;
type Name = keyof typeof recipes;
const make = (name: Name, at: Site): Promise<Refusal> => recipes[name](at);

const roles: readonly Name[] = ['role', 'roleByCondition', 'builtInRole'];
const links: readonly Name[] = ['link', 'linkByCondition', 'builtInLink'];
const things: readonly Name[] = [
  'draft',
  'absent',
  'label',
  'unlabelled',
  'cheap',
  'prefix',
  'open',
  'either',
];
const metadataSources: readonly Name[] = ['roleMetadata', 'groupMetadata'];

/** The recipes for each context: each kind of remedy for each asker who can get it. */
const plan: readonly (readonly [Place, Asker, readonly Name[]])[] = [
  ['organization', 'owner', [...roles, ...links, 'user', 'draft', ...metadataSources]],
  [
    'organization',
    'session',
    ['role', 'link', 'builtInLink', 'user', 'absent', 'roleMetadata', 'builtInRole'],
  ],
  ['organizationProject', 'owner', [...roles, ...links, 'userDeeply', ...things, ...metadataSources]],
  ['organizationProject', 'session', ['role', 'roleByCondition', 'link', 'user', 'label']],
  ['organizationProject', 'key', ['link', 'builtInLink', 'user', 'cheap', ...metadataSources]],
  ['organizationProject', 'userKey', ['role', 'link', 'user', 'open']],
  ['accountProject', 'owner', [...roles, ...links, 'user', 'either', ...metadataSources]],
  ['accountProject', 'key', ['link', 'prefix', 'roleMetadata']],
  ['accountProject', 'userKey', ['roleByCondition', 'linkByCondition', 'userDeeply', 'unlabelled']],
];

async function keyToken(at: Site, scope: ScopeRef, roleId?: string): Promise<string> {
  const key = await app.must('createApiKey', { scope, ...(roleId && { roleId }) }, as(ownerOf(at)));
  const { clientId, clientSecret } = key;
  const exchange = { clientId, clientSecret: clientSecret as string, scope: key.scope };
  return (await app.must('exchangeApiKey', exchange)).accessToken;
}

/** Assigns the role to the subject of the question. */
async function subjectOf(at: Site, asker: Asker, { assigned, metadata = {} }: Refusal) {
  const { scope } = at;
  const owner = ownerOf(at);
  if (asker === 'session') {
    const existing = await app.raw('user', { scope, id: mia.userId }, as(owner));
    const input = { scope, roleIds: [assigned], metadata };
    if (existing.ok) await app.must('updateUser', { ...input, id: mia.userId }, as(owner));
    else await app.must('createUser', { ...input, userId: mia.userId }, as(owner));
    return { token: mia.token, userId: mia.userId };
  }
  if (asker === 'key') return { token: await keyToken(at, scope, assigned), userId: owner.userId };
  const created = await app.must(
    'createUser',
    { scope, name: 'U', roleIds: [assigned], metadata },
    as(owner),
  );
  const userId = created.id;
  if (asker === 'owner') return { token: owner.token, userId, subject: { userId } };
  const own: ScopeRef = { tenant: 'projectUser', id: `${scope.id.split(':')[1]}:${userId}` };
  return { token: await keyToken(at, own), userId };
}

type Explained = { authorized: boolean; reason: string; explanation: { nearest: Remedy[] } };

async function refusedThenAllowed(
  at: Site,
  who: { readonly token: string; readonly userId: string; readonly subject?: { readonly userId: string } },
  { pair: { resource, action }, context, remedy: wanted }: Refusal,
): Promise<void> {
  const via = transports[shown++ % 2] ?? 'rest';
  const { token, userId, subject } = who;
  const question: Question = {
    scope: at.scope,
    permission: { resource, action },
    ...(context && { context: { resource: context } }),
    ...(subject && { subject }),
  };
  const ask = async (question: Question, explain: boolean) => {
    const answer = await app.raw('isAuthorized', { ...question, explain }, { via, token });
    if (!answer.ok) throw new Error(answer.body);
    return answer.data as Explained;
  };
  const refused = await ask(question, true);
  expect(refused.authorized).toBe(false);
  const { nearest } = refused.explanation;
  const remedy = nearest.find(({ kind }) => kind === wanted.kind);
  expect(remedy, JSON.stringify(refused.explanation)).toMatchObject(wanted);
  if (remedy === nearest[0]) first++;
  const { owners, scopes } = at;
  const again = await doWhatIsSaid({ app, via, owners, userId, scopes }, remedy as Remedy, question);
  expect(await ask(again, false), JSON.stringify(remedy)).toMatchObject({ authorized: true });
}

describe.each(plan)('%s, asked by %s', (place, asker, names) => {
  it.each(names)('%s', async (name) => {
    const at = site(place);
    const refusal = await make(name, at);
    await refusedThenAllowed(at, await subjectOf(at, asker, refusal), refusal);
  });
});

describe('the owner of a project as part of the remedy', () => {
  const above = () => site('organization');
  const at = () => site('organizationProject');
  const member = async (roleId: string) => {
    const input = { scope: above().scope, name: 'M', roleIds: [roleId] };
    const { id: userId } = await app.must('createUser', input, as(olga));
    return { token: olga.token, userId, subject: { userId } };
  };

  it('a member who is not in it is added to it, with the role', async () => {
    const refusal = await make('role', at());
    await refusedThenAllowed(at(), await member(roleIdOf('Organization Viewer')), refusal);
  });

  it('a group of the organization, held by a member', async () => {
    const refusal = await make('builtInLink', above());
    await refusedThenAllowed(at(), await member(refusal.assigned), refusal);
  });

  it('a group of the organization, held by a key', async () => {
    const refusal = await make('builtInLink', above());
    const token = await keyToken(at(), at().scope, refusal.assigned);
    await refusedThenAllowed(at(), { token, userId: olga.userId }, refusal);
  });

  it('the metadata that the organization has for a member', async () => {
    const refusal = await make('user', above());
    await refusedThenAllowed(at(), await member(refusal.assigned), refusal);
  });

  it('the only owner of an account joins the project with the role', async () => {
    const { scope } = await app.must('createProject', { scope: paula.account, name: 'B' }, as(paula));
    const alone = await open([scope], [paula]);
    await refusedThenAllowed(alone, paula, await make('role', alone));
    // The owner is now in the project, and no other user could assign another role or change their metadata.
    const { pair } = await make('role', alone);
    const permission = { resource: pair.resource, action: pair.action };
    const kinds = (await nearestOf(paula.token, { scope, permission })).map(({ kind }) => kind);
    expect(kinds).toEqual(['addPermissionToGroup']);
  });
});

const nearestOf = async (token: string, question: object) => {
  const answer = await app.raw('isAuthorized', { ...question, explain: true }, { token });
  if (!answer.ok) throw new Error(answer.body);
  return (answer.data as Explained).explanation.nearest;
};

describe('no remedy is listed that an owner could not do', () => {
  it('for permissions that owners do not hold', async () => {
    const at = site('organization');
    const assigned = await role(at, [await group(at, [])]);
    const user = await app.must('createUser', { scope: at.scope, name: 'U', roleIds: [assigned] }, as(olga));
    const permission = { resource: 'Organization', action: 'Create' };
    const question = { scope: at.scope, permission, subject: { userId: user.id } };
    expect(await nearestOf(olga.token, question)).toEqual([]);
  });

  it('for the scope of an account, where nothing can be defined', async () => {
    const permission = { resource: 'Organization', action: 'Delete' };
    expect(await nearestOf(paula.token, { scope: paula.account, permission })).toEqual([]);
  });

  it('for the role of a key, or of an owner', async () => {
    const at = site('organizationProject');
    const { pair } = await make('role', at);
    const permission = { resource: pair.resource, action: pair.action };
    const key = await keyToken(at, at.scope, await role(at, []));
    // Of the groups of the key, only the one that allows asking for explanations belongs to it alone.
    expect(await nearestOf(key, { permission })).toMatchObject([{ groupId: at.base }]);
    const requested = {
      scope: site('organization').scope,
      permission: { resource: 'Organization', action: 'Create' },
    };
    expect(await nearestOf(olga.token, requested)).toEqual([]);
  });
});

it('many remedies were done, most of them listed first', () => {
  process.stdout.write(`remedies: ${shown} done and seen, ${first} of them the first named\n`);
  expect(first).toBeGreaterThanOrEqual(40);
});
