import type * as argon2 from '@node-rs/argon2';
import { and, eq, sql } from 'drizzle-orm';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startApp, startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Answer, type Person, type Via } from '../../../test/support/app/client.ts';
import { roleIdOf, type RoleName } from '../../schema/rights/built-in-ids.ts';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { nodes, SYSTEM_NODE } from '../../schema/nodes.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { organizationMembers } from '../../schema/rights/membership.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { users } from '../../schema/people/user.ts';
import { invitations, invitationTokens } from '../../schema/tenants/organization-invitation.ts';

/** Counts password hashes, because an unknown token must not cost one. */
const hashing = vi.hoisted(() => {
  // Test files share loaded modules, and a module that is already loaded does not get the mock.
  vi.resetModules();
  return { calls: 0 };
});
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof argon2>();
  const hash: typeof real.hash = (...input) => {
    hashing.calls++;
    return real.hash(...input);
  };
  return { ...real, hash };
});

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const VIEWER = roleIdOf('Organization Viewer');

let app: TestApp;
let owner: Person;
let scope: ScopeRef;
let as: { token: string };

/** Creates an organization; each test has its own. */
async function newOrganization(on: TestApp): Promise<{ owner: Person; scope: ScopeRef }> {
  const person = await on.person({ type: 'organization', name: 'Olga' });
  const { id } = await on.must(
    'createOrganization',
    { scope: person.account, name: `Acme ${unique()}` },
    { token: person.token },
  );
  return { owner: person, scope: { tenant: 'organization', id } };
}

beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  ({ owner, scope } = await newOrganization(app));
  as = { token: owner.token };
});
afterAll(() => app.close());

const address = () => `${unique()}@example.test`;
const invite = (email: string, roleId = VIEWER) => app.must('inviteMember', { scope, email, roleId }, as);
const invited = async (email: string, roleId = VIEWER) => {
  const invitation = await invite(email, roleId);
  return { ...invitation, token: await app.mailedToken(email) };
};
const registration = () => ({ name: 'Nils', password: `correct horse ${unique()}` });
const outcomes = (answers: readonly Answer[]) => {
  const counts: Record<string, number> = {};
  for (const { code } of answers) counts[code ?? 'ok'] = (counts[code ?? 'ok'] ?? 0) + 1;
  return counts;
};
const twentyTimes = (work: () => Promise<Answer>) => Promise.all(Array.from({ length: 20 }, work));

async function join(person: Person, role: RoleName): Promise<Person> {
  const roleId = roleIdOf(role);
  await app.database.pool
    .insert(organizationMembers)
    .values({ tenantId: scope.id, userId: person.userId, roleId, roleTenantId: SYSTEM_NODE });
  return person;
}
const expire = (id: string) =>
  app.database.pool
    .update(invitations)
    .set({ expiresAt: new Date(app.clock.now().getTime() - MINUTE) })
    .where(eq(invitations.id, id));
const membersOf = async (): Promise<string[]> =>
  (
    await app.database.pool
      .select({ id: organizationMembers.userId })
      .from(organizationMembers)
      .where(eq(organizationMembers.tenantId, scope.id))
  ).map(({ id }) => id);
const eventsOf = async (nodeId = scope.id) =>
  (
    await app.database.pool.select().from(events).where(eq(events.tenantId, nodeId)).orderBy(events.sequence)
  ).map(({ body }) => body as { type: string; actor: object; data: Record<string, unknown> });
const auditOf = (operation: string, nodeId = scope.id) =>
  app.database.pool
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.tenantId, nodeId), eq(auditLog.operation, operation)));

describe.each(storyTransports(import.meta))('over %s', (via) => {
  const call = (name: string, input: object, token?: string) => app.raw(name, input, { via, token });
  const accept = (input: object, token?: string) => call('acceptInvitation', input, token);
  const statusIs = (answer: Answer, status: number) =>
    via === 'graphql' || expect(answer.status).toBe(status);

  test('a user is invited, reads the invitation, and accepts it', async () => {
    const person = await app.person({ name: 'Pia' });
    const created = await call(
      'inviteMember',
      { scope, email: ` ${person.email.toUpperCase()}`, roleId: VIEWER },
      owner.token,
    );
    statusIs(created, 201);
    expect(created.data).toMatchObject({
      organizationId: scope.id,
      email: person.email,
      roleId: VIEWER,
      status: 'pending',
      invitedBy: owner.userId,
      acceptedAt: null,
      revokedAt: null,
      deletedAt: null,
    });
    const { id, expiresAt, lastSentAt } = created.data as Record<string, string>;
    expect(Date.parse(expiresAt ?? '') - Date.parse(lastSentAt ?? '')).toBe(7 * DAY);

    const token = await app.mailedToken(person.email);
    const look = {
      email: person.email,
      expiresAt,
      role: { name: 'Organization Viewer' },
      inviter: { name: 'Olga' },
    };
    expect((await call('invitation', { token })).data).toMatchObject({
      ...look,
      status: 'pending',
      registered: true,
    });

    expect((await call('organization', { scope, id: scope.id }, person.token)).code).toBe('FORBIDDEN');
    const accepted = await accept({ token }, person.token);
    statusIs(accepted, 200);
    expect(accepted.data).toMatchObject({
      invitation: { id, status: 'accepted', email: person.email },
      organization: {
        id: scope.id,
        name: expect.stringContaining('Acme') as string,
        slug: expect.any(String) as string,
      },
      member: {
        id: person.userId,
        roleId: VIEWER,
        metadata: {},
        user: { id: person.userId, name: 'Pia', email: person.email, pictureUrl: null },
        role: { id: VIEWER, name: 'Organization Viewer', isSystem: true },
      },
      isNewUser: false,
      signIn: null,
    });
    expect(accepted.cookies).toEqual([]);
    expect((await call('organization', { scope, id: scope.id }, person.token)).ok).toBe(true);
    expect((await call('invitation', { token })).data).toMatchObject({ ...look, status: 'accepted' });
    expect((await accept({ token }, person.token)).code).toBe('INVALID_STATE');

    expect((await eventsOf()).map(({ type }) => type)).toEqual([
      'organization.created',
      'organization.member_added',
      'invitation.created',
      'invitation.accepted',
      'organization.member_added',
    ]);
    const [, , , acceptance, joining] = await eventsOf();
    expect(acceptance).toMatchObject({
      actor: { type: 'user', userId: person.userId },
      data: { id, status: 'accepted' },
    });
    expect(joining).toMatchObject({
      actor: { userId: person.userId },
      data: { userId: person.userId, roleId: VIEWER },
    });
    expect(await auditOf('acceptInvitation')).toMatchObject([
      {
        actor: { type: 'user', userId: person.userId, name: 'Pia' },
        target: { type: 'OrganizationInvitation', id },
      },
    ]);
  });

  test('a new user registers with the mailed token, which verifies the address', async () => {
    const email = address();
    const { token, id } = await invited(email);
    expect((await call('invitation', { token })).data).toMatchObject({ email, registered: false });
    const secret = registration();
    const before = hashing.calls;
    const answer = await accept({ token, registration: secret });
    expect(hashing.calls).toBe(before + 1);
    statusIs(answer, 200);
    const { member, signIn } = answer.data as {
      member: { id: string };
      signIn: { accessToken: string; refreshToken: string; accounts: { id: string }[] };
    };
    expect(answer.data).toMatchObject({
      invitation: { id, status: 'accepted' },
      isNewUser: true,
      member: { user: { name: 'Nils', email } },
      signIn: {
        emailVerified: true,
        emailVerificationDeadline: null,
        mfaRequired: false,
        user: { id: member.id, email },
        accounts: [{ type: 'personal', ownerId: member.id }],
      },
    });
    expect(answer.cookies).toMatchObject([
      { name: 'doorward_refresh', value: signIn.refreshToken, httpOnly: true },
    ]);
    expect((await call('organization', { scope, id: scope.id }, signIn.accessToken)).ok).toBe(true);
    expect((await call('invitation', { token })).data).toMatchObject({
      status: 'accepted',
      registered: true,
    });
    const login = { provider: 'email', providerId: email, providerData: { password: secret.password } };
    expect((await call('login', login)).data).toMatchObject({ emailVerified: true, user: { id: member.id } });

    const actor = { type: 'user', id: member.id, userId: member.id };
    expect((await eventsOf()).slice(-2)).toMatchObject([
      { type: 'invitation.accepted', actor },
      { type: 'organization.member_added', actor },
    ]);
    expect((await eventsOf(signIn.accounts[0]?.id)).slice(0, 2)).toMatchObject([
      { type: 'user.created', actor, data: { emailVerified: true } },
      { type: 'session.created', actor },
    ]);
    expect(await auditOf('acceptInvitation')).toMatchObject([{ actor: { ...actor, name: 'Nils' } }]);
  });

  test('an unverified claim on the address yields to the reader of the mail', async () => {
    const squatter = await app.person({ verified: false });
    const { token } = await invited(squatter.email);
    expect((await call('invitation', { token })).data).toMatchObject({ registered: false });
    expect((await accept({ token, registration: registration() })).ok).toBe(true);
    const methods = await app.database.pool
      .select()
      .from(authenticationMethods)
      .where(eq(authenticationMethods.providerId, squatter.email));
    expect(methods).toMatchObject([{ isVerified: true, isPrimary: true, claims: true }]);
    expect(methods[0]?.userId).not.toBe(squatter.userId);
    expect((await call('me', {}, squatter.token)).code).toBe('UNAUTHENTICATED');
    expect((await eventsOf(squatter.account.id)).map(({ type }) => type)).toContain('user.deleted');
  });

  test('resending keeps the end and replaces the link; renewing extends to the full period', async () => {
    const person = await app.person();
    const { id, token: first, expiresAt } = await invited(person.email);
    const resent = await call('resendInvitation', { scope, id }, owner.token);
    expect(resent.data).toMatchObject({ id, status: 'pending', expiresAt });
    const second = await app.mailedToken(person.email);
    expect(second).not.toBe(first);
    expect((await call('invitation', { token: first })).code).toBe('NOT_FOUND');
    expect((await accept({ token: first }, person.token)).code).toBe('NOT_FOUND');

    for (const before of ['pending', 'expired']) {
      if (before === 'expired') await expire(id);
      const last = await app.mailedToken(person.email);
      const renewed = await call('renewInvitation', { scope, id }, owner.token);
      expect(renewed.data).toMatchObject({ id, status: 'pending' });
      const { expiresAt: until, lastSentAt } = renewed.data as Record<string, string>;
      expect(Date.parse(until ?? '') - Date.parse(lastSentAt ?? '')).toBe(7 * DAY);
      expect((await call('invitation', { token: last })).code).toBe('NOT_FOUND');
    }
    expect((await accept({ token: await app.mailedToken(person.email) }, person.token)).ok).toBe(true);
    expect((await eventsOf()).filter(({ type }) => type === 'invitation.created')).toHaveLength(1);
    expect(await auditOf('resendInvitation')).toMatchObject([{ event: null, target: { id } }]);
    expect(await auditOf('renewInvitation')).toHaveLength(2);
  });

  test('the token of a revoked invitation is unknown', async () => {
    const person = await app.person();
    const { id, token } = await invited(person.email);
    const revoked = await call('revokeInvitation', { scope, id }, owner.token);
    expect(revoked.data).toMatchObject({ id, status: 'revoked', revokedAt: expect.any(String) as string });
    expect((await call('invitation', { token })).code).toBe('NOT_FOUND');
    expect((await accept({ token }, person.token)).code).toBe('NOT_FOUND');
    expect((await accept({ token, registration: registration() })).code).toBe('NOT_FOUND');
    expect((await eventsOf()).at(-1)).toMatchObject({
      type: 'invitation.revoked',
      data: { id, status: 'revoked' },
    });
    // The address is free again.
    expect((await call('inviteMember', { scope, email: person.email, roleId: VIEWER }, owner.token)).ok).toBe(
      true,
    );
  });

  test.each([
    ['accepted', ['resendInvitation', 'renewInvitation', 'revokeInvitation']],
    ['revoked', ['resendInvitation', 'renewInvitation', 'revokeInvitation']],
    ['expired', ['resendInvitation']],
  ] as const)('an %s invitation refuses %j', async (state, names) => {
    const person = await app.person();
    const { id, token } = await invited(person.email);
    if (state === 'accepted') expect((await accept({ token }, person.token)).ok).toBe(true);
    if (state === 'revoked') await app.must('revokeInvitation', { scope, id }, as);
    if (state === 'expired') await expire(id);
    const before = app.mails.length;
    for (const name of names) {
      const answer = await call(name, { scope, id }, owner.token);
      expect(answer.code, name).toBe('INVALID_STATE');
      expect(answer.body, name).toContain(`state ${state}`);
    }
    expect(app.mails).toHaveLength(before);
  });

  test('an expired invitation has status expired, cannot be accepted, and does not block a new one', async () => {
    const person = await app.person();
    const { id, token } = await invited(person.email);
    await expire(id);
    const listed = await call('organizationInvitations', { scope, status: 'expired' }, owner.token);
    expect(listed.data).toMatchObject({ items: [{ id, status: 'expired' }], totalCount: 1 });
    expect((await call('invitation', { token })).data).toMatchObject({ status: 'expired' });
    expect((await accept({ token }, person.token)).code).toBe('INVALID_TOKEN');
    expect((await accept({ token, registration: registration() })).code).toBe('INVALID_TOKEN');

    const next = await call('inviteMember', { scope, email: person.email, roleId: VIEWER }, owner.token);
    expect(next.ok, next.body).toBe(true);
    const again = await call('renewInvitation', { scope, id }, owner.token);
    expect(again).toMatchObject({ code: 'CONFLICT', details: [{ path: 'email', code: 'taken' }] });
    expect((await call('revokeInvitation', { scope, id }, owner.token)).data).toMatchObject({
      status: 'revoked',
    });
  });

  test('lists by state, search, order and id, with relations', async () => {
    const mark = unique();
    const emails = ['b', 'a', 'c'].map((letter) => `${letter}-${mark}@example.test`);
    for (const email of emails) await invite(email);
    const list = (input: object) => call('organizationInvitations', { scope, ...input }, owner.token);
    const page = (await list({ search: mark, sortField: 'email', limit: 2 })).data as {
      items: { id: string; email: string }[];
      totalCount: number;
    };
    expect(page.items.map(({ email }) => email)).toEqual([emails[1], emails[0]]);
    expect(page.totalCount).toBe(3);
    expect((await list({ status: 'revoked' })).data).toMatchObject({ totalCount: 0 });
    const [first] = page.items;
    const relations = await app.raw(
      'organizationInvitations',
      {
        scope,
        ids: [first?.id],
        ...(via === 'rest' ? { relations: ['role', 'organization', 'inviter'] } : {}),
      },
      { via, token: owner.token, select: '{ items { role { name } organization { id } inviter { id } } }' },
    );
    expect(relations.data).toMatchObject({
      items: [
        {
          role: { name: 'Organization Viewer' },
          organization: { id: scope.id },
          inviter: { id: owner.userId },
        },
      ],
    });
  });

  describe('refuses', () => {
    test('a second invitation of one address, and one of a member', async () => {
      const person = await app.person();
      await invite(person.email);
      const twice = await call(
        'inviteMember',
        { scope, email: person.email.toUpperCase(), roleId: VIEWER },
        owner.token,
      );
      expect(twice).toMatchObject({ code: 'CONFLICT', details: [{ path: 'email', code: 'taken' }] });
      const member = await call('inviteMember', { scope, email: owner.email, roleId: VIEWER }, owner.token);
      expect(member).toMatchObject({ code: 'CONFLICT', details: [{ path: 'email', code: 'taken' }] });
    });

    test('roles of other tenants, and roles that hold more than the inviter does', async () => {
      const elsewhere = await newOrganization(app);
      const foreign = await app.must(
        'createRole',
        { scope: elsewhere.scope, name: 'Theirs' },
        { token: elsewhere.owner.token },
      );
      for (const roleId of [foreign.id, roleIdOf('Project Viewer'), roleIdOf('Account Owner')]) {
        const answer = await call('inviteMember', { scope, email: address(), roleId }, owner.token);
        expect(answer.code).toBe('NOT_FOUND');
      }
      const admin = await join(await app.person(), 'Organization Admin');
      const up = { scope, email: address(), roleId: roleIdOf('Organization Owner') };
      const answer = await call('inviteMember', up, admin.token);
      expect(answer.code).toBe('PRIVILEGE_ESCALATION');
      expect(answer.details.map(({ path }) => path)).toContain('Organization:Delete');
    });

    test('malformed input', async () => {
      for (const email of ['nobody', 'a@b@example.test', '']) {
        const answer = await call('inviteMember', { scope, email, roleId: VIEWER }, owner.token);
        expect(answer).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'email' }] });
      }
    });

    test('to let a key invite or accept', async () => {
      const project = await app.must('createProject', { scope, name: 'Inside' }, as);
      const key = await app.must('createApiKey', { scope: project.scope }, as);
      const { accessToken } = await app.must('exchangeApiKey', {
        clientId: key.clientId,
        clientSecret: key.clientSecret as string,
        scope: key.scope,
      });
      const { token } = await invited(address());
      expect((await accept({ token }, accessToken)).code).toBe('SESSION_REQUIRED');
      expect((await accept({ token, registration: registration() }, accessToken)).code).toBe(
        'SESSION_REQUIRED',
      );
    });

    test('an unknown token', async () => {
      const { token } = await app.person();
      for (const unknown of ['x', 'x'.repeat(43), 'x'.repeat(128)]) {
        expect((await call('invitation', { token: unknown })).code).toBe('NOT_FOUND');
        expect((await accept({ token: unknown }, token)).code).toBe('NOT_FOUND');
        const before = hashing.calls;
        expect((await accept({ token: unknown, registration: registration() })).code).toBe('NOT_FOUND');
        expect(hashing.calls).toBe(before);
      }
      const long = await call('invitation', { token: 'x'.repeat(129) });
      expect(long).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'token', code: 'too_long' }],
      });
    });

    test('a user whom the invitation was not sent to', async () => {
      const { token } = await invited(address());
      const stranger = await app.person();
      expect((await accept({ token }, stranger.token)).code).toBe('FORBIDDEN');
      expect(await membersOf()).toEqual([owner.userId]);
    });

    test('a user until they have verified the address', async () => {
      const person = await app.person({ verified: false });
      const verification = await app.mailedToken(person.email);
      const { token } = await invited(person.email);
      expect((await accept({ token }, person.token)).code).toBe('EMAIL_VERIFICATION_REQUIRED');
      await app.must('verifyEmail', { token: verification });
      expect((await accept({ token }, person.token)).ok).toBe(true);
    });

    test('a caller without a session and registration', async () => {
      const { token } = await invited(address());
      for (const session of [undefined, 'garbage']) {
        const answer = await accept({ token }, session);
        statusIs(answer, 401);
        expect(answer.code).toBe('UNAUTHENTICATED');
        if (via === 'rest') expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });

    test('a registration with an owned address, or with a session', async () => {
      const person = await app.person();
      const { token } = await invited(person.email);
      const before = hashing.calls;
      const existing = await accept({ token, registration: registration() });
      expect(existing).toMatchObject({
        code: 'CONFLICT',
        details: [{ path: 'registration', code: 'taken' }],
      });
      const both = await accept({ token, registration: registration() }, person.token);
      expect(both).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: [{ path: 'registration', code: 'excluded' }],
      });
      expect(hashing.calls).toBe(before);
    });

    test.each([
      [{ password: 'q7#Zp' }, 'registration.password', 'too_short'],
      [{ password: 'password1234' }, 'registration.password', 'password_too_common'],
      [{ password: 'Nils Holgersson' }, 'registration.password', 'password_contains_identity'],
      [{ password: 'x'.repeat(129) }, 'registration.password', 'too_long'],
      [{ name: '  ' }, 'registration.name', 'too_short'],
    ])('the registration %j', async (bad, path, code) => {
      const { token } = await invited(address());
      const answer = await accept({ token, registration: { ...registration(), ...bad } });
      expect(answer).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path, code }] });
    });

    test('a user who is already a member', async () => {
      const person = await app.person();
      const { id, token } = await invited(person.email);
      await join(person, 'Organization Viewer');
      const answer = await accept({ token }, person.token);
      expect(answer).toMatchObject({ code: 'CONFLICT', details: [{ path: 'token', code: 'taken' }] });
      const renewed = await call('renewInvitation', { scope, id }, owner.token);
      expect(renewed).toMatchObject({ code: 'CONFLICT', details: [{ path: 'email', code: 'taken' }] });
      const [row] = await app.database.pool.select().from(invitations).where(eq(invitations.id, id));
      expect(row?.status).toBe('pending');
    });
  });

  describe('an inviter who', () => {
    const member = (id: string) =>
      and(eq(organizationMembers.tenantId, scope.id), eq(organizationMembers.userId, id));
    const usersOf = (email: string) => app.database.pool.select().from(users).where(eq(users.email, email));

    test.each<[string, (inviter: Person) => PromiseLike<unknown>]>([
      ['left', ({ userId }) => app.database.pool.delete(organizationMembers).where(member(userId))],
      [
        'holds less than the role now',
        ({ userId }) =>
          app.database.pool
            .update(organizationMembers)
            .set({ roleId: roleIdOf('Organization Viewer') })
            .where(member(userId)),
      ],
      [
        'is disabled',
        ({ userId }) =>
          app.database.pool.update(users).set({ status: 'disabled' }).where(eq(users.id, userId)),
      ],
      [
        'is deleted',
        ({ userId }) =>
          app.database.pool.update(users).set({ deletedAt: app.clock.now() }).where(eq(users.id, userId)),
      ],
    ])('%s cannot grant the role', async (_, change) => {
      const admin = await join(await app.person(), 'Organization Admin');
      const [person, email] = [await app.person(), address()];
      const roleId = roleIdOf('Organization Developer');
      const tokens = [];
      for (const to of [person.email, email]) {
        await app.must('inviteMember', { scope, email: to, roleId }, { token: admin.token });
        tokens.push(await app.mailedToken(to));
      }
      await change(admin);
      const before = await membersOf();
      for (const answer of [
        await accept({ token: tokens[0] }, person.token),
        await accept({ token: tokens[1], registration: registration() }),
      ]) {
        expect(answer.code, answer.body).toBe('INVALID_STATE');
        expect(answer.cookies).toEqual([]);
      }
      expect(await membersOf()).toEqual(before);
      expect(await usersOf(email)).toEqual([]);
    });
  });

  test('the token of an invitation to a deleted organization is unknown', async () => {
    const person = await app.person();
    const { token } = await invited(person.email);
    await app.must('deleteOrganization', { scope, id: scope.id }, as);
    expect((await call('invitation', { token })).code).toBe('NOT_FOUND');
    expect((await accept({ token }, person.token)).code).toBe('NOT_FOUND');
    expect((await accept({ token, registration: registration() })).code).toBe('NOT_FOUND');
  });

  test('a role of a pending invitation cannot be deleted', async () => {
    const role = await app.must('createRole', { scope, name: 'Guest' }, as);
    const { id } = await invite(address(), role.id);
    const refused = await call('deleteRole', { scope, id: role.id }, owner.token);
    expect(refused).toMatchObject({ code: 'IN_USE', details: [{ path: 'invitations' }] });
    await expire(id);
    await app.database.pool.update(invitations).set({ status: 'expired' }).where(eq(invitations.id, id));
    expect((await call('deleteRole', { scope, id: role.id }, owner.token)).ok).toBe(true);
    expect((await call('renewInvitation', { scope, id }, owner.token)).code).toBe('INVALID_STATE');
  });
});

describe('of twenty concurrent calls', { tags: 'race' }, () => {
  test('one invites an address', async () => {
    const email = address();
    const before = app.mails.length;
    const answers = await twentyTimes(() => app.raw('inviteMember', { scope, email, roleId: VIEWER }, as));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
    expect(outcomes(answers)).toEqual({ ok: 1, CONFLICT: 19 });
    await app.app.flushMails();
    expect(app.mails.slice(before).filter(({ to }) => to === email)).toHaveLength(1);
  });

  test('one invites an address with an expired invitation again', async () => {
    const email = address();
    await expire((await invite(email)).id);
    const answers = await twentyTimes(() => app.raw('inviteMember', { scope, email, roleId: VIEWER }, as));
    expect(outcomes(answers)).toEqual({ ok: 1, CONFLICT: 19 });
  });

  test.each(['session', 'registration'])('one accepts, with a %s', async (how) => {
    const person = how === 'session' ? await app.person() : { email: address(), token: undefined };
    const { token } = await invited(person.email);
    const input = how === 'session' ? { token } : { token, registration: registration() };
    const answers = await twentyTimes(() => app.raw('acceptInvitation', input, { token: person.token }));
    expect(outcomes(answers)).toEqual({ ok: 1, INVALID_STATE: 19 });
    expect(await membersOf()).toHaveLength(2);
    const [counted] = await app.database.pool
      .select({ count: sql<number>`count(*)::int` })
      .from(users)
      .where(eq(users.email, person.email));
    expect(counted?.count).toBe(1);
  });

  test('one revokes', async () => {
    const { id } = await invite(address());
    expect(outcomes(await twentyTimes(() => app.raw('revokeInvitation', { scope, id }, as)))).toEqual({
      ok: 1,
      INVALID_STATE: 19,
    });
    expect((await eventsOf()).filter(({ type }) => type === 'invitation.revoked')).toHaveLength(1);
  });

  test(
    'acceptance races with revoke, resend and renew: it succeeds or is refused',
    { tags: 'race' },
    async () => {
      for (const rival of ['revokeInvitation', 'resendInvitation', 'renewInvitation']) {
        const person = await app.person();
        const { id, token } = await invited(person.email);
        const [accepted, other] = await Promise.all([
          app.raw('acceptInvitation', { token }, { token: person.token }),
          app.raw(rival, { scope, id }, as),
        ]);
        expect([accepted?.code, other?.code], rival).toContainEqual(null);
        expect(accepted?.ok ? other?.code : accepted?.code, rival).toBe(
          accepted?.ok ? 'INVALID_STATE' : 'NOT_FOUND',
        );
        expect((await membersOf()).includes(person.userId)).toBe(accepted?.ok);
      }
    },
  );

  test('an invitation and a verification of one address leave it one owner', { tags: 'race' }, async () => {
    for (let round = 0; round < 3; round++) {
      const claimant = await app.person({ verified: false });
      const verification = await app.mailedToken(claimant.email);
      const { token } = await invited(claimant.email);
      const answers = await Promise.all([
        app.raw('acceptInvitation', { token, registration: registration() }),
        app.raw('verifyEmail', { token: verification }),
      ]);
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
      expect(answers.find(({ ok }) => !ok)?.status).toBeLessThan(500);
      const owners = await app.database.pool
        .select()
        .from(authenticationMethods)
        .where(
          and(
            eq(authenticationMethods.providerId, claimant.email),
            eq(authenticationMethods.isVerified, true),
          ),
        );
      expect(owners).toHaveLength(1);
    }
  });
});

/** Inserts an invitation directly, because operations cannot create its inviter when registration is closed. */
async function insertInvitation({ database: { pool } }: TestApp) {
  const [userId, accountId, organizationId, id] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const [email, token] = [address(), newOneTimeToken()];
  await pool.insert(users).values({ id: userId, name: 'Olga', emailVerified: true });
  await pool.insert(nodes).values({ id: accountId, kind: 'account' });
  await pool.insert(nodes).values({ id: organizationId, kind: 'organization', parentId: accountId });
  await pool
    .insert(organizations)
    .values({ id: organizationId, accountId, name: 'Acme', slug: `acme-${unique()}` });
  const ownership = { roleId: roleIdOf('Organization Owner'), roleTenantId: SYSTEM_NODE };
  await pool.insert(organizationMembers).values({ tenantId: organizationId, userId, ...ownership });
  const [now, soon] = [new Date(), new Date(Date.now() + DAY)];
  await pool.insert(invitations).values({
    id,
    tenantId: organizationId,
    email,
    roleId: VIEWER,
    roleTenantId: SYSTEM_NODE,
    invitedBy: userId,
    expiresAt: soon,
    lastSentAt: now,
  });
  await pool.insert(invitationTokens).values({ hash: hashOneTimeToken(token), invitationId: id });
  return { organizationId, email, token };
}

describe('by configuration', () => {
  const withConfig = async (env: Record<string, string>, body: (on: TestApp) => Promise<void>) => {
    const on = await startOwnApp(env);
    try {
      await body(on);
    } finally {
      await on.close();
    }
  };

  test('an invitation expires after AUTH_INVITATION_DAYS', () =>
    withConfig({ AUTH_INVITATION_DAYS: '2' }, async (on) => {
      const { owner: inviter, scope: there } = await newOrganization(on);
      const email = address();
      await on.must('inviteMember', { scope: there, email, roleId: VIEWER }, { token: inviter.token });
      const token = await on.mailedToken(email);
      on.clock.advance(2 * DAY - MINUTE);
      expect((await on.must('invitation', { token })).status).toBe('pending');
      on.clock.advance(MINUTE);
      expect((await on.must('invitation', { token })).status).toBe('expired');
      const answer = await on.raw('acceptInvitation', { token, registration: registration() });
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_TOKEN' });
    }));

  test('an invitation as owner needs a recent sign-in', () =>
    withConfig({ SECURITY_STEP_UP_MAX_AGE_MINUTES: '1' }, async (on) => {
      const { owner: inviter, scope: there } = await newOrganization(on);
      const input = { scope: there, roleId: roleIdOf('Organization Owner') };
      on.clock.advance(2 * MINUTE);
      const late = await on.raw('inviteMember', { ...input, email: address() }, { token: inviter.token });
      expect(late.code).toBe('STEP_UP_REQUIRED');
      const { accessToken } = await on.must('login', {
        provider: 'email',
        providerId: inviter.email,
        providerData: { password: inviter.password },
      });
      const person = await on.person();
      await on.must('inviteMember', { ...input, email: person.email }, { token: accessToken });
      const token = await on.mailedToken(person.email);
      // Acceptance needs no recent sign-in; the inviter had one.
      on.clock.advance(2 * MINUTE);
      expect((await on.raw('acceptInvitation', { token }, { token: person.token })).ok).toBe(true);
    }));

  test.each<Via>(['rest', 'graphql'])('renewing an invitation as owner needs one too, over %s', (via) =>
    withConfig({ SECURITY_STEP_UP_MAX_AGE_MINUTES: '1' }, async (on) => {
      const { owner: inviter, scope: there } = await newOrganization(on);
      const as = { token: inviter.token, via };
      const invited = async (roleId: string) =>
        (await on.must('inviteMember', { scope: there, email: address(), roleId }, as)).id;
      const ownership = await invited(roleIdOf('Organization Owner'));
      const viewing = await invited(VIEWER);
      expect((await on.raw('renewInvitation', { scope: there, id: ownership }, as)).ok).toBe(true);
      on.clock.advance(2 * MINUTE);
      const late = await on.raw('renewInvitation', { scope: there, id: ownership }, as);
      expect(late.code).toBe('STEP_UP_REQUIRED');
      expect((await on.raw('renewInvitation', { scope: there, id: viewing }, as)).ok).toBe(true);
    }),
  );

  test('guesses and retries of one token count in class auth', () =>
    withConfig({ SECURITY_RATE_LIMIT_AUTH_MAX: '3' }, async (on) => {
      const answers = [];
      for (let i = 0; i < 4; i++)
        answers.push(await on.raw('acceptInvitation', { token: 'x', registration: registration() }));
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 429]);
      expect((await on.raw('acceptInvitation', { token: 'y', registration: registration() })).status).toBe(
        404,
      );
    }));

  test.each<Via>(['rest', 'graphql'])(
    'invited users can register although registration is closed, over %s',
    (via) =>
      withConfig({ AUTH_REGISTRATION_MODE: 'closed' }, async (on) => {
        const { organizationId, email, token } = await insertInvitation(on);
        const closed = {
          provider: 'email',
          providerId: email,
          providerData: { password: registration().password },
        };
        expect((await on.raw('register', closed)).code).toBe('FORBIDDEN');
        const answer = await on.raw('acceptInvitation', { token, registration: registration() }, { via });
        expect(answer.data).toMatchObject({ isNewUser: true, organization: { id: organizationId } });
      }),
  );
});
