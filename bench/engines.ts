/**
 * The decision itself, without a service around it: `evaluate` beside @casl/ability and casbin, on the same 500
 * permissions of one subject, in one run: `npm run bench:engines`. A hundred resources, five actions each: two always, two
 * for the owner of the row, one for nobody but as a pair that is asked and not held. All three are given their best: what
 * is held is prepared once, and questions are asked of what was prepared. All have to answer alike before they are timed.
 */
import { createMongoAbility, subject, type RawRuleOf, type MongoAbility } from '@casl/ability';
import { newEnforcer, newModelFromString, StringAdapter } from 'casbin';
import { bench, group, run } from 'mitata';
import { evaluate, indexPermissions, type Grants, type HeldPermission } from '../src/access/evaluate.ts';

const RESOURCES = 100;
const ACTIONS = ['list', 'create', 'read', 'update', 'archive'] as const;
const OWN = new Set<string>(['read', 'update']);
const USER = 'u1';
const condition = { Equals: { 'resource.ownerId': '{{user.id}}' } };
const slug = (n: number): string => `resource-${n}`;

const pairs = Array.from({ length: RESOURCES }, (_, n) =>
  ACTIONS.map((action) => ({ resource: slug(n), action, isOwn: OWN.has(action) })),
).flat();

const carrier = { id: 'r', name: 'Role', metadata: {} };
const held = pairs.map(({ resource, action, isOwn }): HeldPermission => ({
  permission: {
    id: `${resource}:${action}`,
    name: `${resource}:${action}`,
    resource,
    action,
    managementPlane: false,
  },
  condition: isOwn ? condition : null,
  role: carrier,
  group: carrier,
}));
const grants: Grants = {
  standing: 'active',
  user: { id: USER },
  scope: { tenant: 'organizationProject', id: 'o1:p1' },
  held: indexPermissions(held, new Set(['Role', 'Group', 'Permission'])),
};

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
const policy = pairs.map(
  ({ resource, action, isOwn }) => `p, ${USER}, ${resource}, ${action}, ${isOwn ? 'own' : 'any'}`,
);
const enforcer = await newEnforcer(model, new StringAdapter(policy.join('\n')));

interface Case {
  readonly what: string;
  readonly action: string;
  readonly ownerId: string;
  readonly expected: boolean;
}
const cases: readonly Case[] = [
  { what: 'allowed', action: 'list', ownerId: 'u2', expected: true },
  { what: 'refused, not held', action: 'delete', ownerId: USER, expected: false },
  { what: 'condition met', action: 'read', ownerId: USER, expected: true },
  { what: 'condition not met', action: 'update', ownerId: 'u2', expected: false },
];

const engines = {
  doorward: (resource: string, { action, ownerId }: Case): boolean =>
    evaluate(grants, { resource, action, attributes: { ownerId } }).authorized,
  '@casl/ability': (resource: string, { action, ownerId }: Case): boolean =>
    ability.can(action, subject(resource, { ownerId })),
  casbin: (resource: string, { action, ownerId }: Case): boolean =>
    enforcer.enforceSync(USER, resource, ownerId, action),
};

for (const one of cases) {
  for (const [name, decide] of Object.entries(engines)) {
    for (let n = 0; n < RESOURCES; n++) {
      if (decide(slug(n), one) !== one.expected) throw new Error(`${name} says otherwise: ${one.what}`);
    }
  }
  // Another resource each time, so that nobody lives off the last answer.
  group(one.what, () => {
    for (const [name, decide] of Object.entries(engines)) {
      let n = 0;
      bench(name, () => decide(slug((n = (n + 1) % RESOURCES)), one));
    }
  });
}

const { benchmarks } = await run({ colors: false });
const names = Object.keys(engines);
for (const [place, { what }] of cases.entries()) {
  const medians = names.map((_, n) => benchmarks[place * names.length + n]?.runs[0]?.stats?.p50 ?? NaN);
  const [own = NaN] = medians;
  const told = names.map((name, n) => {
    const median = medians[n] ?? NaN;
    return n === 0
      ? `${name} ${median.toFixed(0)} ns`
      : `${name} takes ${(median / own).toFixed(1)} times as long`;
  });
  process.stdout.write(`${what}: ${told.join(', ')}\n`);
}
