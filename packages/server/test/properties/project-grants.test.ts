import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { isWhole } from '../support/cases/breadth.ts';
import { transports, type Person } from '../support/app/client.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../support/tenants/grants.ts';

/**
 * No sequence of acts by the people, keys and machines of a customer reaches a permission that the granted roles do not
 * hold, or a row of another customer or of the owner. The acts are random and mostly refused; after each sequence every
 * subject of the customer is asked for everything.
 */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? (isWhole() ? 10 : 4));
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261_124);

let app: TestApp;
let vendor: Vendor;
let customer: Customer;
let other: Customer;
let grant: { id: string; scope: ScopeRef };
let otherGrant: { id: string; scope: ScopeRef };
let people: readonly Person[];
/** A role of the project that is not granted, with a permission that no granted role has. */
let payer: string;
let otherKey: string;
/** Tokens of the customer's side, to which its acts add. */
const tokens: string[] = [];
const counted = { acts: 0, done: 0, questions: 0 };

beforeAll(async () => {
  app = await startApp();
  vendor = await vendorOf(app);
  const { scope } = vendor;
  const permissionIds = [vendor.permissions['pay'] as string];
  const group = await app.must('createGroup', { scope, name: 'Payers', permissionIds }, vendor);
  payer = (await app.must('createRole', { scope, name: 'Payer', groupIds: [group.id] }, vendor)).id;
  [customer, other] = [await customerOf(app), await customerOf(app)];
  grant = await grantTo(app, vendor, customer);
  otherGrant = await grantTo(app, vendor, other, { roleIds: [vendor.reader] });
  otherKey = (await app.must('createApiKey', { scope: otherGrant.scope, roleId: vendor.reader }, other)).id;
  people = [
    customer.owner,
    await memberOf(app, customer, 'Organization Admin'),
    await memberOf(app, customer, 'Organization Developer'),
    await memberOf(app, customer, 'Organization Viewer'),
  ];
  tokens.push(...people.map(({ token }) => token));
});
afterAll(async () => {
  const { acts, done, questions } = counted;
  process.stdout.write(`grants: ${acts} acts of a customer, ${done} allowed, ${questions} questions\n`);
  await app.close();
});

const kinds = [
  'addUser',
  'changeRoles',
  'changeMetadata',
  'removeUser',
  'createKey',
  'rotateKey',
  'createRole',
  'updateRole',
  'createPermission',
  'changeGroup',
  'updateGrant',
  'changeMember',
  'ownMetadata',
  'invite',
  'foreignKey',
  'apiKeyOfUser',
] as const;

const act = fc.record({
  kind: fc.constantFrom(...kinds),
  by: fc.nat(30),
  about: fc.nat(3),
  role: fc.nat(6),
  scope: fc.nat(9),
  via: fc.constantFrom(...transports),
});
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const keys: { id: string; clientId: string; clientSecret: string; scope: ScopeRef }[] = [];

async function perform({ kind, by, about, role, scope: place, via }: Act): Promise<void> {
  const token = pick(tokens, by);
  const { userId } = pick(people, about);
  const roleId = pick(
    [
      vendor.reader,
      vendor.writer,
      payer,
      roleIdOf('Project Admin'),
      roleIdOf('Organization Owner'),
      roleIdOf('Organization Admin'),
      vendor.writer,
    ],
    role,
  );
  // Mostly the slice, sometimes a scope of others.
  const scope = pick([otherGrant.scope, vendor.scope, ...Array<ScopeRef>(8).fill(grant.scope)], place);
  const call = async (name: string, input: object) => {
    counted.acts++;
    const answer = await app.raw(name, input, { token, via });
    expect(answer.status, `${name}: ${answer.body}`).toBeLessThan(500);
    if (answer.ok) counted.done++;
    return answer;
  };
  const metadata = { plan: 'gold', role: roleId };
  const key = pick(keys, about);
  switch (kind) {
    case 'addUser':
      return void (await call('createUser', { scope, userId, roleIds: [roleId], metadata: {} }));
    case 'changeRoles':
      return void (await call('updateUser', { scope, id: userId, roleIds: [roleId] }));
    case 'changeMetadata':
      return void (await call('updateUser', { scope, id: userId, metadata }));
    case 'removeUser':
      return void (await call('deleteUser', { scope, id: userId }));
    case 'createKey': {
      const made = await call('createApiKey', { scope, roleId });
      if (!made.ok) return;
      const data = made.data as { id: string; clientId: string; clientSecret: string; scope: ScopeRef };
      keys.push(data);
      return exchange(data);
    }
    case 'rotateKey': {
      if (keys.length === 0) return;
      const rotated = await call('rotateApiKey', { scope, id: key.id });
      if (rotated.ok) await exchange(rotated.data as typeof key);
      return;
    }
    case 'createRole':
      return void (await call('createRole', { scope, name: 'Mine' }));
    case 'updateRole':
      return void (await call('updateRole', { scope, id: roleId, name: 'Mine' }));
    case 'createPermission':
      return void (await call('createPermission', { scope, resourceId: vendor.resourceId, action: 'pay' }));
    case 'changeGroup':
      return void (await call('createGroup', {
        scope,
        name: 'G',
        permissionIds: [vendor.permissions['pay']],
      }));
    case 'updateGrant':
      return void (await call('updateProjectGrant', {
        scope: vendor.scope,
        id: grant.id,
        roleIds: [roleId],
        metadata,
      }));
    case 'changeMember':
      return void (await call('updateUser', { scope: customer.scope, id: userId, metadata }));
    case 'ownMetadata':
      return void (await call('updateOrganization', { scope: customer.scope, id: customer.id, metadata }));
    case 'invite': {
      const grantId = pick([grant.id, otherGrant.id], place);
      const input = {
        scope: customer.scope,
        email: `p${counted.acts}@example.test`,
        roleId: roleIdOf('Organization Viewer'),
      };
      return void (await call('inviteMember', { ...input, grants: [{ grantId, roleIds: [roleId] }] }));
    }
    case 'foreignKey':
      return void (await call(pick(['apiKey', 'revokeApiKey', 'rotateApiKey', 'deleteApiKey'], role), {
        scope,
        id: otherKey,
      }));
    case 'apiKeyOfUser': {
      const own = { tenant: 'projectUser' as const, id: `${vendor.projectId}:${userId}` };
      const made = await call('createApiKey', { scope: own });
      expect(made.ok).toBe(false);
    }
  }
}

async function exchange(key: { clientId: string; clientSecret: string; scope: ScopeRef }): Promise<void> {
  const { clientId, clientSecret, scope } = key;
  const answer = await app.raw('exchangeApiKey', { clientId, clientSecret, scope });
  if (answer.ok) tokens.push((answer.data as { accessToken: string }).accessToken);
}

/** What the granted roles hold on the project plane; on the management plane, what a customer may do at all. */
const granted = new Set(['invoice:read', 'invoice:write']);
const ofCustomers =
  /^(User|ApiKey|WebhookSubscription|WebhookDelivery):|^(Role|Group|Permission|Resource|AuditLog|Event):Query$|^Authorization:(Check|Explain)$/;

it('reaches nothing beyond the granted roles', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 40 }), async (acts) => {
      for (const step of acts) await perform(step);
      for (const token of new Set(tokens)) {
        counted.questions++;
        const mine = await app.raw('myPermissions', { scope: grant.scope }, { token });
        const { permissions = [] } = (mine.data ?? {}) as {
          permissions?: { resource: string; action: string }[];
        };
        for (const { resource, action } of permissions) {
          const name = `${resource}:${action}`;
          expect(granted.has(name) || ofCustomers.test(name), name).toBe(true);
        }
        for (const scope of [vendor.scope, otherGrant.scope]) {
          const foreign = await app.raw('myPermissions', { scope }, { token });
          expect([foreign.ok, foreign.reason]).toEqual([false, 'INVALID_SCOPE']);
        }
      }
      const { items } = await app.must('apiKeys', { scope: otherGrant.scope }, other);
      expect(items).toMatchObject([{ id: otherKey, status: 'active' }]);
      expect((await app.must('users', { scope: otherGrant.scope }, other)).items).toEqual([]);
      const stored = await app.must('projectGrant', { scope: vendor.scope, id: grant.id }, vendor);
      expect(stored).toMatchObject({ metadata: {}, status: 'active' });
      expect(stored.roleIds).toEqual([vendor.reader, vendor.writer].sort());
    }),
    { numRuns: RUNS, seed: SEED },
  );
  expect(counted.done).toBeGreaterThan(RUNS);
  expect(counted.done).toBeLessThan(counted.acts);
});
