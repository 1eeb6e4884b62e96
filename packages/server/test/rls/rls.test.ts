import { sql } from 'drizzle-orm';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { rowPolicies } from '../../src/db/tenancy/row-policies.ts';
import { operations } from '../../src/operations.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { Tenant } from '../../src/kernel/scope.ts';
import { sampleInput } from '../contract/sample.ts';
import { house, isOfInstallation, nounOf, type House } from '../contract/world.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { edits, unfiltered } from './without-filter.ts';

/**
 * Complements the matrices of `test/contract`, which run in this build too: what lists return when row-level security
 * alone selects their rows, and that without it the same calls return foreign rows.
 */
const guarded = operations.filter(
  // Operators of the installation read rows of every tenant, as the service.
  (op) => op.access.includes(':') && op.kind === 'query' && !isOfInstallation(op),
);
const lists = guarded.filter(({ input }) => 'limit' in input);
const reads = guarded.filter(({ target, name }) => target && name !== 'events');

/** Lists whose own statements name the tenant or a row of it, so that they return no foreign row even without row-level security. */
const namesItsTenant = new Set(['whoCan', 'projectGrantUsers']);

let app: TestApp;
let alice: House;
let mallory: House;
/** Ids of all rows of the foreign account. */
let foreign: string[];

beforeAll(async () => {
  expect(inject('postgresUrl'), 'this suite needs TEST_DATABASE_URL').not.toBe('');
  app = await startApp();
  // The account created first comes first in a list ordered by time.
  [mallory, alice] = [await house(app), await house(app)];
  const { scope } = mallory.places.organizationProject;
  const policy = {
    id: scope.id.split(':')[1] ?? '',
    scope,
    policy: { version: 1, tags: { own: {} } } as never,
  };
  const { applied } = await app.must('applyPolicy', policy, mallory.person);
  foreign = Object.values(mallory.places).flatMap(({ scope, rows }) => [
    ...scope.id.split(':'),
    ...Object.values(rows).flatMap(({ live, deleted }) => [...live, ...deleted]),
  ]);
  foreign.push(applied?.id ?? '');
});
afterAll(() => app.close());

function ask(op: NamedOperation, tenant: Tenant, id?: string) {
  const { scope } = alice.places[tenant];
  // The versions of a policy are listed below their project.
  const own = op.name === 'policyVersions' ? scope.id.split(':')[1] : undefined;
  const input = sampleInput(op, scope, { id: id ?? own });
  if ('limit' in op.input) input['limit'] = 100;
  // Built-in rows fill a page.
  if ('isSystem' in op.input) input['isSystem'] = false;
  return app.raw(op.name, input, { token: alice.person.token });
}

/** Names of the list operations that return a foreign row in a scope of the caller. */
async function leakingLists(): Promise<string[]> {
  const match = new Set<string>();
  for (const op of lists) {
    for (const tenant of op.tenants ?? []) {
      const { body } = await ask(op, tenant);
      if (foreign.some((id) => body.includes(id))) match.add(op.name);
    }
  }
  return [...match];
}

/** Names of the queries that distinguish a foreign row from no row, in a scope of the caller. */
async function leakingReads(): Promise<string[]> {
  const match = new Set<string>();
  for (const op of reads) {
    for (const tenant of op.tenants ?? []) {
      const id = mallory.places[tenant].rows[nounOf(op)]?.live[0];
      if (id !== undefined && (await ask(op, tenant, id)).code !== 'NOT_FOUND') match.add(op.name);
    }
  }
  return [...match];
}

describe('row-level security', () => {
  it('is the only protection: every filter is found in the source and removed from this build', () => {
    const root = join(import.meta.dirname, '../..');
    const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const match = paths
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => unfiltered(`src/${path}`, readFileSync(join(root, 'src', path), 'utf8')).found);
    expect([...new Set(match)].sort()).toEqual(edits.map(({ what }) => what).sort());
    expect(match.length).toBeGreaterThan(30);
  });

  it('returns in a list the rows of the scope only', async () => {
    const { items } = await app.must(
      'roles',
      { scope: alice.places.organization.scope, isSystem: false },
      alice.person,
    );
    expect(items.map(({ id }) => id)).toEqual(alice.places.organization.rows['Role']?.live);
    expect(lists.length).toBeGreaterThan(10);
    expect(await leakingLists()).toEqual([]);
    expect(await leakingReads()).toEqual([]);
  });

  it('is the reason: without it the same calls return foreign rows', async () => {
    for (const name of Object.keys(rowPolicies)) {
      await app.owner.execute(sql`alter table ${sql.identifier(name)} disable row level security`);
    }
    const leaking = lists.filter(({ name }) => !namesItsTenant.has(name)).map(({ name }) => name);
    expect((await leakingLists()).sort()).toEqual(leaking.sort());
    expect((await leakingReads()).sort()).toEqual(reads.map(({ name }) => name).sort());
    const { scope } = alice.places.organizationProject;
    const id = mallory.places.organizationProject.rows['Group']?.live[0] as string;
    await app.must('updateGroup', { scope, id, name: 'Taken over' }, alice.person);
    await app.must('deleteGroup', { scope, id }, alice.person);
  });
});
