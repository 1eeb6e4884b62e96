import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person, Via } from '../../../test/support/app/client.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { users } from '../../schema/people/user.ts';
import { notifications } from '../../schema/people/notification.ts';

const DAY_MS = 86_400_000;

let app: TestApp;
beforeAll(async () => {
  app = await startOwnApp({ SECURITY_TRUSTED_PROXIES: '127.0.0.1/32' });
});
afterAll(() => app.close());

/** The notifications of the user, after all events so far were relayed. */
async function notificationsOf({ token }: { readonly token: string }, via?: Via) {
  await app.app.flushMails();
  return (await app.must('myNotifications', {}, { token, ...(via ? { via } : {}) })).items;
}
const typesOf = async (person: { readonly token: string }) =>
  (await notificationsOf(person)).map(({ type }) => type);
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

describe('notifications about an organization', () => {
  let owner: Person;
  let bob: Person;
  beforeAll(async () => {
    [owner, bob] = [
      await app.person({ type: 'organization', name: 'Olga' }),
      await app.person({ name: 'Bob <b>evil.example</b>' }),
    ];
  });

  it('reach the users concerned, and not the user who acted', async () => {
    const scope = await organizationOf(owner, 'Acme');
    const as = { token: owner.token };
    const roleId = roleIdOf('Organization Viewer');
    const invitation = await app.must('inviteMember', { scope, email: bob.email, roleId }, as);
    const [invited] = await notificationsOf(bob);
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
    // The invitation mail with the link.
    expect((await mailsTo(bob)).filter((subject) => subject.startsWith('Invitation'))).toHaveLength(1);

    await app.must('acceptInvitation', { token: await app.mailedToken(bob.email) }, { token: bob.token });
    const [joined] = await notificationsOf(owner);
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
    const reported = (await notificationsOf(bob)).toReversed().slice(1);
    expect(reported.map(({ type, body }) => [type, body])).toEqual([
      ['role_changed', 'You now have these roles in “Acme”: “Organization Developer”.'],
      ['role_changed', 'You now have these roles in “Rocket”: “Project Viewer”.'],
      [
        'api_key_created',
        'An API key named “robot” that acts on your behalf was created in the project “Rocket”. If you did not expect this, ask an administrator of the project to revoke the key.',
      ],
      ['removed_from_organization', expect.stringContaining('“Acme”')],
    ]);
    expect(reported.map(({ target }) => target?.id)).toEqual([userId, userId, key.id, scope.id]);
    const mailed = (await mailsTo(bob)).filter((subject) => !/verify|Invitation/i.test(subject));
    expect(mailed).toEqual([
      'Your role in Acme has changed',
      'Your role in Rocket has changed',
      'You were removed from Acme',
    ]);
    expect(await typesOf(owner)).toEqual(['member_joined']);
    expect(await mailsTo(owner)).toEqual(['Verify your e-mail address']);
  });

  it('reach only users who still belong to it', async () => {
    const scope = await organizationOf(owner, 'Brief');
    const as = { token: owner.token };
    const { pool } = app.database;
    await pool.execute(sql`insert into organization_members (tenant_id, user_id, role_id, role_tenant_id)
      select ${scope.id}::uuid, ${bob.userId}::uuid, id, tenant_id from roles
      where id = ${roleIdOf('Organization Viewer')}::uuid`);
    const member = { scope, userId: bob.userId };
    await app.must('updateOrganizationMember', { ...member, roleId: roleIdOf('Organization Admin') }, as);
    const reported = await typesOf(bob);
    expect(reported[0]).toBe('role_changed');
    // Simulates a relay that is late.
    const comesLate = async () => {
      await pool.execute(sql`update events set relay_at = 'epoch' where tenant_id = ${scope.id}::uuid
        and type like '%.member_%'`);
      expect(await typesOf(bob)).toEqual(reported);
    };
    // A user who leaves by themselves gets no notification.
    await app.must('removeOrganizationMember', member, { token: bob.token });
    await comesLate();
    await app.must('deleteOrganization', { scope, id: scope.id }, as);
    await comesLate();
  });

  it('contain no link and no markup in mails', async () => {
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
    expect((await notificationsOf(owner))[0]?.title).toBe('New member in Win at evil.example <i>now</i>');
  });

  it('about invitations are limited to twenty a day', async () => {
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

it('limits notification mails that others cause, without affecting other mails to the user', async () => {
  const limited = await startOwnApp({ SECURITY_RATE_LIMIT_MAIL_MAX: '2' });
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

describe('a security notification', () => {
  it('reports a sign-in from a network without a session in the last 30 days', async () => {
    const person = await app.person();
    await signIn(person);
    expect(await typesOf(person)).toEqual([]);
    await signIn(person, '2001:db8:1:2::1');
    await signIn(person, '2001:db8:1:2:ffff::7');
    await signIn(person, '2001:db8:1:3::1');
    await signIn(person, '198.51.100.7');
    await signIn(person, '198.51.100.7');
    const reported = await notificationsOf(person);
    expect(reported.map(({ type }) => type)).toEqual(['new_sign_in', 'new_sign_in', 'new_sign_in']);
    for (const [index, address] of ['198.51.100.7', '2001:db8:1:3::1', '2001:db8:1:2::1'].entries()) {
      expect(reported[index]?.body).toContain(`from ${address} (lightMyRequest). `);
    }
    const subject = 'Sign-in from a new network';
    expect((await mailsTo(person)).filter((item) => item === subject)).toHaveLength(3);
    app.clock.advance(31 * DAY_MS);
    const { accessToken } = await signIn(person, '198.51.100.7');
    expect((await typesOf({ token: accessToken }))[0]).toBe('new_sign_in');
    expect(await notificationsOf({ token: accessToken })).toHaveLength(4);
  });

  it('reports a new password, a second factor and a reused token once', async () => {
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
    expect((await mailsTo(other)).at(-1)).toBe('A session was ended for your security');
  });

  it('is mailed only to a verified address, in the language of the reader', async () => {
    const person = await app.person({ verified: false });
    await app.must('updateMe', { locale: 'de' }, { token: person.token });
    const { accessToken } = await signIn(person, '203.0.113.9');
    const [reported] = await notificationsOf({ token: accessToken });
    expect(reported?.title).toBe('Anmeldung aus einem neuen Netzwerk');
    expect(reported?.body).toContain('203.0.113.9');
    expect(await mailsTo(person)).toHaveLength(1);
  });
});

describe.each(storyTransports(import.meta))('notifications over %s', (via) => {
  /** Creates four notifications by signing in from four networks. */
  async function newUser(): Promise<Person> {
    const person = await app.person();
    for (const host of [1, 2, 3, 4]) await signIn(person, `203.0.113.${host}`);
    expect(await notificationsOf(person)).toHaveLength(4);
    return person;
  }

  it('are listed, newest first, and marked as read by their reader alone', async () => {
    const [alice, mallory] = [await newUser(), await app.person()];
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
    expect(unread.items.map((item) => item.id)).toEqual(
      all.map((item) => item.id).filter((item) => item !== id),
    );
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

  it('use the channels that their reader chose', async () => {
    const person = await app.person();
    const as = { via, token: person.token };
    const { items, totalCount, hasNextPage, nextCursor } = await app.must(
      'myNotificationPreferences',
      {},
      as,
    );
    expect([totalCount, hasNextPage, nextCursor]).toEqual([36, false, null]);
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
      'project_grant_changed inApp true',
      'project_grant_changed email true',
      'domain_lapsed inApp true',
      'domain_lapsed email true',
      'connection_bypassed inApp true locked',
      'connection_bypassed email true locked',
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
      'operator_action inApp true locked',
      'operator_action email true locked',
      'impersonated inApp true locked',
      'impersonated email true locked',
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

it('keeps notifications for 90 days, and deletes those that name a purged user', async () => {
  const [owner, gone] = [
    await app.person({ type: 'organization' }),
    await app.person({ name: 'Erased Eve' }),
  ];
  const scope = await organizationOf(owner, 'Oblivion');
  const roleId = roleIdOf('Organization Viewer');
  await app.must('inviteMember', { scope, email: gone.email, roleId }, { token: owner.token });
  await app.must('acceptInvitation', { token: await app.mailedToken(gone.email) }, { token: gone.token });
  expect((await notificationsOf(owner))[0]?.body).toContain('Erased Eve');
  await app.database.pool
    .update(users)
    .set({ deletedAt: new Date(Date.now() - 31 * DAY_MS) })
    .where(eq(users.id, gone.userId));
  await app.purge();
  expect(await notificationsOf(owner)).toEqual([]);

  await signIn(owner, '192.0.2.200');
  expect(await notificationsOf(owner)).toHaveLength(1);
  // By then the sessions are purged, and by the database clock the user is still new.
  app.clock.advance(89 * DAY_MS);
  await app.purge();
  const { accessToken: token } = await signIn(owner);
  expect(await notificationsOf({ token })).toHaveLength(1);
  app.clock.advance(2 * DAY_MS);
  await app.purge();
  const { accessToken: later } = await signIn(owner);
  expect(await notificationsOf({ token: later })).toEqual([]);
});
