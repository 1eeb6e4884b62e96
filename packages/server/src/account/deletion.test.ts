import { sql, type SQL } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ORGANIZATION_OWNER, roleIdOf } from '../schema/rights/built-in-ids.ts';
import { rowsOf } from '../db/statements/rows.ts';
import { entryHash, type ChainEntry } from '../events/audit/audit-chain.ts';
import { createMailOutbox } from '../events/mail/mail-outbox.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import { member } from '../../test/contract/world.ts';
import { startOwnApp, type TestApp } from '../../test/support/app/app.ts';
import { codeShown } from '../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../test/support/cases/breadth.ts';
import { unique, type Answer, type Person, type Via } from '../../test/support/app/client.ts';

const DAY_MS = 86_400_000;
// The embedded database runs transactions one after the other, so there are fewer interleavings to test.
const ROUNDS = inject('postgresUrl') ? 4 : 2;

/** Waits for a random number of event-loop turns, so that each round interleaves differently. */
async function turns(): Promise<void> {
  for (let left = Math.random() * 40; left > 0; left--) await turn();
}

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp({ PRIVACY_DELETION_RETENTION_DAYS: '10' });
});
afterAll(() => app.close());

const rows = <T extends object>(query: SQL): Promise<T[]> => rowsOf<T>(app.database.pool, query);
const as = ({ token }: Person, via?: Via) => (via ? { token, via } : { token });
const signIn = ({ email, password }: { email: string; password: string }, via: Via = 'rest') =>
  app.call('login', { provider: 'email', providerId: email, providerData: { password } }, { via });
const registering = (email: string) => ({
  provider: 'email' as const,
  providerId: email,
  providerData: { password: `correct horse ${unique()}` },
  type: 'personal' as const,
});

async function organization(owner: Person) {
  const { id } = await app.must('createOrganization', { scope: owner.account, name: unique() }, as(owner));
  const scope: ScopeRef = { tenant: 'organization', id };
  return { id, scope, project: await app.must('createProject', { scope, name: 'P' }, as(owner)) };
}

async function key(owner: Person, scope: ScopeRef) {
  const made = await app.must('createApiKey', { scope }, as(owner));
  const exchange = {
    clientId: made.clientId,
    clientSecret: made.clientSecret as string,
    scope: made.scope,
  };
  const { accessToken } = await app.must('exchangeApiKey', exchange);
  return {
    id: made.id,
    statuses: async () => [
      (await app.call('exchangeApiKey', exchange)).status,
      (await app.call('apiKeys', { scope }, { token: accessToken })).status,
    ],
  };
}

const withoutRequestId = ({ body }: Answer) => body.replace(/"requestId":"[^"]+"/, '');

describe.each(storyTransports(import.meta))('over %s', (via) => {
  it('ends sessions, accounts and keys at once, and keeps the address until the purge', async () => {
    const ada = await app.person({ type: 'organization', name: 'Ada Adams' });
    const second = await signIn(ada);
    const { id, project } = await organization(ada);
    const own = await key(ada, { tenant: 'projectUser', id: `${project.id}:${ada.userId}` });
    const ofProject = await key(ada, project.scope);
    await app.must('createMyAccount', {}, as(ada));
    await app.must('requestPasswordReset', { email: ada.email });
    const reset = await app.mailedToken(ada.email);

    const before = app.clock.now().getTime();
    const answer = await app.call('deleteMe', {}, as(ada, via));
    expect(answer.status, answer.body).toBe(200);
    const { deletedAt, purgeAt } = answer.data;
    expect(answer.data.id).toBe(ada.userId);
    expect(new Date(deletedAt).getTime()).toBeGreaterThanOrEqual(before);
    expect(new Date(purgeAt).getTime() - new Date(deletedAt).getTime()).toBe(10 * DAY_MS);
    expect(answer.cookies).toMatchObject([{ name: 'doorward_refresh', value: '' }]);

    for (const token of [ada.token, second.data.accessToken]) {
      expect((await app.call('me', {}, { token, via })).code).toBe('UNAUTHENTICATED');
    }
    const tokens = { accessToken: ada.token, refreshToken: ada.refreshToken };
    expect((await app.call('refreshSession', tokens, { via })).code).toBe('UNAUTHENTICATED');
    expect(await own.statuses()).toEqual([401, 401]);
    expect(await ofProject.statuses()).toEqual([401, 401]);
    const unknown = await signIn({ email: `${unique()}@example.test`, password: ada.password }, via);
    const existing = await signIn(ada, via);
    expect([existing.status, withoutRequestId(existing)]).toEqual([
      unknown.status,
      withoutRequestId(unknown),
    ]);
    expect(existing.code).toBe('UNAUTHENTICATED');
    expect((await app.call('register', registering(ada.email), { via })).code).toBe('CONFLICT');
    const newPassword = `correct horse ${unique()}`;
    expect((await app.call('resetPassword', { token: reset, newPassword }, { via })).code).toBe(
      'INVALID_TOKEN',
    );
    const mails = app.mails.length;
    await app.must('requestPasswordReset', { email: ada.email });
    await app.app.flushMails();
    expect(app.mails.length).toBe(mails);

    expect(
      await rows(sql`select kind, deleted_at is null as alive from nodes n where n.id in (${id}::uuid, ${project.id}::uuid)
        or n.id in (select id from accounts where owner_id = ${ada.userId}::uuid) order by kind`),
    ).toEqual(['account', 'account', 'organization', 'project'].map((kind) => ({ kind, alive: false })));
    const entries = await rows<{ event: string; actor: unknown; target: unknown }>(
      sql`select event, actor->>'userId' as actor, target from audit_log where operation = 'deleteMe'
        and actor->>'userId' = ${ada.userId}`,
    );
    expect(entries).toEqual([
      { event: 'user.deleted', actor: ada.userId, target: { type: 'User', id: ada.userId } },
    ]);
    const events = await rows<{
      type: string;
      data: { id: string };
    }>(sql`select type, body->'data' as data from events
      where tenant_id in (select id from accounts where owner_id = ${ada.userId}::uuid and type = 'personal')
      and type in ('user.deleted', 'session.revoked') order by sequence`);
    expect(events.map(({ type }) => type)).toEqual(['user.deleted', 'session.revoked', 'session.revoked']);
    expect(events[0]?.data).toMatchObject({ id: ada.userId, deletedAt });
  });

  it('leaves what others belong to, with what belongs to a project', async () => {
    const [ada, bob] = [await app.person({ type: 'organization' }), await app.person({ name: 'Bob' })];
    const { id, scope, project } = await organization(ada);
    await app.database.pool
      .execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
      values (${id}::uuid, ${bob.userId}::uuid, ${roleIdOf('Organization Admin')}::uuid,
        '00000000-0000-0000-0000-000000000000')`);
    await app.must('createUser', { scope: project.scope, userId: bob.userId, roleIds: [] }, as(ada));
    // Like a user whom an app admitted to a project, without any other membership.
    const elsewhere = await app.must('createProject', { scope: ada.account, name: 'Elsewhere' }, as(ada));
    await app.database.pool.execute(
      sql`insert into project_users (tenant_id, user_id) values (${elsewhere.id}::uuid, ${bob.userId}::uuid)`,
    );
    const own = await key(bob, { tenant: 'projectUser', id: `${project.id}:${bob.userId}` });
    const ofProject = await key(bob, project.scope);
    await app.must('deleteMe', {}, as(bob, via));

    expect(await own.statuses()).toEqual([401, 401]);
    expect(await ofProject.statuses()).toEqual([200, 200]);
    const { items } = await app.must('organizationMembers', { scope }, as(ada, via));
    expect(items.map((item) => item.id)).toEqual([ada.userId]);
    for (const at of [scope, project.scope, elsewhere.scope]) {
      const listed = await app.must('users', { scope: at }, as(ada, via));
      expect(listed.items.map((item) => item.id)).not.toContain(bob.userId);
    }
    const reported = await rows<{
      type: string;
      tenant: string;
    }>(sql`select type, tenant_id as tenant from events
      where body->'data'->>'userId' = ${bob.userId} and type like '%_removed' order by type, tenant_id`);
    expect(reported).toEqual([
      { type: 'organization.member_removed', tenant: id },
      { type: 'project.user_removed', tenant: elsewhere.id },
    ]);
  });

  it('is refused to the last owner of an organization that has other members, and changes nothing', async () => {
    const ada = await app.person({ type: 'organization' });
    const { id, scope } = await organization(ada);
    const bob = await member(app, id, 'Organization Admin');
    const state = () =>
      rows(sql`select deleted_at, (select count(*)::int from audit_log) as entries,
      (select count(*)::int from sessions where ended_at is null) as sessions from users where id = ${ada.userId}::uuid`);
    const before = await state();
    for (const hardDelete of [false, true]) {
      expect((await app.call('deleteMe', { hardDelete }, as(ada, via))).code).toBe('LAST_OWNER');
    }
    expect(await state()).toEqual(before);
    expect((await app.call('me', {}, as(ada, via))).status).toBe(200);

    const roleId = ORGANIZATION_OWNER;
    await app.must('updateOrganizationMember', { scope, userId: bob.userId, roleId }, as(ada));
    await app.must('deleteMe', {}, as(ada, via));
    // The organization outlives the account that created it, and is deleted with its last member.
    expect((await app.must('organizationMembers', { scope }, as(bob, via))).totalCount).toBe(1);
    await app.must('deleteMe', {}, as(bob, via));
    expect(await rows(sql`select 1 from nodes where id = ${id}::uuid and deleted_at is null`)).toEqual([]);
  });

  it('needs a recent sign-in and the second factor of who has one', async () => {
    const ada = await app.person();
    app.clock.advance(16 * 60_000);
    const tokens = { accessToken: ada.token, refreshToken: ada.refreshToken };
    const { accessToken: old } = await app.must('refreshSession', tokens);
    expect((await app.call('deleteMe', {}, { token: old, via })).code).toBe('STEP_UP_REQUIRED');
    const again = (await signIn(ada)).data.accessToken;
    const { secret, factor } = await app.must('createMfaFactor', {}, { token: again });
    const code = codeShown(secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code }, { token: again });
    const { accessToken: token } = (await signIn(ada)).data;
    expect((await app.call('deleteMe', {}, { token, via })).code).toBe('MFA_REQUIRED');
    await app.must('verifyMfa', { code: codeShown(secret, app.clock.now(), 1) }, { token });
    await app.must('deleteMe', {}, { token, via });
  });

  it('removes everything personal at once when asked to', async () => {
    const ada = await app.person({ type: 'organization', name: 'Ada Erased' });
    const [bob] = [await app.person({ type: 'organization' })];
    const { id, project } = await organization(ada);
    const shared = await organization(bob);
    await app.database.pool
      .execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
      values (${shared.id}::uuid, ${ada.userId}::uuid, ${roleIdOf('Organization Admin')}::uuid,
        '00000000-0000-0000-0000-000000000000')`);
    const lasting = await key(ada, shared.project.scope);
    await key(ada, { tenant: 'projectUser', id: `${shared.project.id}:${ada.userId}` });
    await app.must('createTag', { scope: project.scope, name: 't' }, as(ada));
    const dead = await app.must('createProject', { scope: ada.account, name: 'Dead' }, as(ada));
    await app.must('deleteProject', { scope: ada.account, id: dead.id }, as(ada));
    await app.must('updateMe', { locale: 'de' }, as(ada));
    await app.must('createMfaFactor', {}, as(ada));
    await signIn({ email: ada.email, password: 'wrong' });
    await app.must(
      'createTag',
      { scope: shared.scope, name: 'hers' },
      {
        ...as(ada),
        headers: { 'idempotency-key': unique() },
      },
    );

    const answer = await app.must('deleteMe', { hardDelete: true }, as(ada, via));
    expect(answer.purgeAt).toBe(answer.deletedAt);
    expect(await tracesOf(['Ada Erased', ada.email])).toEqual([]);
    // Her id stays in live rows that refer to her, and in the history.
    expect(await tracesOf([ada.userId])).toEqual(['api_keys', 'audit_log', 'events', 'users']);
    expect(await tracesOf([id, project.id, dead.id, ada.account.id])).toEqual(['audit_log', 'nodes']);
    expect(await rows(sql`select name, email, locale from users where id = ${ada.userId}::uuid`)).toEqual([
      { name: '', email: null, locale: null },
    ]);
    const entries = await rows<{ salt: string | null }>(
      sql`select salt, ip_address, user_agent from audit_log where actor->>'userId' = ${ada.userId}`,
    );
    expect(entries.length).toBeGreaterThan(8);
    expect(new Set(entries.map((entry) => JSON.stringify(entry)))).toEqual(
      new Set([JSON.stringify({ salt: null, ip_address: null, user_agent: null })]),
    );
    for (const node of [ada.account.id, shared.id, shared.project.id]) await expectChain(node);
    expect(await lasting.statuses()).toEqual([200, 200]);
    expect((await app.call('register', registering(ada.email), { via })).ok).toBe(true);
  });
});

/** Returns the tables with a row that contains one of these texts. */
async function tracesOf(texts: readonly string[]): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
  );
  const match: string[] = [];
  for (const { name } of tables) {
    const [hit] = await rows(
      sql`select 1 from ${sql.identifier(name)} t where t::text ~ ${texts.join('|')} limit 1`,
    );
    if (hit) match.push(name);
  }
  return match;
}

async function expectChain(tenantId: string): Promise<void> {
  const entries = await rows<
    Record<string, unknown>
  >(sql`select id, sequence::int, occurred_at as "occurredAt", scope,
    operation, event, outcome, code, reason, actor, target, changes, metadata, ip_address as "ipAddress",
    user_agent as "userAgent", request_id as "requestId", personal_digest as digest, hash
    from audit_log where tenant_id = ${tenantId}::uuid order by sequence`);
  expect(entries.length).toBeGreaterThan(0);
  let previous = '0'.repeat(64);
  for (const { digest, hash, ...entry } of entries) {
    const occurredAt = new Date(entry['occurredAt'] as string).toISOString();
    expect(entryHash({ ...entry, occurredAt } as unknown as ChainEntry, previous, digest as string)).toBe(
      hash,
    );
    previous = hash as string;
  }
}

it('deletes queued mails to the user, and no others', async () => {
  const [ada, bob] = [await app.person(), await app.person()];
  const { pool } = app.database;
  const outbox = createMailOutbox({
    pool,
    kek: app.app.kek,
    mailer: { send: () => Promise.reject(new Error('not this one')) },
    clock: { now: () => new Date(app.clock.now().getTime() + 60_000) },
    ids: { next: randomUUID, random: randomUUID },
    log: () => undefined,
  });
  for (const { email } of [ada, bob]) {
    await outbox.queue(pool, { to: email, subject: 's', text: 't', html: 'h' });
  }
  await app.must('deleteMe', {}, as(ada));
  const sent = app.mails.length;
  app.clock.advance(60_000);
  await app.app.flushMails();
  expect(app.mails.slice(sent).map(({ to }) => to)).toEqual([bob.email]);
});

it('is a purge at the next occasion when the process died before it', async () => {
  const ada = await app.person({ name: 'Ada Later' });
  await app.must('deleteMe', {}, as(ada));
  expect(await app.purge()).toEqual({});
  await app.database.pool.execute(sql`update users set purge_at = now() where id = ${ada.userId}::uuid`);
  await app.database.pool.execute(sql`update nodes set purge_at = now() where id = ${ada.account.id}::uuid`);
  expect(await app.purge()).toMatchObject({ erased: 1, users: 1 });
  expect(await tracesOf(['Ada Later'])).toEqual([]);
});

/**
 * A mutation by or about a user who concurrently deletes themselves either commits first, and the deletion includes its
 * rows, or is refused. On PostgreSQL they run at the same time.
 */
it('leaves nothing of the user alive that is made meanwhile', { tags: 'race' }, async () => {
  const bob = await app.person({ type: 'organization' });
  const shared = await organization(bob);
  const allowed = [200, 201, 401, 403, 404, 409];
  for (let round = 0; round < ROUNDS; round++) {
    const ada = await app.person({ type: 'organization' });
    const { id, project } = await organization(ada);
    const roleId = roleIdOf('Organization Developer');
    await app.must('inviteMember', { scope: shared.scope, email: ada.email, roleId }, as(bob));
    const token = await app.mailedToken(ada.email);
    if (round % 2 === 0) await app.must('acceptInvitation', { token }, as(ada));
    const made = await key(ada, project.scope);
    const projectUser = { tenant: 'projectUser' as const, id: `${shared.project.id}:${ada.userId}` };
    const deletion = turns().then(() => app.call('deleteMe', {}, as(ada)));
    const others = [
      () => app.call('acceptInvitation', { token }, as(ada)),
      () => app.call('createOrganization', { scope: ada.account, name: unique() }, as(ada)),
      () => app.call('createProject', { scope: ada.account, name: unique() }, as(ada)),
      () => app.call('createProject', { scope: { tenant: 'organization', id }, name: unique() }, as(ada)),
      () => app.call('createApiKey', { scope: project.scope }, as(ada)),
      () => app.call('createApiKey', { scope: projectUser }, as(ada)),
      () => app.call('createApiKey', { scope: projectUser }, as(bob)),
      () => app.call('createMyAccount', {}, as(ada)),
      () => app.call('deleteMe', {}, as(ada)),
      () => app.call('updateMe', { name: unique() }, as(ada)),
      () => app.call('refreshSession', { accessToken: ada.token, refreshToken: ada.refreshToken }),
      () => app.call('createUser', { scope: shared.project.scope, userId: ada.userId, roleIds: [] }, as(bob)),
      () => app.call('removeOrganizationMember', { scope: shared.scope, userId: ada.userId }, as(bob)),
      ...(round === 0 ? [() => signIn(ada)] : []),
    ].map((act: () => Promise<Answer>) => turns().then(act));
    const answers: Answer[] = await Promise.all([deletion, ...others]);
    for (const { status, body } of answers) expect(allowed, body).toContain(status);
    const deleted = [answers[0], answers[9]].filter((item) => item?.ok);
    expect(deleted.length, answers[0]?.body).toBe(1);
    const reported = answers.map(({ status, code }) => code ?? status).join(' ');
    expect(await aliveOf(ada.userId), reported).toEqual([]);
    expect(await made.statuses()).toEqual([401, 401]);
    expect((await app.call('me', {}, as(ada))).code).toBe('UNAUTHENTICATED');
  }
});

it(
  'lets two who own organizations together delete themselves at once, and neither organization be ownerless',
  { tags: 'race' },
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [ada, bob] = [
        await app.person({ type: 'organization' }),
        await app.person({ type: 'organization' }),
      ];
      const both = [await organization(ada), await organization(bob)];
      for (const [index, { id }] of both.entries()) {
        await app.database.pool
          .execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
        values (${id}::uuid, ${[bob, ada][index]?.userId}::uuid, ${ORGANIZATION_OWNER}::uuid,
          '00000000-0000-0000-0000-000000000000')`);
      }
      const answers = await Promise.all(
        [ada, bob].map((person) => turns().then(() => app.call('deleteMe', {}, as(person)))),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      for (const { userId } of [ada, bob]) expect(await aliveOf(userId)).toEqual([]);
      const ids = both.map(({ id }) => id);
      expect(
        await rows(
          sql`select 1 from nodes where id in (${ids[0]}::uuid, ${ids[1]}::uuid) and deleted_at is null`,
        ),
      ).toEqual([]);
    }
  },
);

/** Rows that are not deleted and refer to the user or their accounts, except projects' own keys. */
async function aliveOf(userId: string): Promise<string[]> {
  const match = await rows<{ what: string }>(sql`
    with recursive tree as (select n.id from nodes n join accounts a on a.id = n.id where a.owner_id = ${userId}::uuid
      union all select n.id from nodes n join tree t on n.parent_id = t.id)
    select 'user' as what from users where id = ${userId}::uuid and deleted_at is null
    union all select 'node' from nodes where id in (select id from tree) and deleted_at is null
    union all select 'account' from accounts where owner_id = ${userId}::uuid and deleted_at is null
    union all select 'session' from sessions where user_id = ${userId}::uuid and ended_at is null
    union all select 'member' from organization_members where user_id = ${userId}::uuid
    union all select 'participant' from project_users where user_id = ${userId}::uuid
    union all select 'own key' from api_keys where user_id = ${userId}::uuid and scope_tenant = 'ProjectUser'
      and deleted_at is null
    union all select 'key below' from api_keys where tenant_id in (select id from tree) and deleted_at is null
    union all select 'token' from one_time_tokens where user_id = ${userId}::uuid`);
  return match.map(({ what }) => what);
}
