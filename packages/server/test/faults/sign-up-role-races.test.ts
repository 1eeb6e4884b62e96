import { sql } from 'drizzle-orm';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsOf } from '../../src/db/statements/rows.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { unique, type Answer, type Person } from '../support/app/client.ts';

/**
 * An app gets a role for its sign-ups while that role is deleted: one of the two is refused, so that no app sends people to
 * a role that is gone. Either of them may be a policy document.
 */
// The embedded database runs one transaction at a time, so fewer interleavings exist.
const ROUNDS = Number(process.env['SIGN_UP_ROLE_RACES'] ?? 4);
/** One lost race may end in a deadlock, which the database notices after a second. */
const SECONDS_OF_A_ROUND = 10;

let app: TestApp;
/** Another process on PostgreSQL: within one, changes of a tenant wait for each other before they reach the database. */
let other: TestApp;
let owner: Person;
beforeAll(async () => {
  const environment = { SECURITY_RATE_LIMIT_ENABLED: 'false' };
  app = await startOwnApp(environment);
  other = app.database.mode === 'postgres' ? await startOwnApp(environment, app) : app;
  owner = await app.person();
});
afterAll(async () => {
  if (other !== app) await other.close();
  await app.close();
});

const as = () => ({ token: owner.token });

/** Waits some ticks of the event loop, so that each round interleaves differently. */
async function turns(): Promise<void> {
  for (let left = Math.random() * 40; left > 0; left--) await turn();
}

interface Round {
  readonly id: string;
  readonly scope: ScopeRef;
  readonly roleId: string;
  readonly version: string;
}

const roles = { Clerk: {}, Kept: {} };
const redirectUris = ['https://portal.example.test/callback'];
const portal = { redirectUris, signUpRole: 'Clerk', allowSignUp: true };

/** A project whose document has the role, so that each of the acts below can take or delete it. */
async function newRound(): Promise<Round> {
  const project = await app.must('createProject', { scope: owner.account, name: unique() }, as());
  const { id, scope } = project;
  const policy = { version: 1, roles } as never;
  const { version } = await app.must('applyPolicy', { id, scope, policy, ifVersion: null }, as());
  const { items } = await app.must('roles', { scope, isSystem: false, search: 'Clerk' }, as());
  return { id, scope, version, roleId: items[0]?.id ?? '' };
}

const applied = (by: TestApp, { id, scope, version }: Round, policy: object): Promise<Answer> =>
  by.raw('applyPolicy', { id, scope, policy, ifVersion: version, allowDelete: true }, as());

type Act = (round: Round) => Promise<Answer>;

const takes: Readonly<Record<string, Act>> = {
  'a document with a new app': (round) =>
    applied(app, round, { version: 1, roles, apps: { Portal: portal } }),
  createProjectApp: ({ scope, roleId }) =>
    app.raw(
      'createProjectApp',
      { scope, name: 'Portal', redirectUris, signUpRoleId: roleId, allowSignUp: true },
      as(),
    ),
};
const deletes: Readonly<Record<string, Act>> = {
  'a document without the role': (round) => applied(other, round, { version: 1, roles: { Kept: {} } }),
  deleteRole: ({ scope, roleId }) => other.raw('deleteRole', { scope, id: roleId }, as()),
};
const pairs = Object.keys(takes).flatMap((take) =>
  Object.keys(deletes).map((remove) => [take, remove] as const),
);

/** Live apps of the project whose role for sign-ups is gone. */
async function lostRoles(projectId: string): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    app.owner,
    sql`select count(*)::int as count from project_apps a join roles r on r.id = a.sign_up_role_id
      where a.tenant_id = ${projectId}::uuid and a.deleted_at is null and r.deleted_at is not null`,
  );
  return row?.count ?? 0;
}

it.each(pairs)(
  '%s beside %s: one of them is refused',
  { timeout: 120_000 + ROUNDS * SECONDS_OF_A_ROUND * 1000 },
  async (take, remove) => {
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      const project = await newRound();
      const [taken, removed] = await Promise.all([
        turns().then(() => takes[take]?.(project)),
        turns().then(() => deletes[remove]?.(project)),
      ]);
      if (!taken || !removed) throw new Error('there is no such act');
      const text = `${taken.status} ${taken.body}\n${removed.status} ${removed.body}`;
      // Gone, in use, or the project has another version now.
      expect([200, 201, 404, 409], text).toContain(taken.status);
      expect([200, 201, 404, 409], text).toContain(removed.status);
      expect([taken.ok, removed.ok].filter(Boolean), text).toHaveLength(1);
      expect(await lostRoles(project.id)).toBe(0);
      const outcome = taken.ok ? `taken, ${removed.code}` : `deleted, ${taken.code}`;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    process.stdout.write(`${take}, ${remove} on ${app.database.mode}: ${JSON.stringify(outcomes)}\n`);
  },
);
