import { sql } from 'drizzle-orm';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ORGANIZATION_OWNER, roleIdOf } from '../../src/schema/rights/built-in-ids.ts';
import { SYSTEM_NODE } from '../../src/schema/nodes.ts';
import { pgCode } from '../../src/db/statements/pg-error.ts';
import { rowsOf } from '../../src/db/statements/rows.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { unique, type Answer, type Person } from '../support/app/client.ts';

/**
 * Two owners end the ownership of each other, or their own, at the same moment: neither transaction sees the
 * uncommitted change of the other, so only the database can refuse one. On PostgreSQL the two use two processes.
 */
/** One for each race. */
const manyOrganizations = { ORGANIZATIONS_MAX_PER_ACCOUNT: '1000000' };
const RACES = Number(process.env['OWNER_RACES'] ?? (inject('postgresUrl') ? 400 : 60));
const AT_ONCE = 10;

let testApp: TestApp;
let other: TestApp;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  testApp = await startOwnApp(manyOrganizations);
  other = inject('postgresUrl') ? await startOwnApp(manyOrganizations, testApp) : testApp;
  ada = await testApp.person({ type: 'organization' });
  bob = await testApp.person({ type: 'organization' });
});
afterAll(async () => {
  if (other !== testApp) await other.close();
  await testApp.close();
});

/** Ways to end an ownership, by the owner in question or by the other one. */
const ways = {
  remove: (app: TestApp, by: Person, of: Person, scope: ScopeRef) =>
    app.call('removeOrganizationMember', { scope, userId: of.userId }, { token: by.token }),
  demote: (app: TestApp, by: Person, of: Person, scope: ScopeRef) =>
    app.call(
      'updateOrganizationMember',
      { scope, userId: of.userId, roleId: roleIdOf('Organization Viewer') },
      { token: by.token },
    ),
  delete: (app: TestApp, by: Person, of: Person, scope: ScopeRef) =>
    app.call('deleteUser', { scope, id: of.userId }, { token: by.token }),
  leave: (app: TestApp, by: Person, _: Person, scope: ScopeRef) =>
    app.call('removeOrganizationMember', { scope, userId: by.userId }, { token: by.token }),
} satisfies Record<string, (app: TestApp, by: Person, of: Person, scope: ScopeRef) => Promise<Answer>>;
const names = Object.keys(ways) as (keyof typeof ways)[];

async function race(number: number): Promise<string> {
  const { id } = await testApp.must(
    'createOrganization',
    { scope: ada.account, name: 'Race', slug: `race-${number}-${unique()}` },
    { token: ada.token },
  );
  await testApp.database.pool.execute(sql`
    insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
    values (${id}::uuid, ${bob.userId}::uuid, ${ORGANIZATION_OWNER}::uuid, ${SYSTEM_NODE}::uuid)`);
  const scope: ScopeRef = { tenant: 'organization', id };
  const first = names[number % names.length] ?? 'remove';
  const second = names[Math.floor(number / names.length) % names.length] ?? 'remove';
  const answers = await Promise.all([
    ways[first](testApp, ada, bob, scope),
    ways[second](other, bob, ada, scope),
  ]);
  const [left] = await rowsOf<{ owners: number }>(
    testApp.database.pool,
    sql`select count(*)::int as owners from organization_members
      where tenant_id = ${id}::uuid and role_id = ${ORGANIZATION_OWNER}::uuid`,
  );
  expect(left?.owners, `${first} × ${second}: ${answers.map(({ body }) => body).join('\n')}`).toBe(1);
  // A demoted owner may still leave: then both calls succeed, and the other owner remains.
  const loser = answers.find(({ ok }) => !ok);
  if (!loser) return 'nobody';
  // The second caller is refused, with the reason that applies to their way.
  expect(['LAST_OWNER', 'FORBIDDEN', 'NOT_FOUND', 'PRIVILEGE_ESCALATION'], loser.body).toContain(loser.code);
  return loser.code ?? '';
}

it(`keeps one owner in ${RACES} races of mutual removal`, { timeout: 120_000 + RACES * 300 }, async () => {
  const refusals: Record<string, number> = {};
  for (let number = 0; number < RACES; number += AT_ONCE) {
    const codes = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => race(number + index)));
    for (const code of codes) refusals[code] = (refusals[code] ?? 0) + 1;
  }
  process.stdout.write(
    `last owner: ${RACES} races on ${testApp === other ? 'one process' : 'two processes'}, one owner left in each; the other was refused with ${JSON.stringify(refusals)}\n`,
  );
  expect(refusals['LAST_OWNER']).toBeGreaterThan(0);
});

describe('the constraint of the database', () => {
  const file = join(import.meta.dirname, '../../migrations/0002_last_owner.sql');

  it('is about the seeded owner role', () => {
    const ids = readFileSync(file, 'utf8').match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [];
    expect([...new Set(ids)]).toEqual([ORGANIZATION_OWNER]);
  });

  it.each([
    ['removed', (id: string) => sql`delete from organization_members where tenant_id = ${id}::uuid`],
    [
      'demoted',
      (id: string) =>
        sql`update organization_members set role_id = ${roleIdOf('Organization Viewer')}::uuid where tenant_id = ${id}::uuid`,
    ],
    ['disabled', () => sql`update users set status = 'disabled' where id = ${ada.userId}::uuid`],
    ['deleted', () => sql`update users set deleted_at = now() where id = ${ada.userId}::uuid`],
    ['no longer verified', () => sql`update users set email_verified = false where id = ${ada.userId}::uuid`],
  ])('holds for statements by hand: %s', async (_, statement) => {
    const { id } = await testApp.must(
      'createOrganization',
      { scope: ada.account, name: 'By hand' },
      { token: ada.token },
    );
    const refusal = await testApp.database.pool.execute(statement(id)).then(
      () => null,
      (error: unknown) => pgCode(error),
    );
    expect(refusal).toBe('DW001');
  });
});
