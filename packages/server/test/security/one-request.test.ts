import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import { canonicalTenant, type ScopeRef } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { startOwnApp, type TestApp } from '../support/app.ts';
import { isOfInstallation } from '../contract/world.ts';
import { fullInput, schemas } from '../contract/sample.ts';
import { isWhole } from '../support/breadth.ts';
import type { Person } from '../support/client.ts';
import { leastToll } from '../support/event-loop.ts';

/**
 * Limits that are harmless each for itself, multiplied: conditions × lists, proposals × attributes, cases × values, tests ×
 * roles × permissions. Each question is the largest that its limits allow, of a role of ten thousand paths with the largest
 * conditions. None may keep the process from other requests, whether it is answered or refused.
 */
const MOST_MS = 250;
const MOST_BYTES = 8 * 1024 * 1024;

let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let projectId = '';
let worker = '';

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const keyed = <T>(count: number, name: string, make: (at: number) => T): Record<string, T> =>
  Object.fromEntries(numbers(count).map((at) => [`${name}${at}`, make(at)]));

/** 63 nodes, which read a list of the question, one of the user, and the group by which the permission is held. */
const widest = (at: number) => ({
  Or: [
    { StringEquals: { 'group.metadata.key': `no ${at}` } },
    ...numbers(30).map((leaf) => ({ Contains: { 'resource.list': `a${at} ${leaf}` } })),
    ...numbers(30).map((leaf) => ({ Contains: { 'user.metadata.list': `a${at} ${leaf}` } })),
  ],
});
const many = {
  permissions: keyed(100, 'P', (at) => ({ resource: 'order', action: 'read', condition: widest(at) })),
};
const wide = {
  version: 1,
  resources: { order: { actions: ['read', ...numbers(40).map((at) => `act-${at}`)] } },
  permissions: {
    ...many.permissions,
    ...keyed(40, 'Act', (at) => ({ resource: 'order', action: `act-${at}`, condition: widest(at) })),
  },
  groups: {
    ...keyed(100, 'G', () => ({ permissions: Object.keys(many.permissions) })),
    Acts: { permissions: numbers(40).map((at) => `Act${at}`) },
  },
  roles: {
    Wide: { groups: numbers(100).map((at) => `G${at}`) },
    Actor: { groups: ['Acts'] },
  },
};

beforeAll(async () => {
  app = await startOwnApp();
  // Other tests read small tables; these must be read as they are in use.
  for (const method of [
    'bitmapscan',
    'hashjoin',
    'mergejoin',
    'seqscan',
    'hashagg',
    'material',
    'memoize',
    'sort',
  ])
    await app.owner.execute(`set enable_${method} = on`);
  owner = await app.person({ type: 'organization' });
  const as = { token: owner.token };
  const project = await app.must('createProject', { scope: owner.account, name: 'Wide' }, as);
  ({ id: projectId, scope } = project);
  await app.must('applyPolicy', { id: projectId, scope, policy: wide }, as);
  const roles = await app.must('roles', { scope }, as);
  const roleIds = roles.items.filter(({ name }) => name === 'Wide' || name === 'Actor').map(({ id }) => id);
  const metadata = { list: numbers(800).map((at) => `i${at}`) };
  const users = numbers(5).map((at) => ({ scope, name: `Worker ${at}`, roleIds, metadata }));
  for (const user of users) worker = (await app.must('createUser', user, as)).id;
}, 300_000);
afterAll(() => app.close());

const list = numbers(7500).map((at) => `i${at}`);
const members = keyed(5000, 'k', (at) => at);
const context = { resource: { list } };
const permission = { resource: 'order', action: 'read' };
const about = () => ({ scope, permission, subject: { userId: worker } });

/** A condition of three alternatives of seven, each about a list of a hundred. */
const contradictory = (at: number) => ({
  And: [
    ...numbers(3).map((or) => ({
      Or: numbers(7).map((leaf) => ({ NotEquals: { 'resource.value': `${at} ${or} ${leaf}` } })),
    })),
    { In: { 'resource.value': numbers(100) } },
    { NotIn: { 'resource.value': numbers(99) } },
  ],
});
const groupsOfHundred = {
  resources: { order: { actions: numbers(50).map((at) => `a${at}`) } },
  permissions: keyed(100, 'P', (at) => ({ resource: 'order', action: `a${at % 50}` })),
  groups: keyed(100, 'H', () => ({ permissions: numbers(100).map((at) => `P${at}`) })),
};
const document = (more: object) => ({ id: projectId, scope, policy: { version: 1, ...more } });

interface Case {
  readonly name: string;
  readonly input: () => unknown;
  /** Where it is more than a request may ask. */
  readonly status?: number;
}

const cases: readonly (readonly [string, Case])[] = [
  ['a check with a list', { name: 'isAuthorized', input: () => ({ ...about(), context }) }],
  [
    'an explanation with thousands of attributes',
    { name: 'isAuthorized', input: () => ({ ...about(), context: { resource: members }, explain: true }) },
  ],
  [
    'an explanation with a list',
    { name: 'isAuthorized', input: () => ({ ...about(), context, explain: true }) },
  ],
  [
    'a batch of lists',
    {
      name: 'isAuthorizedBatch',
      input: () => ({
        scope,
        subject: { userId: worker },
        items: numbers(100).map(() => ({ permission, context: { resource: { list: list.slice(0, 1000) } } })),
      }),
      status: 400,
    },
  ],
  ['the users who may, with a list', { name: 'whoCan', input: () => ({ scope, permission, context }) }],
  [
    'a plan with conditions of many cases',
    {
      name: 'planPolicy',
      input: () =>
        document({
          resources: { order: { actions: ['read'] } },
          permissions: keyed(300, 'N', (at) => ({
            resource: 'order',
            action: 'read',
            condition: contradictory(at),
          })),
        }),
    },
  ],
  [
    'a plan with a thousand tests of a hundred roles',
    {
      name: 'planPolicy',
      input: () =>
        document({
          ...groupsOfHundred,
          roles: keyed(100, 'R', () => ({ groups: numbers(100).map((at) => `H${at}`) })),
          tests: keyedTests(1000),
        }),
      status: 400,
    },
  ],
  [
    'a plan with a thousand roles of a hundred groups',
    {
      name: 'planPolicy',
      input: () =>
        document({
          ...groupsOfHundred,
          roles: keyed(1000, 'R', () => ({ groups: numbers(100).map((at) => `H${at}`) })),
        }),
      status: 400,
    },
  ],
  [
    'a plan with a thousand roles of twenty groups',
    {
      name: 'planPolicy',
      input: () =>
        document({
          ...groupsOfHundred,
          roles: keyed(1000, 'R', () => ({ groups: numbers(20).map((at) => `H${at}`) })),
        }),
    },
  ],
  [
    'a plan with thousands of unknown names',
    {
      name: 'planPolicy',
      input: () =>
        document({
          ...groupsOfHundred,
          groups: keyed(1000, 'U', (of) => ({
            permissions: numbers(19).map((at) => `unknown ${of} ${at}`),
          })),
        }),
      status: 400,
    },
  ],
];

const keyedTests = (count: number) =>
  numbers(count).map((at) => ({
    name: `T${at}`,
    permission: 'order:a1',
    subject: { roles: numbers(100).map((role) => `R${role}`) },
    expect: { authorized: true },
  }));

/** Sends the request, and fails if it keeps the process from others, or answers more than a request may. */
async function measured(what: string, name: string, input: unknown) {
  const { result, blockedMs } = await leastToll(MOST_MS, () => app.raw(name, input, { token: owner.token }));
  const bytes = Buffer.byteLength(result.body);
  slowest.push({ what, blockedMs, bytes });
  expect(result.status, `${what}: ${result.body.slice(0, 500)}`).toBeLessThan(500);
  expect(bytes, what).toBeLessThan(MOST_BYTES);
  expect(blockedMs, what).toBeLessThan(MOST_MS);
  return result;
}
const slowest: { readonly what: string; readonly blockedMs: number; readonly bytes: number }[] = [];
afterAll(() => {
  const [worst] = [...slowest].sort((a, b) => b.blockedMs - a.blockedMs);
  process.stdout.write(
    `one request: ${slowest.length} kinds, longest stall ${Math.round(worst?.blockedMs ?? 0)} ms (${worst?.what})\n`,
  );
});

describe('one request', () => {
  it.each(cases)(
    '%s',
    async (what, { name, input, status = 200 }) => {
      const result = await measured(what, name, input());
      expect(result.status, result.body.slice(0, 500)).toBe(status);
    },
    120_000,
  );
});

it('many pages of who may, in one GraphQL request, share one budget', async () => {
  const names = numbers(15).map((at) => `p${at}`);
  const query = `query ($input: WhoCanInput!) { ${names.map((name) => `${name}: whoCan(input: $input) { nextCursor }`).join(' ')} }`;
  const { body } = await app.server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { authorization: `Bearer ${owner.token}` },
    payload: { query, variables: { input: { scope, permission, context } } },
  });
  expect(body).toContain('QUERY_TOO_COMPLEX');
}, 120_000);

/** Whether an operation decides, plans or explains; all others are in the exhaustive suite. */
const decides = ({ rate, access, name }: NamedOperation): boolean =>
  rate === 'check' || access.startsWith('Policy:') || /import|users|audit/i.test(name);

/** Attributes of any form, as large as they may be in each place. */
const free = { list: numbers(600).map((at) => `i${at}`) };

describe('the fullest input of each operation', () => {
  const chosen = operations.filter((op) => !isOfInstallation(op) && (isWhole() || decides(op)));
  it.each(chosen.map((op) => [op.name, op] as const))(
    '%s',
    async (name, op) => {
      const inProject = (op.tenants ?? []).includes(canonicalTenant(scope.tenant));
      const place = op.scoped ? (inProject ? scope : owner.account) : undefined;
      const { properties = {} } = schemas.of(op).input;
      const existing = {
        ...('permission' in properties && { permission }),
        ...('id' in properties && { id: name === 'userPermissions' ? worker : projectId }),
      };
      let input = fullInput(op, place, existing, free);
      while (JSON.stringify(input).length > MOST_BODY) input = halved(input);
      await measured(name, name, input);
    },
    120_000,
  );
});

const MOST_BODY = 1024 * 1024;

/** With half of the items of each long list. */
const halved = <T>(value: T): T =>
  (Array.isArray(value)
    ? value.slice(0, Math.ceil(value.length / 2)).map(halved)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, halved(member)]))
      : value) as T;
