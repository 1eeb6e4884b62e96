import { sql } from 'drizzle-orm';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { rowPolicies } from '../../src/db/row-policies.ts';
import { operations } from '../../src/operations.ts';
import type { NamedOperation } from '../../src/kernel/operation.ts';
import type { Tenant } from '../../src/kernel/scope.ts';
import { sampleInput } from '../contract/sample.ts';
import { house, nounOf, type House } from '../contract/world.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { edits, unfiltered } from './without-filter.ts';

/**
 * Beside the matrices of `test/contract`, which run in this build too: what lists show when nothing but row-level
 * security chooses their rows, and that without it these very calls show what is foreign.
 */
const guarded = operations.filter(({ access, kind }) => access.includes(':') && kind === 'query');
const lists = guarded.filter(({ input }) => 'limit' in input);
const reads = guarded.filter(({ target, name }) => target && name !== 'events');

let app: TestApp;
let alice: House;
let mallory: House;
/** Ids of everything that is mallory's. */
let foreign: string[];

beforeAll(async () => {
  expect(inject('postgresUrl'), 'this suite needs TEST_DATABASE_URL').not.toBe('');
  app = await startApp();
  // What was made first comes first where a list is in order of time.
  [mallory, alice] = [await house(app), await house(app)];
  foreign = Object.values(mallory.places).flatMap(({ scope, rows }) => [
    ...scope.id.split(':'),
    ...Object.values(rows).flatMap(({ live, deleted }) => [...live, ...deleted]),
  ]);
});
afterAll(() => app.close());

function ask(op: NamedOperation, tenant: Tenant, id?: string) {
  const input = sampleInput(op, alice.places[tenant].scope, { id });
  if ('limit' in op.input) input['limit'] = 100;
  // Built-in rows fill a page by themselves.
  if ('isSystem' in op.input) input['isSystem'] = false;
  return app.raw(op.name, input, { token: alice.person.token });
}

/** Names of the lists that show something of mallory in a scope of alice. */
async function leakingLists(): Promise<string[]> {
  const found = new Set<string>();
  for (const op of lists) {
    for (const tenant of op.tenants ?? []) {
      const { body } = await ask(op, tenant);
      if (foreign.some((id) => body.includes(id))) found.add(op.name);
    }
  }
  return [...found];
}

/** Names of the questions that tell a row of mallory from no row, in a scope of alice. */
async function leakingReads(): Promise<string[]> {
  const found = new Set<string>();
  for (const op of reads) {
    for (const tenant of op.tenants ?? []) {
      const id = mallory.places[tenant].rows[nounOf(op)]?.live[0];
      if (id !== undefined && (await ask(op, tenant, id)).code !== 'NOT_FOUND') found.add(op.name);
    }
  }
  return [...found];
}

describe('the second wall', () => {
  it('is alone: every filter is found in the source and taken out of this build', () => {
    const root = join(import.meta.dirname, '../..');
    const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const found = paths
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => unfiltered(`src/${path}`, readFileSync(join(root, 'src', path), 'utf8')).found);
    expect([...new Set(found)].sort()).toEqual(edits.map(({ what }) => what).sort());
    expect(found.length).toBeGreaterThan(30);
  });

  it('shows in a list what is of the scope, and nothing else', async () => {
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

  it('is what keeps them: without it the same calls show what is foreign', async () => {
    for (const name of Object.keys(rowPolicies)) {
      await app.owner.execute(sql`alter table ${sql.identifier(name)} disable row level security`);
    }
    expect((await leakingLists()).sort()).toEqual(lists.map(({ name }) => name).sort());
    expect((await leakingReads()).sort()).toEqual(reads.map(({ name }) => name).sort());
    const { scope } = alice.places.organizationProject;
    const id = mallory.places.organizationProject.rows['Role']?.live[0] as string;
    await app.must('updateRole', { scope, id, name: 'Taken over' }, alice.person);
    await app.must('deleteRole', { scope, id }, alice.person);
  });
});
