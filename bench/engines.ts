/**
 * The decision in one process, without the service: compares `decide` on a compiled snapshot with @casl/ability and casbin, in
 * one run: `npm run bench:engines`. There are a hundred resources with five actions each: three are allowed always, two for the
 * owner of the row. The action `delete` is never allowed. Each engine prepares the permissions once, before it is timed. All
 * engines must give the same answers first.
 *
 * The engines are asked about one user, whose permissions all of them hold. The snapshot has 10,000 users, half of them with three
 * roles that all contain the permissions; the figures at the end are about all users in turn.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMongoAbility, subject, type RawRuleOf, type MongoAbility } from '@casl/ability';
import { newEnforcer, newModelFromString, StringAdapter } from 'casbin';
import { bench, group, run } from 'mitata';
import { applyChanges, compileSnapshot, decide, type Policy } from '@doorward/decision';

const RESOURCES = 100;
const ACTIONS = ['list', 'create', 'read', 'update', 'archive'] as const;
const OWN = new Set<string>(['read', 'update']);
const slugs = Array.from({ length: RESOURCES }, (_, n) => `resource-${n}`);
const pairs = slugs.flatMap((resource) =>
  ACTIONS.map((action) => ({ resource, action, isOwn: OWN.has(action) })),
);

const USERS = 10_000;
const userIds = Array.from(
  { length: USERS },
  (_, n) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
);
const [USER = ''] = userIds;
const NOW = 0;

const roleIds = ['r1', 'r2', 'r3'];
const header = {
  ...{ iss: 'https://doorward.example', aud: 'doorward-snapshot', sub: 'p1', iat: 0, exp: 86_400, format: 1 },
  ...{ sequence: 1, revision: '1', asOf: 0, ended: { jti: [], issuedBefore: null, kids: [] } },
};
const snapshot = {
  ...header,
  version: 'v0',
  scope: { tenant: 'organizationProject', id: 'o1:p1', organizationId: 'o1', projectId: 'p1' },
  userFilter: 'all',
  nouns: ['Role', 'Group', 'Permission'],
  resources: slugs.map((slug) => ({ id: slug, slug, isSystem: false })),
  permissions: pairs.map(({ resource, action, isOwn }, n) => ({
    id: `${resource}:${action}`,
    name: `${resource}:${action}`,
    resourceId: resource,
    action,
    condition: isOwn ? { Equals: { 'resource.ownerId': '{{user.id}}' } } : null,
    createdAt: n,
  })),
  groups: [
    { id: 'g', name: 'Group', permissionIds: pairs.map(({ resource, action }) => `${resource}:${action}`) },
  ],
  roles: roleIds.map((id) => ({ id, name: 'Role', groupIds: ['g'] })),
  users: userIds.map((id, n) => ({ id, roleIds: n % 2 ? roleIds : ['r1'] })),
  keys: [],
  apps: [],
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const text = JSON.stringify(snapshot);
const heapBefore = heapBytes();
const compileStart = performance.now();
const policy = compileSnapshot(JSON.parse(text));
const compileMs = performance.now() - compileStart;
const heapOfUsers = heapBytes() - heapBefore;

const ability: MongoAbility = createMongoAbility(
  pairs.map(({ resource, action, isOwn }): RawRuleOf<MongoAbility> => ({
    action,
    subject: resource,
    ...(isOwn && { conditions: { ownerId: USER } }),
  })),
);

const model = newModelFromString(`
[request_definition]
r = sub, obj, owner, act
[policy_definition]
p = sub, obj, act, own
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.obj == p.obj && r.act == p.act && r.sub == p.sub && (p.own == "any" || r.owner == r.sub)
`);
const rules = pairs.map(
  ({ resource, action, isOwn }) => `p, ${USER}, ${resource}, ${action}, ${isOwn ? 'own' : 'any'}`,
);
const enforcer = await newEnforcer(model, new StringAdapter(rules.join('\n')));

interface Case {
  readonly what: string;
  readonly action: string;
  /** Whether the user of the question owns the row. */
  readonly isOwner: boolean;
  readonly expected: boolean;
}
const cases: readonly Case[] = [
  { what: 'allowed', action: 'list', isOwner: false, expected: true },
  { what: 'refused, not held', action: 'delete', isOwner: true, expected: false },
  { what: 'condition met', action: 'read', isOwner: true, expected: true },
  { what: 'condition not met', action: 'update', isOwner: false, expected: false },
];

const slugAt = (n: number): string => slugs[n % RESOURCES] as string;
const ownerOf = (userId: string, { isOwner }: Case): string => (isOwner ? userId : 'u2');

function decideFor(userId: string, n: number, case_: Case): boolean {
  const permission = { resource: slugAt(n), action: case_.action };
  const context = { resource: { ownerId: ownerOf(userId, case_) } };
  return decide(policy, { subject: { userId }, permission, context, now: NOW }).authorized;
}

const engines = {
  doorward: (n: number, case_: Case): boolean => decideFor(USER, n, case_),
  '@casl/ability': (n: number, case_: Case): boolean =>
    ability.can(case_.action, subject(slugAt(n), { ownerId: ownerOf(USER, case_) })),
  casbin: (n: number, case_: Case): boolean =>
    enforcer.enforceSync(USER, slugAt(n), ownerOf(USER, case_), case_.action),
};

for (const case_ of cases) {
  for (const [name, ask] of Object.entries(engines)) {
    for (let n = 0; n < RESOURCES; n++) {
      if (ask(n, case_) !== case_.expected) throw new Error(`${name} gives another answer: ${case_.what}`);
    }
  }
  // Each call uses another resource, so that no engine benefits from caching its last answer.
  group(case_.what, () => {
    for (const [name, ask] of Object.entries(engines)) {
      let n = 0;
      bench(name, () => ask(n++, case_));
    }
  });
}

const { benchmarks } = await run({ colors: false });
const names = Object.keys(engines);
for (const [place, { what }] of cases.entries()) {
  const medians = names.map((_, n) => benchmarks[place * names.length + n]?.runs[0]?.stats?.p50 ?? NaN);
  const [own = NaN] = medians;
  const reported = names.map((name, n) => {
    const median = medians[n] ?? NaN;
    return n === 0
      ? `${name} ${median.toFixed(0)} ns`
      : `${name} takes ${(median / own).toFixed(1)} times as long`;
  });
  process.stdout.write(`${what}: ${reported.join(', ')}\n`);
}

/** Decisions in a second over all cases and users in turn, and the 99th percentile of single ones, the timer included. */
function measure() {
  const DECISIONS = 1_000_000;
  // A step that visits all users and cases, in no order.
  const ask = (n: number) =>
    decideFor(userIds[(n * 7919) % USERS] as string, n, cases[(n >> 2) % cases.length] as Case);
  const start = performance.now();
  for (let n = 0; n < DECISIONS; n++) ask(n);
  const perSecond = (DECISIONS / (performance.now() - start)) * 1000;
  const nanoseconds = new Float64Array(DECISIONS / 10);
  for (let n = 0; n < nanoseconds.length; n++) {
    const before = process.hrtime.bigint();
    ask(n);
    nanoseconds[n] = Number(process.hrtime.bigint() - before);
  }
  nanoseconds.sort();
  return { perSecond, p99: nanoseconds[Math.floor(nanoseconds.length * 0.99)] ?? NaN };
}

/** The time to apply changes that contain one user, in milliseconds. */
function measureChanges(): number {
  const CHANGES = 100;
  let current: Policy = policy;
  const start = performance.now();
  for (let n = 0; n < CHANGES; n++) {
    const users = [{ id: userIds[n], roleIds: ['r2'] }];
    const versions = { from: current.version, to: `v${n + 1}`, full: false };
    current = applyChanges(current, { ...header, ...versions, put: { users }, drop: {} });
  }
  return (performance.now() - start) / CHANGES;
}

const { perSecond, p99 } = measure();
const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
process.stdout.write(
  `decide: ${(perSecond / 1e6).toFixed(2)} million decisions per second, 99 % within ${(p99 / 1000).toFixed(2)} µs\n` +
    `${USERS} users: ${megabytes(heapOfUsers)} of memory for ${megabytes(text.length)} of JSON, ` +
    `read and compiled in ${compileMs.toFixed(0)} ms; a change of one user ${measureChanges().toFixed(2)} ms\n`,
);
