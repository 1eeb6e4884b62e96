import { hash as bcrypt } from '@node-rs/bcrypt';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joined, keyToken, member } from '../../../test/contract/world.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person, type Via } from '../../../test/support/app/client.ts';
import { appoint, operatorAddress, operatorEnvironment } from '../../../test/support/tenants/operators.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { installationRoleIdOf } from '../../access/installation-roles.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import { INSTALLATION_ID, type ScopeRef } from '../../kernel/scope.ts';

/** Users of another service come with their passwords; both a right in the project and an operator are needed. */
let app: TestApp;
let grace: Person;
let organization: ScopeRef;
let project: ScopeRef;
beforeAll(async () => {
  app = await startOwnApp(operatorEnvironment);
  grace = await app.person({ email: operatorAddress, type: 'organization' });
  const as = { token: grace.token };
  const founded = await app.must('createOrganization', { scope: grace.account, name: 'Firm' }, as);
  organization = joined('organization', founded.id);
  project = (await app.must('createProject', { scope: organization, name: 'Shop' }, as)).scope;
});
afterAll(() => app.close());

const VIEWER = roleIdOf('Project Viewer');
const password = 'three lanterns in the harbour';
const address = () => `${unique()}@example.test`;
const projectId = () => project.id.split(':')[1] as string;
const storedHash = async (userId: string) => {
  const rows = await rowsOf<{ hash: string }>(
    app.database.pool,
    sql`select hash from passwords where user_id = ${userId}::uuid`,
  );
  return rows[0]?.hash;
};

describe.each(storyTransports(import.meta))('an import over %s', (via: Via) => {
  const importing = (users: readonly object[], more: object = {}, token = grace.token) =>
    app.call('importUsers', { scope: project, users: users as never, ...more }, { token, via });
  const signIn = (email: string, typed = password) =>
    app.raw('login', { provider: 'email', providerId: email, providerData: { password: typed } }, { via });

  test('lets people sign in with the password that they have, and replaces its hash', async () => {
    const email = address();
    const passwordHash = await bcrypt(password, { cost: 4 });
    const { data } = await importing([
      {
        email: email.toUpperCase(),
        emailVerified: true,
        name: 'Ida',
        passwordHash,
        roleIds: [VIEWER],
        metadata: { externalId: 'u1' },
      },
    ]);
    expect(data).toEqual({
      created: 1,
      users: [{ email, status: 'created', id: expect.any(String) as string }],
    });
    const id = data?.users[0]?.id as string;
    expect(await storedHash(id)).toBe(passwordHash);
    expect(await signIn(email, 'three lanterns in the harbor')).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await storedHash(id)).toBe(passwordHash);
    expect((await signIn(email)).ok).toBe(true);
    expect(await storedHash(id)).toMatch(/^\$argon2id\$/);
    expect((await signIn(email)).ok).toBe(true);
    const shown = await app.must(
      'user',
      { scope: project, id, ...(via === 'rest' ? { relations: ['roles'] } : {}) },
      { token: grace.token },
    );
    expect(shown).toMatchObject({
      name: 'Ida',
      email,
      emailVerified: true,
      metadata: { externalId: 'u1' },
      ...(via === 'rest' ? { roles: [{ id: VIEWER }] } : {}),
    });
  });

  test('is recorded for each user in the project, and once in the installation, without the hash', async () => {
    const [first, second] = [address(), address()];
    const passwordHash = await bcrypt(password, { cost: 4 });
    const { data } = await importing([
      { email: first, passwordHash },
      { email: second, emailVerified: true },
    ]);
    const ids = data?.users.map(({ id }) => id) as string[];
    const entries = await rowsOf<{ tenantId: string; text: string }>(
      app.database.pool,
      sql`select tenant_id as "tenantId", row_to_json(a)::text as text from audit_log a
          where operation = 'importUsers' order by sequence`,
    );
    for (const id of ids)
      expect(
        entries.filter((entry) => entry.tenantId === projectId() && entry.text.includes(id)),
      ).toHaveLength(1);
    expect(entries.filter(({ tenantId }) => tenantId === INSTALLATION_ID).at(-1)?.text).toContain(
      '"metadata":{"created": 2}',
    );
    const events = await rowsOf<{ type: string; body: string }>(
      app.database.pool,
      sql`select type, body::text as body from events where tenant_id = ${projectId()}::uuid`,
    );
    for (const id of ids) {
      const types = events.filter(({ body }) => body.includes(id)).map(({ type }) => type);
      expect(types.sort()).toEqual(['project.user_added', 'user.created']);
    }
    expect(JSON.stringify([entries, events])).not.toContain(passwordHash);
  });

  test('changes nothing of an address that somebody has, so it can be repeated', async () => {
    const { email, userId, password: former } = await app.person({ name: 'Bob' });
    const before = await storedHash(userId);
    const passwordHash = await bcrypt(password, { cost: 4 });
    const fresh = address();
    const claimed = address();
    await app.person({ email: claimed, verified: false });
    const users = [email, fresh, claimed].map((at) => ({ email: at, emailVerified: true, passwordHash }));
    const first = await importing(users);
    expect(first.data).toMatchObject({
      created: 1,
      users: [{ status: 'exists', id: userId }, { status: 'created' }, { status: 'claimed', id: null }],
    });
    expect(await storedHash(userId)).toBe(before);
    expect((await signIn(email, former)).ok).toBe(true);
    expect((await signIn(email)).ok).toBe(false);
    const again = await importing(users);
    expect(again.data).toMatchObject({
      created: 0,
      users: [{}, { status: 'exists', id: first.data?.users[1]?.id }, {}],
    });
  });

  test('only checks with validateOnly', async () => {
    const email = address();
    const { data } = await importing([{ email, emailVerified: true }], { validateOnly: true });
    expect(data).toEqual({ created: 1, users: [{ email, status: 'created', id: null }] });
    expect((await importing([{ email, emailVerified: true }])).data).toMatchObject({ created: 1 });
  });

  test('names what is wrong, and then imports none', async () => {
    const good = address();
    const problemsOf = async (...users: object[]) =>
      (await importing([{ email: good, emailVerified: true }, ...users])).details;
    expect(await problemsOf({ email: 'nowhere' })).toMatchObject([{ path: 'users.1.email', code: 'format' }]);
    expect(await problemsOf({ email: good.toUpperCase() })).toMatchObject([
      { path: 'users.1.email', code: 'duplicate' },
    ]);
    expect(await problemsOf({ email: address(), passwordHash: '$1$salt$hash' })).toMatchObject([
      { path: 'users.1.passwordHash', code: 'format' },
    ]);
    expect((await importing([{ email: address(), passwordHash: '$P$Bsalt' }])).body).toContain(
      'Use a hash of bcrypt',
    );
    expect(await problemsOf({ email: address() })).toMatchObject([
      { path: 'users.1.passwordHash', code: 'required' },
    ]);
    expect(await problemsOf({ email: operatorAddress, emailVerified: true })).toMatchObject([
      { path: 'users.1.emailVerified', code: 'not_allowed' },
    ]);
    const prepared = address();
    await app.database.pool.execute(
      sql`insert into prepared_operators (address, role_id, expires_at)
          values (${prepared}, ${installationRoleIdOf('Installation Operator')}::uuid, now() + interval '1 day')`,
    );
    expect(await problemsOf({ email: prepared, emailVerified: true })).toMatchObject([
      { path: 'users.1.emailVerified', code: 'not_allowed' },
    ]);
    expect(await problemsOf({ email: address(), passwordHash: 'x'.repeat(513) })).toMatchObject([
      { path: 'users.1.passwordHash', code: 'too_long' },
    ]);
    expect(
      await importing([{ email: good, emailVerified: true, roleIds: [roleIdOf('Organization Viewer')] }]),
    ).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect((await importing([{ email: good, emailVerified: true }])).data).toMatchObject({ created: 1 });
  });

  test('is refused without the right in the project, and to everybody but an Installation Operator', async () => {
    const users = [{ email: address(), emailVerified: true }];
    const owner = await member(app, organization.id, 'Organization Owner');
    expect(await importing(users, {}, owner.token)).toMatchObject({ code: 'FORBIDDEN' });
    const support = await appoint(app, grace, 'Installation Support');
    expect(await importing(users, {}, support.token)).toMatchObject({ code: 'FORBIDDEN' });
    const stranger = await appoint(app, grace, 'Installation Operator');
    expect(await importing(users, {}, stranger.token)).toMatchObject({ code: 'FORBIDDEN' });
    const key = await keyToken(app, grace.token, project, roleIdOf('Project Admin'));
    expect(await importing(users, {}, key)).toMatchObject({ code: 'SESSION_REQUIRED' });
    expect((await importing(users)).ok).toBe(true);
  });
});

test('an address that is not verified must be proved, and its claim ends as that of a registration', async () => {
  const email = address();
  const { data } = await app.call(
    'importUsers',
    { scope: project, users: [{ email, passwordHash: await bcrypt(password, { cost: 4 }) }] as never },
    { token: grace.token },
  );
  const id = data?.users[0]?.id as string;
  const [user] = await rowsOf<{ verified: boolean; isLimited: boolean }>(
    app.database.pool,
    sql`select email_verified as verified, verification_deadline > now() as "isLimited" from users where id = ${id}::uuid`,
  );
  expect(user).toEqual({ verified: false, isLimited: true });
});
