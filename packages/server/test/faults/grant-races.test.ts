import { sql } from 'drizzle-orm';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import type { Answer } from '../support/app/client.ts';
import {
  customerOf,
  grantTo,
  memberOf,
  vendorOf,
  type Customer,
  type Vendor,
} from '../support/tenants/grants.ts';

/**
 * Roles and keys that a customer gives while its grant ends, or loses the role: whichever comes first, nothing outlives
 * the grant, no role is in a slice that the grant does not have, and no request gets a 5xx.
 */
// The embedded database runs one transaction at a time, so fewer interleavings exist.
const ROUNDS = Number(process.env['GRANT_RACES'] ?? 1);

let app: TestApp;
let vendor: Vendor;
beforeAll(async () => {
  app = await startOwnApp();
  vendor = await vendorOf(app);
});
afterAll(() => app.close());

/** Waits some ticks of the event loop, so that each round interleaves differently. */
async function turns(): Promise<void> {
  for (let left = Math.random() * 40; left > 0; left--) await turn();
}

interface Round {
  readonly customer: Customer;
  readonly grant: Awaited<ReturnType<typeof grantTo>>;
}

/** Live rows of slices that have ended, and rows with a role that their grant does not have. */
async function leftovers(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const note = async (name: string, query: ReturnType<typeof sql>) => {
    const [row] = await rowsOf<{ count: number }>(app.database.pool, query);
    if (row && row.count > 0) counts[name] = row.count;
  };
  const ended = sql`join nodes n on n.id = r.tenant_id and n.kind = 'grant' and n.deleted_at is not null`;
  const foreign = sql`join project_grants g on g.id = r.tenant_id where not exists (
    select 1 from project_grant_roles held where held.project_grant_id = g.id and held.role_id = r.role_id)`;
  await note('users of ended slices', sql`select count(*)::int from project_users r ${ended}`);
  await note('roles in ended slices', sql`select count(*)::int from project_user_roles r ${ended}`);
  await note(
    'keys of ended slices',
    sql`select count(*)::int from api_keys r ${ended} where r.revoked_at is null and r.deleted_at is null`,
  );
  await note('roles outside of the grant', sql`select count(*)::int from project_user_roles r ${foreign}`);
  await note(
    'keys outside of the grant',
    sql`select count(*)::int from api_keys r ${foreign} and r.revoked_at is null and r.deleted_at is null`,
  );
  return counts;
}

const ends: Readonly<Record<string, (round: Round) => Promise<Answer>>> = {
  revokeProjectGrant: ({ grant: { id } }) =>
    app.raw('revokeProjectGrant', { scope: vendor.scope, id }, { token: vendor.token }),
  leaveProjectGrant: ({ grant: { id }, customer: { scope, token } }) =>
    app.raw('leaveProjectGrant', { scope, id }, { token }),
  deleteOrganization: ({ customer: { id, scope, token } }) =>
    app.raw('deleteOrganization', { scope, id }, { token }),
  updateProjectGrant: ({ grant: { id } }) =>
    app.raw(
      'updateProjectGrant',
      { scope: vendor.scope, id, roleIds: [vendor.reader] },
      { token: vendor.token },
    ),
};

it.each(Object.keys(ends))(
  '%s beside new roles and keys leaves nothing',
  { timeout: 120_000 + ROUNDS * 10_000 },
  async (name) => {
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const customer = await customerOf(app);
      const grant = await grantTo(app, vendor, customer);
      const { scope } = grant;
      const as = { token: customer.token };
      const [user, newcomer] = [
        await memberOf(app, customer, 'Organization Viewer'),
        await memberOf(app, customer, 'Organization Viewer'),
      ];
      await app.must('createUser', { scope, userId: user.userId, roleIds: [vendor.reader] }, as);
      const key = await app.must('createApiKey', { scope, roleId: vendor.writer }, as);
      const exchange = { clientId: key.clientId, clientSecret: key.clientSecret ?? '', scope: key.scope };
      const [ended, ...answers] = await Promise.all([
        turns().then(() => (ends[name] as (its: Round) => Promise<Answer>)({ customer, grant })),
        turns().then(() => app.raw('updateUser', { scope, id: user.userId, roleIds: [vendor.writer] }, as)),
        turns().then(() =>
          app.raw(
            'createUser',
            { scope, userId: newcomer.userId, roleIds: [vendor.writer], metadata: {} },
            as,
          ),
        ),
        turns().then(() => app.raw('createApiKey', { scope, roleId: vendor.writer }, as)),
        turns().then(() => app.raw('exchangeApiKey', exchange)),
      ]);
      expect(ended.status, ended.body).toBe(200);
      for (const { status, body } of answers) {
        // Refused as in a scope that never existed, or because the role is no longer granted.
        expect([200, 201, 401, 403, 404], body).toContain(status);
        outcomes[status] = (outcomes[status] ?? 0) + 1;
      }
      expect((await app.raw('exchangeApiKey', exchange)).status).toBe(401);
      const permission = { resource: 'invoice', action: 'write' };
      const asked = await app.raw('isAuthorized', { scope, permission }, { token: user.token });
      expect(asked.data).toMatchObject({ authorized: false });
    }
    expect(await leftovers()).toEqual({});
    process.stdout.write(`${name} on ${app.database.mode}: ${JSON.stringify(outcomes)}\n`);
  },
);
