import { sql } from 'drizzle-orm';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ORGANIZATION_OWNER, roleIdOf } from '../../src/access/built-in.ts';
import { SYSTEM_NODE } from '../../src/db/nodes.ts';
import { pgCode } from '../../src/db/pg-error.ts';
import { rowsOf } from '../../src/db/rows.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { unique, type Answer, type Person } from '../support/client.ts';

/**
 * Two owners who each end the ownership of the other, or their own, at the same moment: neither sees what the other is
 * about to commit, so only the database can say no. On PostgreSQL the two ask two processes.
 */
const RACES = Number(process.env['OWNER_RACES'] ?? (inject('postgresUrl') ? 400 : 60));
const AT_ONCE = 10;

let one: TestApp;
let other: TestApp;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  one = await startApp();
  other = inject('postgresUrl') ? await startApp({}, one) : one;
  ada = await one.person({ type: 'organization' });
  bob = await one.person({ type: 'organization' });
});
afterAll(async () => {
  if (other !== one) await other.close();
  await one.close();
});

/** Ways to end an ownership, by its holder or by the other owner. */
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
  const { id } = await one.must(
    'createOrganization',
    { scope: ada.account, name: 'Race', slug: `race-${number}-${unique()}` },
    { token: ada.token },
  );
  await one.database.pool.execute(sql`
    insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
    values (${id}::uuid, ${bob.userId}::uuid, ${ORGANIZATION_OWNER}::uuid, ${SYSTEM_NODE}::uuid)`);
  const scope: ScopeRef = { tenant: 'organization', id };
  const first = names[number % names.length] ?? 'remove';
  const second = names[Math.floor(number / names.length) % names.length] ?? 'remove';
  const answers = await Promise.all([
    ways[first](one, ada, bob, scope),
    ways[second](other, bob, ada, scope),
  ]);
  const [left] = await rowsOf<{ owners: number }>(
    one.database.pool,
    sql`select count(*)::int as owners from organization_members
      where tenant_id = ${id}::uuid and role_id = ${ORGANIZATION_OWNER}::uuid`,
  );
  expect(left?.owners, `${first} × ${second}: ${answers.map(({ body }) => body).join('\n')}`).toBe(1);
  // Who was demoted may still leave: then both succeed, and the other one stays.
  const loser = answers.find(({ ok }) => !ok);
  if (!loser) return 'nobody';
  // Whoever comes second is too late in one way or another, and is told in which.
  expect(['LAST_OWNER', 'FORBIDDEN', 'NOT_FOUND', 'PRIVILEGE_ESCALATION'], loser.body).toContain(loser.code);
  return loser.code ?? '';
}

it(`keeps one owner in ${RACES} races of mutual removal`, { timeout: 120_000 }, async () => {
  const refusals: Record<string, number> = {};
  for (let number = 0; number < RACES; number += AT_ONCE) {
    const codes = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => race(number + index)));
    for (const code of codes) refusals[code] = (refusals[code] ?? 0) + 1;
  }
  process.stdout.write(
    `last owner: ${RACES} races on ${one === other ? 'one process' : 'two processes'}, one owner left in each; the other was refused with ${JSON.stringify(refusals)}\n`,
  );
  expect(refusals['LAST_OWNER']).toBeGreaterThan(0);
});

describe('the rule of the database', () => {
  const file = join(import.meta.dirname, '../../migrations/0002_last_owner.sql');

  it('is about the role that is seeded', () => {
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
    const { id } = await one.must(
      'createOrganization',
      { scope: ada.account, name: 'By hand' },
      { token: ada.token },
    );
    const refusal = await one.database.pool.execute(statement(id)).then(
      () => null,
      (error: unknown) => pgCode(error),
    );
    expect(refusal).toBe('DW001');
  });
});
