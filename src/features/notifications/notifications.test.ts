import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../access/built-in.ts';
import { startApp, type TestApp } from '../../../test/support/app.ts';
import { codeShown } from '../../../test/support/authenticator.ts';
import { transports, type Person, type Via } from '../../../test/support/client.ts';
import { auditLog } from '../../events/tables.ts';
import { users } from '../users/user.ts';
import { notifications } from './notification.ts';

const DAY_MS = 86_400_000;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ SECURITY_TRUSTED_PROXIES: '127.0.0.1/32' });
});
afterAll(() => app.close());

/** What happened so far has been told. */
async function toldTo({ token }: { readonly token: string }, via?: Via) {
  await app.app.flushMails();
  return (await app.must('myNotifications', {}, { token, ...(via ? { via } : {}) })).items;
}
const typesOf = async (person: { readonly token: string }) => (await toldTo(person)).map(({ type }) => type);
const mailsTo = async ({ email }: Pick<Person, 'email'>) => {
  await app.app.flushMails();
  return app.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
};
const signIn = (person: Pick<Person, 'email' | 'password'>, address?: string) =>
  app.must(
    'login',
    { provider: 'email', providerId: person.email, providerData: { password: person.password } },
    address === undefined ? {} : { headers: { 'x-forwarded-for': address } },
  );

async function organizationOf(owner: Person, name: string) {
  const { id } = await app.must('createOrganization', { scope: owner.account, name }, { token: owner.token });
  return { tenant: 'organization', id } as const;
}

describe('what happens in an organization', () => {
  let owner: Person;
  let bob: Person;
  beforeAll(async () => {
    [owner, bob] = [
      await app.person({ type: 'organization', name: 'Olga' }),
      await app.person({ name: 'Bob <b>evil.example</b>' }),
    ];
  });

  it('is told to whom it concerns, and not to whoever did it', async () => {
    const scope = await organizationOf(owner, 'Acme');
    const as = { token: owner.token };
    const roleId = roleIdOf('Organization Viewer');
    const invitation = await app.must('inviteMember', { scope, email: bob.email, roleId }, as);
    const [invited] = await toldTo(bob);
    expect(invited).toEqual({
      id: invited?.id,
      type: 'invitation_received',
      title: 'Invitation to Acme',
      body: expect.stringMatching(
        /^Olga invites you to join the organization “Acme” as “Organization Viewer”\./,
      ) as string,
      target: { type: 'OrganizationInvitation', id: invitation.id },
      scope,
      eventId: expect.stringMatching(/^evt_[0-9a-f-]{36}$/) as string,
      readAt: null,
      createdAt: invited?.createdAt,
    });
    // The one with the link.
    expect((await mailsTo(bob)).filter((subject) => subject.startsWith('Invitation'))).toHaveLength(1);

    await app.must('acceptInvitation', { token: await app.mailedToken(bob.email) }, { token: bob.token });
    const [joined] = await toldTo(owner);
    expect(joined).toMatchObject({
      type: 'member_joined',
      body: 'Bob <b>evil.example</b> joined the organization “Acme” as “Organization Viewer”.',
      target: { type: 'OrganizationMember', id: bob.userId },
    });
    const userId = bob.userId;
    await app.must(
      'updateOrganizationMember',
      { scope, userId, roleId: roleIdOf('Organization Developer') },
      as,
    );
    const project = await app.must('createProject', { scope, name: 'Rocket' }, as);
    const inProject = { tenant: 'organizationProject', id: `${scope.id}:${project.id}` } as const;
    await app.must('createUser', { scope: inProject, userId, roleIds: [] }, as);
    await app.must('updateUser', { scope: inProject, id: userId, roleIds: [roleIdOf('Project Viewer')] }, as);
    const hisKeys = { tenant: 'projectUser', id: `${project.id}:${userId}` } as const;
    const key = await app.must('createApiKey', { scope: hisKeys, name: 'robot' }, as);
    await app.must('removeOrganizationMember', { scope, userId }, as);
    const told = (await toldTo(bob)).toReversed().slice(1);
    expect(told.map(({ type, body }) => [type, body])).toEqual([
      ['role_changed', 'In “Acme” you now have: “Organization Developer”.'],
      ['role_changed', 'In “Rocket” you now have: “Project Viewer”.'],
      [
        'api_key_created',
        'An API key named “robot” that acts in your name was created in the project “Rocket”.',
      ],
      ['removed_from_organization', expect.stringContaining('“Acme”')],
    ]);
    expect(told.map(({ target }) => target?.id)).toEqual([userId, userId, key.id, scope.id]);
    const mailed = (await mailsTo(bob)).filter((subject) => !/verify|Invitation/i.test(subject));
    expect(mailed).toEqual([
      'Your role in Acme has changed',
      'Your role in Rocket has changed',
      'You were removed from Acme',
    ]);
    expect(await typesOf(owner)).toEqual(['member_joined']);
    expect(await mailsTo(owner)).toEqual(['Verify your e-mail address']);
  });

  it('is told of a place as long as one belongs to it', async () => {
    const scope = await organizationOf(owner, 'Brief');
    const as = { token: owner.token };
    const { pool } = app.database;
    await pool.execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
      select ${scope.id}::uuid, ${bob.userId}::uuid, id, tenant_id from roles
      where id = ${roleIdOf('Organization Viewer')}::uuid`);
    const member = { scope, userId: bob.userId };
    await app.must('updateOrganizationMember', { ...member, roleId: roleIdOf('Organization Admin') }, as);
    const told = await typesOf(bob);
    expect(told[0]).toBe('role_changed');
    // As if the relay came to it only now.
    const comesLate = async () => {
      await pool.execute(sql`update events set relay_at = 'epoch' where tenant_id = ${scope.id}::uuid
        and type like '%.member_%'`);
      expect(await typesOf(bob)).toEqual(told);
    };
    // That he left he knows.
    await app.must('removeOrganizationMember', member, { token: bob.token });
    await comesLate();
    await app.must('deleteOrganization', { scope, id: scope.id }, as);
    await comesLate();
  });

  it('reaches no mail program as a link or as markup', async () => {
    const scope = await organizationOf(owner, 'Win at evil.example <i>now</i>');
    const person = await app.person();
    await app.must(
      'setMyNotificationPreference',
      { type: 'member_joined', channel: 'email', enabled: true },
      { token: owner.token },
    );
    const roleId = roleIdOf('Organization Viewer');
    await app.must('inviteMember', { scope, email: person.email, roleId }, { token: owner.token });
    await app.must(
      'acceptInvitation',
      { token: await app.mailedToken(person.email) },
      { token: person.token },
    );
    await app.app.flushMails();
    const mail = app.mails.findLast(({ to }) => to === owner.email);
    expect(mail?.subject).toBe('New member in Win at evil.\u200Bexample <i>now</i>');
    expect(mail?.text).not.toContain('evil.example');
    expect(mail?.html).toContain('&lt;i&gt;now&lt;/i&gt;');
    expect(mail?.html).not.toMatch(/<i>|href/);
    expect((await toldTo(owner))[0]?.title).toBe('New member in Win at evil.example <i>now</i>');
  });

  it('is not told more than twenty times a day by strangers who invite', async () => {
    const victim = await app.person();
    await app.database.pool.insert(notifications).values(
      Array.from({ length: 20 }, () => ({
        id: crypto.randomUUID(),
        userId: victim.userId,
        type: 'invitation_received' as const,
        title: 'Invitation',
        createdAt: app.clock.now(),
      })),
    );
    const scope = await organizationOf(owner, 'Spam');
    const input = { scope, email: victim.email, roleId: roleIdOf('Organization Viewer') };
    await app.must('inviteMember', input, { token: owner.token });
    expect(await typesOf(victim)).toHaveLength(20);
  });
});

it('mails what others do only so often, and keeps no other mail from its reader', async () => {
  const limited = await startApp({ SECURITY_RATE_LIMIT_MAIL_MAX: '2' });
  try {
    const owner = await limited.person({ type: 'organization' });
    const bob = await limited.person();
    const as = { token: owner.token };
    const { id } = await limited.must('createOrganization', { scope: owner.account, name: 'Loud' }, as);
    await limited.database.pool
      .execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
      select ${id}::uuid, ${bob.userId}::uuid, id, tenant_id from roles
      where id = ${roleIdOf('Organization Viewer')}::uuid`);
    for (const role of ['Admin', 'Viewer', 'Admin', 'Viewer'] as const) {
      const member = { scope: { tenant: 'organization', id } as const, userId: bob.userId };
      await limited.must(
        'updateOrganizationMember',
        { ...member, roleId: roleIdOf(`Organization ${role}`) },
        as,
      );
    }
    await limited.app.flushMails();
    expect((await limited.must('myNotifications', {}, { token: bob.token })).totalCount).toBe(4);
    await limited.must('requestPasswordReset', { email: bob.email });
    await limited.app.flushMails();
    const subjects = limited.mails.filter(({ to }) => to === bob.email).map(({ subject }) => subject);
    const changed = 'Your role in Loud has changed';
    expect(subjects).toEqual(['Verify your e-mail address', changed, changed, 'Reset your password']);
  } finally {
    await limited.close();
  }
});

describe('security', () => {
  it('tells of a sign-in from a network of which there was none in the last 30 days', async () => {
    const person = await app.person();
    await signIn(person);
    expect(await typesOf(person)).toEqual([]);
    await signIn(person, '2001:db8:1:2::1');
    await signIn(person, '2001:db8:1:2:ffff::7');
    await signIn(person, '2001:db8:1:3::1');
    await signIn(person, '198.51.100.7');
    await signIn(person, '198.51.100.7');
    const told = await toldTo(person);
    expect(told.map(({ type }) => type)).toEqual(['new_sign_in', 'new_sign_in', 'new_sign_in']);
    for (const [index, address] of ['198.51.100.7', '2001:db8:1:3::1', '2001:db8:1:2::1'].entries()) {
      expect(told[index]?.body).toContain(`from ${address} (lightMyRequest). `);
    }
    const subject = 'Sign-in from a new network';
    expect((await mailsTo(person)).filter((one) => one === subject)).toHaveLength(3);
    app.clock.advance(31 * DAY_MS);
    const { accessToken } = await signIn(person, '198.51.100.7');
    expect((await typesOf({ token: accessToken }))[0]).toBe('new_sign_in');
    expect(await toldTo({ token: accessToken })).toHaveLength(4);
  });

  it('tells once of a password, a second factor and a token that was used twice', async () => {
    const person = await app.person();
    const { token } = person;
    const next = `${person.password}!`;
    await app.must('changeMyPassword', { currentPassword: person.password, newPassword: next }, { token });
    const { factor, secret } = await app.must('createMfaFactor', {}, { token });
    const code = codeShown(secret ?? '', app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code }, { token });
    expect(await typesOf(person)).toEqual(['mfa_changed', 'password_changed']);
    expect((await mailsTo(person)).slice(1).toSorted()).toEqual([
      'Your password was changed',
      'Your second factor was changed',
    ]);

    const other = await app.person();
    const tokens = { accessToken: other.token, refreshToken: other.refreshToken };
    await app.must('refreshSession', tokens);
    app.clock.advance(60_000);
    expect((await app.call('refreshSession', tokens, {})).code).toBe('UNAUTHENTICATED');
    const { accessToken } = await signIn(other);
    expect(await typesOf({ token: accessToken })).toEqual(['session_reuse']);
    expect((await mailsTo(other)).at(-1)).toBe('A session was ended for safety');
  });

  it('is mailed to nobody who has not proved his address, and told in the language of the reader', async () => {
    const person = await app.person({ verified: false });
    await app.must('updateMe', { locale: 'de' }, { token: person.token });
    const { accessToken } = await signIn(person, '203.0.113.9');
    const [told] = await toldTo({ token: accessToken });
    expect(told?.title).toBe('Anmeldung aus einem neuen Netz');
    expect(told?.body).toContain('203.0.113.9');
    expect(await mailsTo(person)).toHaveLength(1);
  });
});

describe.each(transports)('notifications over %s', (via) => {
  /** Four notifications, by signing in from as many networks. */
  async function somebody(): Promise<Person> {
    const person = await app.person();
    for (const host of [1, 2, 3, 4]) await signIn(person, `203.0.113.${host}`);
    expect(await toldTo(person)).toHaveLength(4);
    return person;
  }

  it('are listed, newest first, and marked as read by their reader alone', async () => {
    const [alice, mallory] = [await somebody(), await app.person()];
    const as = { via, token: alice.token };
    const page = await app.must('myNotifications', { limit: 3 }, as);
    expect([page.totalCount, page.unreadCount, page.hasNextPage]).toEqual([4, 4, true]);
    const rest = await app.must('myNotifications', { limit: 3, cursor: page.nextCursor ?? '' }, as);
    const all = [...page.items, ...rest.items];
    expect(all.map(({ createdAt }) => createdAt)).toEqual(
      all
        .map(({ createdAt }) => createdAt)
        .toSorted()
        .toReversed(),
    );
    const id = all[1]?.id ?? '';
    for (const foreign of [id, crypto.randomUUID()]) {
      const refused = await app.call(
        'markMyNotificationRead',
        { id: foreign },
        { via, token: mallory.token },
      );
      expect([refused.code, refused.body.includes('Sign-in')]).toEqual(['NOT_FOUND', false]);
    }
    const read = await app.must('markMyNotificationRead', { id }, as);
    expect(read).toEqual({ ...all[1], readAt: read.readAt });
    expect(read.readAt).not.toBeNull();
    app.clock.advance(1000);
    expect(await app.must('markMyNotificationRead', { id }, as)).toEqual(read);
    const unread = await app.must('myNotifications', { unreadOnly: true }, as);
    expect(unread.items.map((one) => one.id)).toEqual(all.map((one) => one.id).filter((one) => one !== id));
    expect([unread.totalCount, unread.unreadCount]).toEqual([3, 3]);

    expect(await app.must('markAllMyNotificationsRead', {}, as)).toEqual({ updated: 3 });
    expect(await app.must('markAllMyNotificationsRead', {}, as)).toEqual({ updated: 0 });
    expect((await app.must('myNotifications', {}, as)).unreadCount).toBe(0);
    expect((await app.must('myNotifications', { unreadOnly: true }, as)).items).toEqual([]);
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.tenantId, alice.account.id));
    const acts = entries.map(({ operation }) => operation).filter((name) => name.includes('Notification'));
    expect(acts).toEqual(['markMyNotificationRead', 'markAllMyNotificationsRead']);
    const foreign = await app.must('myNotifications', {}, { via, token: mallory.token });
    expect([foreign.items, foreign.totalCount, foreign.unreadCount]).toEqual([[], 0, 0]);
    const stolen = await app.call(
      'myNotifications',
      { cursor: page.nextCursor ?? '' },
      { via, token: mallory.token },
    );
    expect(stolen.code).toBe('INVALID_CURSOR');
  });

  it('come by the channels that their reader chose', async () => {
    const person = await app.person();
    const as = { via, token: person.token };
    const { items, totalCount, hasNextPage, nextCursor } = await app.must(
      'myNotificationPreferences',
      {},
      as,
    );
    expect([totalCount, hasNextPage, nextCursor]).toEqual([26, false, null]);
    const shown = items.map(
      ({ type, channel, enabled, locked }) => `${type} ${channel} ${enabled}${locked ? ' locked' : ''}`,
    );
    expect(shown).toEqual([
      'invitation_received inApp true',
      'invitation_received email true locked',
      'member_joined inApp true',
      'member_joined email false',
      'role_changed inApp true',
      'role_changed email true',
      'removed_from_organization inApp true',
      'removed_from_organization email true',
      'api_key_expiring inApp true',
      'api_key_expiring email true',
      'api_key_created inApp true',
      'api_key_created email false',
      'webhook_failing inApp true',
      'webhook_failing email true',
      'webhook_disabled inApp true',
      'webhook_disabled email true',
      'new_sign_in inApp true locked',
      'new_sign_in email true',
      'password_changed inApp true locked',
      'password_changed email true locked',
      'mfa_changed inApp true locked',
      'mfa_changed email true locked',
      'session_reuse inApp true locked',
      'session_reuse email true locked',
      'sign_in_methods_changed inApp true locked',
      'sign_in_methods_changed email true locked',
    ]);
    expect(items.every(({ updatedAt }) => updatedAt === null)).toBe(true);

    for (const { type, channel } of items.filter(({ locked }) => locked)) {
      const refused = await app.call('setMyNotificationPreference', { type, channel, enabled: false }, as);
      expect([refused.code, refused.details[0]?.path, refused.details[0]?.code]).toEqual([
        'VALIDATION_ERROR',
        'enabled',
        'not_allowed',
      ]);
      const kept = await app.must('setMyNotificationPreference', { type, channel, enabled: true }, as);
      expect(kept).toEqual({ type, channel, enabled: true, locked: true, updatedAt: null });
    }
    const choice = { type: 'new_sign_in', channel: 'email', enabled: false } as const;
    const chosen = await app.must('setMyNotificationPreference', choice, as);
    expect(chosen).toEqual({ ...choice, locked: false, updatedAt: chosen.updatedAt });
    app.clock.advance(1000);
    expect(await app.must('setMyNotificationPreference', choice, as)).toEqual(chosen);
    const { items: after } = await app.must('myNotificationPreferences', {}, as);
    expect(after.filter(({ updatedAt }) => updatedAt !== null)).toEqual([chosen]);
    await signIn(person, '203.0.113.77');
    expect(await typesOf(person)).toEqual(['new_sign_in']);
    expect(await mailsTo(person)).toEqual(['Verify your e-mail address']);
    await app.must('setMyNotificationPreference', { ...choice, enabled: true }, as);
    await signIn(person, '203.0.113.78');
    expect((await mailsTo(person)).at(-1)).toBe('Sign-in from a new network');
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'setMyNotificationPreference'));
    expect(entries.filter(({ tenantId }) => tenantId === person.account.id)).toHaveLength(2);
    const wrong = await app.raw('setMyNotificationPreference', { ...choice, type: 'nothing' }, as);
    expect(wrong.ok).toBe(false);
  });
});

it('keeps notifications for 90 days, and a name no longer than its bearer is known', async () => {
  const [owner, gone] = [
    await app.person({ type: 'organization' }),
    await app.person({ name: 'Erased Eve' }),
  ];
  const scope = await organizationOf(owner, 'Oblivion');
  const roleId = roleIdOf('Organization Viewer');
  await app.must('inviteMember', { scope, email: gone.email, roleId }, { token: owner.token });
  await app.must('acceptInvitation', { token: await app.mailedToken(gone.email) }, { token: gone.token });
  expect((await toldTo(owner))[0]?.body).toContain('Erased Eve');
  await app.database.pool
    .update(users)
    .set({ deletedAt: new Date(Date.now() - 31 * DAY_MS) })
    .where(eq(users.id, gone.userId));
  await app.purge();
  expect(await toldTo(owner)).toEqual([]);

  await signIn(owner, '192.0.2.200');
  expect(await toldTo(owner)).toHaveLength(1);
  // His sessions are forgotten by then, and to the database he is still a newcomer.
  app.clock.advance(89 * DAY_MS);
  await app.purge();
  const { accessToken: token } = await signIn(owner);
  expect(await toldTo({ token })).toHaveLength(1);
  app.clock.advance(2 * DAY_MS);
  await app.purge();
  const { accessToken: later } = await signIn(owner);
  expect(await toldTo({ token: later })).toEqual([]);
});
