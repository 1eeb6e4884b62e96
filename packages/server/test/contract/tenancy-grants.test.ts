import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { operations } from '../../src/operations.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { combinations, isWhole } from '../support/cases/breadth.ts';
import { transports, unique, type Answer, type Via } from '../support/app/client.ts';
import {
  customerOf,
  granted,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../support/tenants/grants.ts';
import { sampleInput } from './sample.ts';
import { digest, joined, keyToken, nounOf } from './world.ts';

/**
 * The tenancy matrix of project grants: every operation that works in a project, by customers and by the owner of the
 * project, in each other's scopes and with each other's rows. The answer must be the bytes that a scope or row which never
 * existed gets, so that no one learns of another customer; and no table may have changed.
 */
const inProjects = operations.filter((op) => op.scoped && op.tenants?.includes('organizationProject'));
const withRow = inProjects.filter(({ pathParameter }) => pathParameter === 'id');

/** The rows of a tenant by noun. */
type Rows = Readonly<Record<string, string>>;

interface Side {
  readonly name: string;
  readonly scope: ScopeRef;
  /** Tokens of a session and of keys. */
  readonly tokens: readonly string[];
  readonly rows: Rows;
}

let app: TestApp;
let vendor: Vendor;
let owner: Side;
let first: Side;
let second: Side;
/** A customer whose grant was revoked. */
let former: Side;
let before: Record<string, string>;
const counted = { asked: 0, alike: 0 };

beforeAll(async () => {
  app = await startApp();
  vendor = await vendorOf(app);
  const grantIds: string[] = [];
  const side = async (name: string): Promise<Side & { readonly grantId: string }> => {
    const customer = await customerOf(app);
    const { id: grantId, scope } = await grantTo(app, vendor, customer);
    grantIds.push(grantId);
    return { name, scope, grantId, ...(await contentsOf(customer, scope)) };
  };
  [first, second] = [await side('a customer'), await side('another customer')];
  const ended = await side('a former customer');
  await app.must('revokeProjectGrant', { scope: vendor.scope, id: ended.grantId }, vendor);
  former = ended;
  owner = {
    name: 'the owner',
    scope: vendor.scope,
    tokens: [vendor.token, await keyToken(app, vendor.token, vendor.scope)],
    rows: await rowsOfVendor(grantIds[0] as string),
  };
  await app.app.flushMails();
  before = await digest(app, { butDenials: true });
}, 120_000);
afterAll(() => app.close());

/** A user, a key, a subscription and a delivery in the slice, and tokens of the customer. */
async function contentsOf(customer: Customer, scope: ScopeRef) {
  const as = { token: customer.token };
  const user = await memberOf(app, customer, 'Organization Viewer');
  await app.must('createUser', { scope, userId: user.userId, roleIds: [vendor.reader] }, as);
  const { id: key } = await app.must('createApiKey', { scope, roleId: vendor.reader }, as);
  const url = 'https://hooks.example.test/';
  const hook = await app.must('createWebhookSubscription', { scope, url, eventTypes: ['*'] }, as);
  const delivery = await app.must('testWebhookSubscription', { scope, id: hook.id }, as);
  const machine = { scope: customer.scope, kind: 'service' as const, name: 'Machine' };
  const roleIds = [roleIdOf('Organization Admin')];
  const { id: machineId } = await app.must('createUser', { ...machine, roleIds }, as);
  const tokens = [
    customer.token,
    await keyToken(app, customer.token, scope, vendor.writer),
    await keyToken(app, customer.token, customer.scope, undefined, machineId),
  ];
  const rows: Rows = {
    User: user.userId,
    ApiKey: key,
    WebhookSubscription: hook.id,
    WebhookDelivery: delivery.id,
    Subject: user.userId,
  };
  return { tokens, rows };
}

/** Rows of the project that no grant contains, and one grant. */
async function rowsOfVendor(grantId: string): Promise<Rows> {
  const { scope } = vendor;
  const named = async (name: 'createRole' | 'createGroup' | 'createTag') =>
    (await app.must(name, { scope, name: unique() }, vendor)).id;
  const hook = { scope, url: 'https://hooks.example.test/', eventTypes: ['*'] };
  const { id: webhook } = await app.must('createWebhookSubscription', hook, vendor);
  return {
    Role: await named('createRole'),
    Group: await named('createGroup'),
    Tag: await named('createTag'),
    Permission: vendor.permissions['pay'] as string,
    Resource: (await app.must('createResource', { scope, name: 'R', slug: 'other' }, vendor)).id,
    ApiKey: (await app.must('createApiKey', { scope }, vendor)).id,
    WebhookSubscription: webhook,
    WebhookDelivery: (await app.must('testWebhookSubscription', { scope, id: webhook }, vendor)).id,
    User: vendor.person.userId,
    Subject: vendor.person.userId,
    ProjectGrant: grantId,
    Project: vendor.projectId,
  };
}

/** Everything but the clock and the counters. */
const reported = ({ status, headers: { date: _, ratelimit: __, ...headers }, body }: Answer): unknown => ({
  status,
  headers,
  body,
});
const viaOf = (op: NamedOperation): readonly Via[] => (op.only === 'rest' ? ['rest'] : transports);
const headers = { 'x-request-id': 'tenancy-of-grants' };

async function expectAlike(
  op: NamedOperation,
  { token, via }: { readonly token: string; readonly via: Via },
  inputs: readonly [object, object],
  what: string,
) {
  counted.asked++;
  const [real, unknown] = [
    await app.raw(op.name, inputs[0], { token, via, headers }),
    await app.raw(op.name, inputs[1], { token, via, headers }),
  ];
  expect(reported(real), `${op.name} over ${via}: ${what}`).toEqual(reported(unknown));
  counted.alike++;
}

/** Calls by a caller to a side, over each transport, with a session, a key of the slice, and another key. */
const callsOf = (op: NamedOperation, index: number, pairs: readonly (readonly [Side, Side])[]) =>
  combinations(index, { pair: pairs, credential: [0, 1, 2], via: viaOf(op) }).flatMap(
    ({ pair: [caller, side], credential, via }) => {
      const token = caller.tokens[credential];
      return token === undefined ? [] : [{ caller, side, by: { token, via } }];
    },
  );

it('lists nothing of others', async () => {
  const foreignIds = (caller: Side) =>
    [first, second, former, owner]
      .filter((side) => side !== caller)
      .flatMap(({ rows: { Project: _, ...rows }, scope }) => [
        ...Object.values(rows),
        scope.id.split(':')[0] as string,
      ]);
  const lists = inProjects.filter(({ kind, input }) => kind === 'query' && 'limit' in input);
  for (const op of lists.filter(({ name }) => name !== 'projectGrants')) {
    for (const caller of [first, second, owner]) {
      const { body } = await app.raw(op.name, sampleInput(op, caller.scope), { token: caller.tokens[0] });
      // The owner learns which user of a customer has which roles (`project_grant.user_changed`).
      if (caller === owner && (op.name === 'events' || op.name === 'auditLogs')) continue;
      const hidden = foreignIds(caller);
      expect(
        hidden.filter((id) => body.includes(id)),
        `${op.name} of ${caller.name}`,
      ).toEqual([]);
    }
  }
});

describe('in a foreign scope', () => {
  it.each(inProjects.map((op, index) => [op.name, op, index] as const))('%s', async (_, op, index) => {
    const pairs: readonly [Side, Side][] = [
      [first, second],
      [second, first],
      [first, owner],
      [owner, first],
      [first, former],
      [former, first],
      [former, owner],
      [former, former],
    ];
    for (const { caller, side, by } of callsOf(op, index, pairs)) {
      // The owner may ask who can do something in a granted scope; it is tested with its answers.
      if (caller === owner && op.name === 'whoCan') continue;
      const id = side.rows[nounOf(op)];
      const input = sampleInput(op, side.scope, id === undefined ? {} : { id });
      const nobody = joined('organizationProject', randomUUID(), randomUUID());
      const tenant = { tenant: side.scope.tenant, id: nobody.id };
      await expectAlike(op, by, [input, { ...input, scope: tenant }], `${caller.name} at ${side.name}`);
    }
  });
});

describe('with a foreign row in the own scope', () => {
  it.each(withRow.map((op, index) => [op.name, op, index] as const))('%s', async (_, op, index) => {
    const pairs: readonly [Side, Side][] = [
      [first, second],
      [first, owner],
      [owner, first],
      [owner, former],
    ];
    for (const { caller, side, by } of callsOf(op, index, pairs)) {
      const id = side.rows[nounOf(op)];
      // The owner reads its own grants and definitions.
      if (id === undefined || id === caller.rows[nounOf(op)]) continue;
      const input = sampleInput(op, caller.scope, { id });
      const what = `${caller.name} with a row of ${side.name}`;
      await expectAlike(op, by, [input, { ...input, id: randomUUID() }], what);
    }
  });
});

it('is refused completely and changes nothing', async () => {
  process.stdout.write(
    `tenancy of grants: ${counted.alike} of ${counted.asked} alike, ${inProjects.length} operations\n`,
  );
  expect(counted.alike).toBe(counted.asked);
  expect(counted.asked).toBeGreaterThan(inProjects.length * (isWhole() ? 16 : 6));
  expect(granted({ id: first.scope.id.split(':')[0] as string }, vendor)).toEqual(first.scope);
  expect(await digest(app, { butDenials: true })).toEqual(before);
});
