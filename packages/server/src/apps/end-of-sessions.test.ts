import { eq, inArray, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { member } from '../../test/contract/world.ts';
import { openAppSession } from '../../test/support/app/app-session.ts';
import { startOwnApp, type TestApp } from '../../test/support/app/app.ts';
import { isWhole, storyTransports } from '../../test/support/cases/breadth.ts';
import type { Person, Via } from '../../test/support/app/client.ts';
import { roleIdOf } from '../schema/rights/built-in-ids.ts';
import { SYSTEM_NODE } from '../schema/nodes.ts';
import { events } from '../schema/events/event.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import { sessions } from '../schema/sign-in/session.ts';
import { projectUserRoles, projectUsers } from '../schema/rights/membership.ts';

/** App sessions of users end with the app, and when the user leaves or is deleted (identity §12). */
let app: TestApp;
let owner: Person;
let as: { token: string };
let organization: ScopeRef;
let scope: ScopeRef;
let appId: string;
const redirectUris = ['https://app.example.test/callback'];
const nodeOf = ({ id }: ScopeRef): string => id.split(':').at(-1) as string;

beforeAll(async () => {
  app = await startOwnApp();
  owner = await app.person({ type: 'organization' });
  as = { token: owner.token };
});
afterAll(() => app.close());

beforeEach(async () => {
  const { id } = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as);
  organization = { tenant: 'organization', id };
  ({ scope } = await app.must('createProject', { scope: organization, name: 'P' }, as));
  appId = await newApp(scope);
});

const newApp = async (inScope: ScopeRef): Promise<string> =>
  (await app.must('createProjectApp', { scope: inScope, name: 'A', redirectUris }, as)).id;

async function join(userId: string, project = scope): Promise<void> {
  const joined = { tenantId: nodeOf(project), userId };
  await app.database.pool.insert(projectUsers).values(joined);
  const role = { roleId: roleIdOf('Project Admin'), roleTenantId: SYSTEM_NODE };
  await app.database.pool.insert(projectUserRoles).values({ ...joined, ...role });
}

async function alive(...ids: string[]): Promise<boolean[]> {
  const rows = await app.database.pool.select().from(sessions).where(inArray(sessions.id, ids));
  return ids.map((id) => rows.some((row) => row.id === id && row.endedAt === null));
}

/** Returns tenant and actor of each event about the end of a session. */
async function endEventsOf(sessionId: string) {
  const rows = await app.database.pool.select().from(events).where(eq(events.type, 'session.revoked'));
  const revocations = rows.filter(({ body }) => (body as { data: { id: string } }).data.id === sessionId);
  return revocations.map(({ tenantId, body }) => [tenantId, (body as { actor: object }).actor]);
}
const bySystem = (person: Person) => [[person.account.id, { type: 'system', id: null, userId: null }]];

/** Returns the app sessions in the user's own list. */
const listed = async (person: Person, via: Via): Promise<string[]> => {
  const { items } = await app.must('myUserSessions', { kind: 'projectApp' }, { token: person.token, via });
  return items.map(({ id }) => id);
};

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const act = async (name: string, input: object, token = owner.token) => {
    const answer = await app.raw(name, input, { token, via });
    expect(answer.ok, answer.body).toBe(true);
  };

  it('end with their app, and other sessions stay', async () => {
    const [ada, bob] = [await app.person(), await app.person()];
    const other = await newApp(scope);
    const [first, second, third] = [
      await openAppSession(app, appId, ada.userId),
      await openAppSession(app, appId, bob.userId),
      await openAppSession(app, other, ada.userId),
    ];
    expect((await listed(ada, via)).sort()).toEqual([first, third].sort());
    await act('deleteProjectApp', { scope, id: appId });
    expect(await alive(first, second, third)).toEqual([false, false, true]);
    expect(await listed(ada, via)).toEqual([third]);
    expect((await app.call('me', {}, { token: ada.token, via })).ok).toBe(true);
    expect(await endEventsOf(first)).toEqual(bySystem(ada));
    expect(await endEventsOf(second)).toEqual(bySystem(bob));
  });

  it('end when their user leaves the project or is removed', async () => {
    const elsewhere = await app.must('createProject', { scope: organization, name: 'Q' }, as);
    const inOther = await newApp(elsewhere.scope);
    for (const himself of [true, false]) {
      const person = await app.person();
      await join(person.userId);
      await join(person.userId, elsewhere.scope);
      const session = await openAppSession(app, appId, person.userId);
      const kept = await openAppSession(app, inOther, person.userId);
      await act('deleteUser', { scope, id: person.userId }, himself ? person.token : owner.token);
      expect(await alive(session, kept)).toEqual([false, true]);
      expect(await endEventsOf(session)).toEqual(bySystem(person));
      expect((await app.call('me', {}, { token: person.token, via })).ok).toBe(true);
    }
  });

  it('continue for a member of the organization until they leave it', async () => {
    for (const door of ['removeOrganizationMember', 'deleteUser'] as const) {
      const person = await member(app, organization.id, 'Organization Viewer');
      const { userId } = person;
      await join(userId);
      const session = await openAppSession(app, appId, userId);
      await act('deleteUser', { scope, id: userId });
      expect(await alive(session)).toEqual([true]);
      const input = door === 'deleteUser' ? { id: userId } : { userId };
      await act(door, { scope: organization, ...input });
      expect(await alive(session), door).toEqual([false]);
      expect(await endEventsOf(session)).toEqual(bySystem(person));
    }
  });

  it('continue for the owner of the account', async () => {
    const project = await app.must('createProject', { scope: owner.account, name: 'P' }, as);
    const session = await openAppSession(app, await newApp(project.scope), owner.userId);
    await join(owner.userId, project.scope);
    await act('deleteUser', { scope: project.scope, id: owner.userId });
    expect(await alive(session)).toEqual([true]);
  });

  it('end with their project and its owner', async () => {
    const person = await app.person();
    const first = await openAppSession(app, appId, person.userId);
    await act('deleteProject', { scope: organization, id: nodeOf(scope) });
    expect(await alive(first)).toEqual([false]);
    const { scope: next } = await app.must('createProject', { scope: organization, name: 'P' }, as);
    const second = await openAppSession(app, await newApp(next), person.userId);
    await act('deleteOrganization', { scope: organization, id: organization.id });
    expect(await alive(second)).toEqual([false]);
    expect(await listed(person, via)).toEqual([]);
  });

  it('end with their user', async () => {
    const person = await app.person();
    const session = await openAppSession(app, appId, person.userId);
    await act('deleteMe', {}, person.token);
    expect(await alive(session)).toEqual([false]);
    expect(await endEventsOf(session)).toHaveLength(1);
  });
});

it.runIf(isWhole())('end ten thousand at once, with one event each', { tags: 'exhaustive' }, async () => {
  const many = 10_000;
  // Each session has its own user and account.
  await app.owner.execute(sql`
    with made as (select gen_random_uuid() as user_id, gen_random_uuid() as account_id from generate_series(1, ${many}::int)),
      people as (insert into users (id, name, email_verified, locale, status, is_managed)
        select user_id, 'Ada', true, 'en', 'active', false from made),
      places as (insert into nodes (id, kind) select account_id, 'account' from made),
      owned as (insert into accounts (id, owner_id, type) select account_id, user_id, 'personal' from made)
    insert into sessions (id, user_id, kind, project_app_id, amr, authenticated_at, last_used_at, expires_at, refresh_hash)
      select gen_random_uuid(), user_id, 'projectApp', ${appId}::uuid, '{fed}', now(), now(), now() + interval '1 day',
        user_id::text from made`);
  const before = app.statements.length;
  await app.must('deleteProjectApp', { scope, id: appId }, as);
  expect(app.statements.length - before).toBeLessThan(60);
  const { rows } = (await app.database.pool.execute(sql`
    select count(*)::int as events, count(distinct e.tenant_id)::int as tenants,
      (select count(*)::int from sessions where project_app_id = ${appId}::uuid and ended_at is null) as left
    from events e where e.type = 'session.revoked' and e.body -> 'data' ->> 'projectAppId' = ${appId}`)) as {
    rows: unknown[];
  };
  expect(rows).toEqual([{ events: many, tenants: many, left: 0 }]);
});
