import { sql } from 'drizzle-orm';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { roleIdOf } from '../schema/rights/built-in-ids.ts';
import { rowsOf } from '../db/statements/rows.ts';
import type { ScopeRef } from '../kernel/scope.ts';
import { startOwnApp, type TestApp } from '../../test/support/app/app.ts';
import { codeShown } from '../../test/support/sign-in/authenticator.ts';
import { unique, type Person } from '../../test/support/app/client.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp({ SECURITY_RATE_LIMIT_EXPORT_MAX: '5' });
});
afterAll(() => app.close());

const as = ({ token }: Person) => ({ token });
const exported = async (person: { readonly token: string }) => {
  const answer = await app.call('exportMe', {}, { token: person.token });
  expect(answer.status, answer.body).toBe(200);
  return answer.data;
};

/** Ada is a member of the organization and project of Bob, who also has secrets. */
async function household() {
  const ada = await app.person({ name: 'Ada Own' });
  const bob = await app.person({ type: 'organization', name: 'Bob Other' });
  const { id } = await app.must('createOrganization', { scope: bob.account, name: 'Shared' }, as(bob));
  const scope: ScopeRef = { tenant: 'organization', id };
  const roleId = roleIdOf('Organization Admin');
  await app.must('inviteMember', { scope, email: ada.email, roleId }, as(bob));
  await app.must('acceptInvitation', { token: await app.mailedToken(ada.email) }, as(ada));
  const project = await app.must('createProject', { scope, name: 'Common' }, as(bob));
  const role = await app.must('createRole', { scope: project.scope, name: 'Reader' }, as(bob));
  const joining = { scope: project.scope, userId: ada.userId, roleIds: [role.id] };
  await app.must('createUser', joining, as(bob));
  const own: ScopeRef = { tenant: 'projectUser', id: `${project.id}:${ada.userId}` };
  return { ada, bob, id, scope, project, role, own };
}

it('has all that is known of the user, under the names of the contract', async () => {
  const { ada, id, project, role, own } = await household();
  await app.must('createMyAccount', {}, as(ada));
  const other = { provider: 'email' as const, providerId: `${unique()}@example.test` };
  await app.must('addMyAuthenticationMethod', other, as(ada));
  const key = await app.must('createApiKey', { scope: own, name: 'mine' }, as(ada));
  await app.must('createApiKey', { scope: project.scope, name: 'of the project' }, as(ada));
  const { secret, factor } = await app.must('createMfaFactor', {}, as(ada));
  await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, as(ada));

  await app.app.flushMails();
  const before = app.clock.now().getTime();
  const answer = await app.call('exportMe', {}, as(ada));
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-disposition': `attachment; filename="doorward-export-${ada.userId}.json"`,
    'content-length': String(Buffer.byteLength(answer.body)),
    'cache-control': 'no-store',
    ratelimit: expect.stringMatching(/^"export";r=4;t=\d+$/) as string,
  });
  const data = answer.data;
  expect(Object.keys(data)).toEqual([
    'exportedAt',
    'user',
    'accounts',
    'authenticationMethods',
    'passkeys',
    'sessions',
    'mfaFactors',
    'appGrants',
    'organizationMemberships',
    'projectMemberships',
    'apiKeys',
    'notifications',
    'notificationPreferences',
    'auditEntries',
  ]);
  expect(new Date(data.exportedAt).getTime()).toBeGreaterThanOrEqual(before);
  const me = await app.must('me', {}, as(ada));
  expect(data.user).toEqual(me.user);
  expect(data.accounts).toEqual(me.accounts);
  expect(data.authenticationMethods).toEqual((await app.must('myAuthenticationMethods', {}, as(ada))).items);
  expect(data.sessions).toEqual((await app.must('myUserSessions', {}, as(ada))).items);
  expect(data.notificationPreferences).toEqual(
    (await app.must('myNotificationPreferences', {}, as(ada))).items,
  );
  const reported = (await app.must('myNotifications', { sortOrder: 'ASC' }, as(ada))).items;
  expect(data.notifications).toEqual(reported);
  expect(reported.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['invitation_received', 'mfa_changed']),
  );
  expect(data.sessions).toMatchObject([{ isCurrent: true, acr: 'aal2' }]);
  expect(data.mfaFactors).toEqual((await app.must('myMfa', {}, as(ada))).factors);
  expect(data.organizationMemberships).toEqual([
    {
      organizationId: id,
      organizationName: 'Shared',
      role: { id: roleIdOf('Organization Admin'), name: 'Organization Admin' },
      joinedAt: expect.any(String) as string,
    },
  ]);
  expect(data.projectMemberships).toEqual([
    {
      projectId: project.id,
      projectName: 'Common',
      roles: [{ id: role.id, name: 'Reader' }],
      joinedAt: expect.any(String) as string,
    },
  ]);
  const { clientSecret, ...plain } = key;
  expect(clientSecret).toMatch(/^dwk_/);
  expect(data.apiKeys).toEqual([plain]);
  expect(data.auditEntries.map(({ operation }) => operation)).toEqual([
    'register',
    'verifyEmail',
    'acceptInvitation',
    'createMyAccount',
    'addMyAuthenticationMethod',
    'createApiKey',
    'createApiKey',
    'createMfaFactor',
    'verifyMfaFactor',
  ]);
});

it('is itself recorded, after a recent sign-in, five times an hour', async () => {
  const ada = await app.person();
  for (let left = 5; left > 0; left--) await exported(ada);
  const sixth = await app.call('exportMe', {}, as(ada));
  expect([sixth.status, sixth.code]).toEqual([429, 'RATE_LIMITED']);
  expect(Number(sixth.headers['retry-after'])).toBeGreaterThan(0);
  const entries = await rowsOf<{ target: unknown; event: unknown }>(
    app.database.pool,
    sql`select target, event from audit_log where operation = 'exportMe' and actor->>'userId' = ${ada.userId}`,
  );
  expect(entries).toEqual(
    Array.from({ length: 5 }, () => ({ target: { type: 'User', id: ada.userId }, event: null })),
  );

  const bob = await app.person();
  app.clock.advance(16 * 60_000);
  const tokens = { accessToken: bob.token, refreshToken: bob.refreshToken };
  const { accessToken: token } = await app.must('refreshSession', tokens);
  expect((await app.call('exportMe', {}, { token })).code).toBe('STEP_UP_REQUIRED');
});

it('has no secret, and nothing about other users except what this user did', async () => {
  const { ada, bob, scope, project, own } = await household();
  const managed = await app.must(
    'createUser',
    { scope, name: 'Third Person', roleIds: [roleIdOf('Organization Viewer')] },
    as(bob),
  );
  await app.must('updateUser', { scope, id: managed.id, name: 'Third Renamed' }, as(ada));
  const key = await app.must('createApiKey', { scope: own }, as(ada));
  await app.must('exchangeApiKey', {
    clientId: key.clientId,
    clientSecret: key.clientSecret as string,
    scope: key.scope,
  });
  await app.must('createApiKey', { scope: project.scope, name: "Bob's key" }, as(bob));
  const { secret } = await app.must('createMfaFactor', {}, as(ada));
  await app.must('requestPasswordReset', { email: ada.email });
  const reset = await app.mailedToken(ada.email);
  const stored = await rowsOf<{ text: string }>(
    app.database.pool,
    sql`select hash as text from passwords union all select refresh_hash from sessions
      union all select hash from one_time_tokens union all select sealed_secret from mfa_factors
      union all select encode(hash, 'hex') from api_key_secrets union all select salt from audit_log where salt is not null
      union all select hash from audit_log union all select personal_digest from audit_log`,
  );

  const { auditEntries, notifications, ...rest } = await exported(ada);
  // Her notifications name the acting users, without addresses.
  expect(JSON.stringify(notifications)).not.toContain('@');
  const said = JSON.stringify({ auditEntries, ...rest });
  const secrets = [secret, reset, key.clientSecret, ada.password, ada.refreshToken, ada.token];
  for (const text of [...secrets, ...stored.map((row) => row.text)]) expect(said).not.toContain(text);
  for (const text of [bob.email, 'Bob Other', 'Third Person', 'Third Renamed', "Bob's key"]) {
    expect(said).not.toContain(text);
  }
  // The id of the third user is only in her audit entries, because she entered it. Bob's id is nowhere.
  expect(JSON.stringify(rest)).not.toContain(bob.userId);
  expect(JSON.stringify(rest)).not.toContain(managed.id);
  expect(JSON.stringify(auditEntries)).not.toContain(bob.userId);
  const update = auditEntries.find(({ operation }) => operation === 'updateUser');
  expect(update).toMatchObject({ target: { type: 'User', id: managed.id }, changes: null });
  const his = auditEntries.filter(({ actor }) => actor.userId !== ada.userId);
  expect(his).toEqual([]);
  // Her changes to herself are exported.
  await app.must('updateMe', { name: 'Ada Anew' }, as(ada));
  const again = await exported(ada);
  expect(again.auditEntries.find(({ operation }) => operation === 'updateMe')?.changes).toEqual({
    name: { from: 'Ada Own', to: 'Ada Anew' },
  });
});

it('says nothing of what a key of the project does, nor what was changed in a tenant that the user has left', async () => {
  const { ada, bob, scope, project, own } = await household();
  const exchanged = async (scopeOf: ScopeRef) => {
    const key = await app.must('createApiKey', { scope: scopeOf }, as(ada));
    const { clientId, scope: keyScope } = key;
    const clientSecret = key.clientSecret as string;
    return (await app.must('exchangeApiKey', { clientId, clientSecret, scope: keyScope })).accessToken;
  };
  await exchanged(own);
  const token = await exchanged(project.scope);
  const rename = (name: string) =>
    app.must('updateProject', { scope: project.scope, id: project.id, name }, { token });
  await rename('Secret Project X');
  await app.must('updateProject', { scope: project.scope, id: project.id, name: 'By Ada' }, as(ada));
  const within = (await exported(ada)).auditEntries;
  const operations = within.map(({ operation }) => operation);
  expect(operations.filter((name) => name === 'exchangeApiKey')).toHaveLength(1);
  expect(operations.filter((name) => name === 'updateProject')).toHaveLength(1);
  expect(within.find(({ operation }) => operation === 'updateProject')?.changes).toMatchObject({
    name: { to: 'By Ada' },
  });
  expect(within.find(({ operation }) => operation === 'exchangeApiKey')?.metadata).not.toEqual({});

  await app.must('removeOrganizationMember', { scope, userId: ada.userId }, as(bob));
  await rename('Secret Project Y');
  const { auditEntries } = await exported(ada);
  const said = JSON.stringify(auditEntries);
  for (const text of ['Secret Project', 'By Ada']) expect(said).not.toContain(text);
  expect(auditEntries.find(({ operation }) => operation === 'updateProject')).toMatchObject({
    changes: null,
    metadata: {},
  });
  expect(auditEntries.find(({ operation }) => operation === 'register')?.changes).toBeDefined();
});

it('is of one moment, whatever is changed while it is read', async () => {
  const ada = await app.person();
  await app.must('updateMe', { name: 'First' }, as(ada));
  let running = true;
  const changing = (async () => {
    for (let round = 0; running; round++) {
      await app.must('updateMe', { name: `Round ${round}` }, as(ada));
      await turn();
    }
  })();
  for (let left = 4; left > 0; left--) {
    const { user, auditEntries } = await exported(ada);
    const last = auditEntries.findLast(({ operation }) => operation === 'updateMe');
    expect(last?.changes).toMatchObject({ name: { to: user.name } });
  }
  running = false;
  await changing;
});

it('reads a long log page by page, along an index, and loses no entry', async () => {
  const ada = await app.person();
  const { pool } = app.database;
  await pool.execute(sql`insert into audit_log (id, tenant_id, sequence, occurred_at, scope, operation, outcome, actor,
      metadata, request_id, previous_hash, hash, personal_digest)
    select gen_random_uuid(), ${ada.account.id}::uuid, 1000 + n, now(), '{"tenant":"account","id":"x"}', 'made', 'success',
      jsonb_build_object('type', 'user', 'id', ${ada.userId}::text, 'userId', ${ada.userId}::text, 'name', 'A'),
      '{}', 'r', '', '', '' from generate_series(1, 1200) n`);
  const before = app.statements.length;
  const { auditEntries } = await exported(ada);
  const made = auditEntries.filter(({ operation }) => operation === 'made');
  expect(new Set(made.map(({ sequence }) => sequence)).size).toBe(1200);
  const requested = app.statements.slice(before).filter((text) => /from "audit_log"/.test(text));
  expect(requested).toHaveLength(3);
  const plan = await pool.transaction(async (tx) => {
    await tx.execute(sql`set local enable_seqscan = off`);
    return rowsOf<Record<string, string>>(
      tx,
      sql`explain select id from audit_log where actor->>'userId' = ${ada.userId} and id > ${ada.userId}::uuid
        order by id limit 500`,
    );
  });
  expect(JSON.stringify(plan)).toContain('audit_log_actor');
});
