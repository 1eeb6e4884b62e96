/**
 * The largest questions that the limits allow, about a role of ten thousand paths with the largest conditions. Limits that are
 * harmless each for itself multiply: conditions × lists, proposals × attributes, cases × values, tests × roles × permissions.
 */

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
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
/** The policy that the questions are about. */
export const widePolicy = {
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

/** A user with these roles, and with this metadata, has all that the conditions read. */
export const roleNames = ['Wide', 'Actor'];
export const userMetadata = { list: numbers(800).map((at) => `i${at}`) };

const list = numbers(7500).map((at) => `i${at}`);
const members = keyed(5000, 'k', (at) => at);
export const largestContext = { resource: { list } };
export const widePermission = { resource: 'order', action: 'read' };

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

/** The project with the policy, and a user with its roles. */
interface World {
  readonly scope: { readonly tenant: string; readonly id: string };
  readonly projectId: string;
  readonly userId: string;
}

interface LargestQuestion {
  /** The operation. */
  readonly name: string;
  readonly input: (world: World) => Record<string, unknown>;
  /** Where it is more than a request may ask. */
  readonly status?: number;
}

const keyedTests = (count: number) =>
  numbers(count).map((at) => ({
    name: `T${at}`,
    permission: 'order:a1',
    subject: { roles: numbers(100).map((role) => `R${role}`) },
    expect: { authorized: true },
  }));

const about = ({ scope, userId }: World) => ({ scope, permission: widePermission, subject: { userId } });
const planned = ({ projectId: id, scope }: World, more: object) => ({
  id,
  scope,
  policy: { version: 1, ...more },
});

export const largestQuestions: readonly (readonly [string, LargestQuestion])[] = [
  [
    'a check with a list',
    { name: 'isAuthorized', input: (world) => ({ ...about(world), context: largestContext }) },
  ],
  [
    'an explanation with thousands of attributes',
    {
      name: 'isAuthorized',
      input: (world) => ({ ...about(world), context: { resource: members }, explain: true }),
    },
  ],
  [
    'an explanation with a list',
    { name: 'isAuthorized', input: (world) => ({ ...about(world), context: largestContext, explain: true }) },
  ],
  [
    'a batch of lists',
    {
      name: 'isAuthorizedBatch',
      input: ({ scope, userId }) => ({
        scope,
        subject: { userId },
        items: numbers(100).map(() => ({
          permission: widePermission,
          context: { resource: { list: list.slice(0, 1000) } },
        })),
      }),
      status: 400,
    },
  ],
  [
    'the users who may, with a list',
    {
      name: 'whoCan',
      input: ({ scope }) => ({ scope, permission: widePermission, context: largestContext }),
    },
  ],
  [
    'a plan with conditions of many cases',
    {
      name: 'planPolicy',
      input: (world) =>
        planned(world, {
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
      input: (world) =>
        planned(world, {
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
      input: (world) =>
        planned(world, {
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
      input: (world) =>
        planned(world, {
          ...groupsOfHundred,
          roles: keyed(1000, 'R', () => ({ groups: numbers(20).map((at) => `H${at}`) })),
        }),
    },
  ],
  [
    'a plan with thousands of unknown names',
    {
      name: 'planPolicy',
      input: (world) =>
        planned(world, {
          ...groupsOfHundred,
          groups: keyed(1000, 'U', (of) => ({
            permissions: numbers(19).map((at) => `unknown ${of} ${at}`),
          })),
        }),
      status: 400,
    },
  ],
];
