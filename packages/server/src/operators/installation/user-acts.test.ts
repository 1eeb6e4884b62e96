import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  appoint,
  firstOperator,
  installation as scope,
  operatorEnvironment,
} from '../../../test/support/tenants/operators.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { installationRoleIdOf } from '../../access/installation-roles.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';

/** Acts of operators on users: their effect, both audit entries, the notice with the reason, and who is refused. */
const reason = 'Ticket 4711: reported as stolen';
const acts = [
  'suspendUser',
  'reactivateUser',
  'endUserSessions',
  'resetUserSecondFactor',
  'sendUserPasswordReset',
] as const;

describe.each(storyTransports(import.meta))('acts on users over %s', (via) => {
  let app: TestApp;
  let ada: Person;
  let bob: Person;
  beforeEach(async () => {
    app = await startOwnApp(operatorEnvironment);
    [ada, bob] = [await firstOperator(app), await app.person({ name: 'Bob' })];
  });
  afterEach(() => app.close());

  const act = (name: (typeof acts)[number], id = bob.userId, more: object = {}) =>
    app.raw(name, { scope, id, reason, ...more }, { token: ada.token, via });
  const signIn = ({ email, password }: Person) =>
    app.raw('login', { provider: 'email', providerId: email, providerData: { password } }, { via });
  const me = (token: string) => app.call('me', {}, { token, via });

  /** Expects one entry of the operation in each log, and one mail. Returns the event of the tenant's entry. */
  async function traces(operation: string, to: string) {
    await app.app.flushMails();
    const rows = await app.database.pool.select().from(auditLog).where(eq(auditLog.operation, operation));
    const entryIn = (nodeId: string) => rows.filter(({ tenantId }) => tenantId === nodeId);
    expect(entryIn(scope.id)).toMatchObject([
      { actor: { id: ada.userId, name: 'Grace' }, target: { id: bob.userId }, metadata: { reason } },
    ]);
    expect(entryIn(bob.account.id)).toMatchObject([
      {
        actor: { id: ada.userId, name: 'Installation operator' },
        target: { id: bob.userId },
        metadata: { reason },
      },
    ]);
    expect(app.mails.filter((mail) => mail.to === to && mail.text.includes(reason))).toHaveLength(1);
    return entryIn(bob.account.id)[0]?.event;
  }

  test('a suspended user cannot sign in, and nothing of theirs works until they are reactivated', async () => {
    const wrong = await signIn({ ...bob, password: 'not the password at all' });
    const { data } = await act('suspendUser');
    expect(data).toMatchObject({ id: bob.userId, status: 'suspended' });
    expect(await me(bob.token)).toMatchObject({ code: 'UNAUTHENTICATED' });
    const refused = await signIn(bob);
    const visible = ({ status, code, body }: typeof refused) => [
      status,
      code,
      body.replace(/"requestId":"[^"]+"/, ''),
    ];
    expect(visible(refused)).toEqual(visible(wrong));
    expect(await act('suspendUser')).toMatchObject({ code: 'INVALID_STATE' });
    expect(await act('sendUserPasswordReset')).toMatchObject({ code: 'INVALID_STATE' });
    expect(await traces('suspendUser', bob.email)).toBe('user.suspended');

    expect((await act('reactivateUser')).data).toMatchObject({ status: 'active', suspendedAt: null });
    expect((await signIn(bob)).ok).toBe(true);
    expect(await act('reactivateUser')).toMatchObject({ code: 'INVALID_STATE' });
    app.mails.length = 0;
    const again = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'reactivateUser'));
    expect(again.map(({ event }) => event).sort()).toEqual(['operator.acted', 'user.reactivated']);
  });

  test('a tenant cannot end the suspension of its managed user, nor lose what it had disabled', async () => {
    const owner = await app.person({ type: 'organization' });
    const as = { token: owner.token, via };
    const { id } = await app.must('createOrganization', { scope: owner.account, name: 'Acme' }, as);
    const organization = { tenant: 'organization', id } as const;
    const machine = { kind: 'service' as const, name: 'Machine', roleIds: [roleIdOf('Organization Viewer')] };
    const { id: userId } = await app.must('createUser', { scope: organization, ...machine }, as);
    await app.must('updateUser', { scope: organization, id: userId, status: 'disabled' }, as);
    expect((await act('suspendUser', userId)).ok).toBe(true);
    const activate = { scope: organization, id: userId, status: 'active' };
    expect(await app.raw('updateUser', activate, as)).toMatchObject({ code: 'INVALID_STATE' });
    expect(await app.raw('updateUser', { ...activate, status: 'suspended' }, as)).toMatchObject({
      ok: false,
      code: via === 'rest' ? 'VALIDATION_ERROR' : 'GRAPHQL_VALIDATION_FAILED',
    });
    const renamed = { scope: organization, id: userId, name: 'Renamed' };
    expect((await app.raw('updateUser', renamed, as)).data).toMatchObject({ status: 'suspended' });
    expect((await act('reactivateUser', userId)).data).toMatchObject({ status: 'disabled' });
  });

  test('an address that the suspended user has not verified gets no mail, because it may belong to someone else', async () => {
    const unverified = await app.person({ verified: false });
    expect((await act('suspendUser', unverified.userId)).ok).toBe(true);
    await app.app.flushMails();
    expect(app.mails.filter(({ text }) => text.includes(reason))).toEqual([]);
  });

  test('the other owners learn that an owner is suspended', async () => {
    const as = { token: bob.token };
    const { account } = await app.must('createMyAccount', { type: 'organization' }, as);
    const home = { tenant: 'account', id: account.id } as const;
    const { id } = await app.must('createOrganization', { scope: home, name: 'Acme' }, as);
    const eve = await app.person();
    const invitation = { email: eve.email, roleId: roleIdOf('Organization Owner') };
    const organization = { tenant: 'organization', id } as const;
    await app.must('inviteMember', { scope: organization, ...invitation }, as);
    const token = await app.mailedToken(eve.email);
    await app.must('acceptInvitation', { token }, { token: eve.token });
    expect((await act('suspendUser')).ok).toBe(true);
    await app.app.flushMails();
    const mails = app.mails.filter(({ to, text }) => to === eve.email && text.includes(reason));
    expect(mails).toHaveLength(1);
    expect(mails[0]?.text).toContain('Bob');
  });

  test('ends all sessions of a user', async () => {
    await signIn(bob);
    expect((await act('endUserSessions')).data).toEqual({ ended: 2 });
    expect(await me(bob.token)).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(
      await app.raw('refreshSession', { accessToken: bob.token, refreshToken: bob.refreshToken }, { via }),
    ).toMatchObject({
      ok: false,
    });
    await traces('endUserSessions', bob.email);
    expect((await signIn(bob)).ok).toBe(true);
    expect((await act('endUserSessions', ada.userId)).data).toEqual({ ended: 1 });
  });

  test('sends the link that resets a password to the user, and shows it to no operator', async () => {
    const answer = await act('sendUserPasswordReset');
    expect(answer.status).toBe(via === 'rest' ? 202 : 200);
    expect(answer.data).toEqual({ accepted: true });
    const token = await app.mailedToken(bob.email);
    expect(answer.body).not.toContain(token);
    await traces('sendUserPasswordReset', bob.email);
    await app.must('resetPassword', { token, newPassword: 'four lanterns in the harbour' });
    const unverified = await app.person({ verified: false });
    expect(await act('sendUserPasswordReset', unverified.userId)).toMatchObject({ code: 'INVALID_STATE' });
  });

  /** Adds an authenticator app to the user, by default Bob. Returns its secret. */
  async function enroll(person = bob): Promise<string> {
    const { factor, secret } = await app.must('createMfaFactor', {}, { token: person.token });
    const code = codeShown(secret, app.clock.now());
    await app.must('verifyMfaFactor', { id: factor.id, code }, { token: person.token });
    return secret ?? '';
  }
  const needsFactor = async () => ((await signIn(bob)).data as { mfaRequired: boolean }).mfaRequired;

  test('a lost second factor is removed after a day, with all sessions', async () => {
    // Refused, with or without `passkeys`: the user has neither a second factor nor a passkey.
    for (const passkeys of [false, true])
      expect(await act('resetUserSecondFactor', bob.userId, { passkeys })).toMatchObject({
        code: 'INVALID_STATE',
      });
    await enroll();
    const { data } = await act('resetUserSecondFactor');
    const { effectiveAt } = data as { effectiveAt: string };
    expect(new Date(effectiveAt).getTime() - app.clock.now().getTime()).toBeGreaterThan(23.9 * 3_600_000);
    expect(await traces('resetUserSecondFactor', bob.email)).toBeNull();
    expect(await act('resetUserSecondFactor')).toMatchObject({ code: 'INVALID_STATE' });
    await app.app.resetFactors();
    expect(await needsFactor()).toBe(true);
    app.clock.advance(24 * 3_600_000 + 1000);
    await app.app.resetFactors();
    expect(await needsFactor()).toBe(false);
    expect(await me(bob.token)).toMatchObject({ code: 'UNAUTHENTICATED' });
    const done = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'resetSecondFactor'));
    expect(done.map(({ event }) => event).sort()).toEqual(['operator.acted', 'user.mfa_changed']);
    expect(done.every(({ actor }) => (actor as { type: string }).type === 'system')).toBe(true);
  });

  test('a sign-in with the second factor stops its removal', async () => {
    const secret = await enroll();
    await act('resetUserSecondFactor');
    const { accessToken: token } = (await signIn(bob)).data as { accessToken: string };
    const code = codeShown(secret, app.clock.now(), 1);
    await app.must('verifyMfa', { code }, { token, via });
    app.clock.advance(25 * 3_600_000);
    await app.app.resetFactors();
    expect(await needsFactor()).toBe(true);
  });

  test('a user who became operator meanwhile keeps the factor, unless an Installation Operator began its removal', async () => {
    const support = await appoint(app, ada, 'Installation Support');
    const begin = (token: string) =>
      app.must('resetUserSecondFactor', { scope, id: bob.userId, reason }, { token, via });
    const later = async () => {
      app.clock.advance(25 * 3_600_000);
      await app.app.resetFactors();
    };
    await enroll();
    await begin(support.token);
    const roleId = installationRoleIdOf('Installation Auditor');
    await app.must(
      'createOperator',
      { scope, userId: bob.userId, roleId, reason },
      { token: ada.token, via },
    );
    await later();
    expect(await needsFactor()).toBe(true);
    const [left] = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'resetSecondFactor'));
    expect(left).toMatchObject({ metadata: { requestedBy: support.userId, cancelled: 'operator' } });
    await begin(((await signIn(ada)).data as { accessToken: string }).accessToken);
    await later();
    expect(await needsFactor()).toBe(false);
  });

  test('only an Installation Operator removes a factor immediately, or that of an operator', async () => {
    const support = await appoint(app, ada, 'Installation Support');
    await enroll();
    const by = (token: string, id: string, immediately: boolean) =>
      app.raw('resetUserSecondFactor', { scope, id, reason, immediately }, { token, via });
    const refused = { code: 'FORBIDDEN', reason: 'NO_PERMISSION' };
    expect(await by(support.token, bob.userId, true)).toMatchObject(refused);
    expect(await by(support.token, ada.userId, false)).toMatchObject(refused);
    expect((await by(support.token, bob.userId, false)).ok).toBe(true);
    expect(await needsFactor()).toBe(true);
    expect((await by(ada.token, bob.userId, true)).ok).toBe(true);
    expect(await needsFactor()).toBe(false);
    app.clock.advance(25 * 3_600_000);
    await app.app.resetFactors();
    const system = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'resetSecondFactor'));
    expect(system).toEqual([]);
  });

  test('an operator must be removed before they are suspended', async () => {
    const support = await appoint(app, ada, 'Installation Support');
    expect(await act('suspendUser', support.userId)).toMatchObject({ code: 'INVALID_STATE' });
    expect(await act('suspendUser', ada.userId)).toMatchObject({ code: 'INVALID_STATE' });
  });

  test('everybody else is refused, and a reason is required', { tags: 'independent' }, async () => {
    const support = await appoint(app, ada, 'Installation Support');
    const auditor = await appoint(app, ada, 'Installation Auditor');
    const codeFor = async (token: string) =>
      Promise.all(
        acts.map(async (name) => {
          const answer = await app.raw(name, { scope, id: bob.userId, reason }, { token, via });
          return [name, answer.code, answer.reason];
        }),
      );
    for (const [name, code, why] of await codeFor(bob.token))
      expect([code, why], String(name)).toEqual(['FORBIDDEN', 'INVALID_SCOPE']);
    for (const [name, code, why] of await codeFor(auditor.token))
      expect([code, why], String(name)).toEqual(['FORBIDDEN', 'NO_PERMISSION']);
    const refused = (await codeFor(support.token)).flatMap(([name, code]) =>
      code === 'FORBIDDEN' ? name : [],
    );
    expect(refused).toEqual(['suspendUser', 'reactivateUser']);
    for (const name of acts) {
      expect(await act(name, bob.userId, { reason: 'too short' })).toMatchObject({
        details: [{ path: 'reason', code: 'too_short' }],
      });
      expect(await act(name, scope.id)).toMatchObject({ code: 'NOT_FOUND' });
    }
    app.clock.advance(16 * 60_000);
    const { data } = await app.raw(
      'refreshSession',
      { accessToken: ada.token, refreshToken: ada.refreshToken },
      { via },
    );
    const { accessToken: token } = data as { accessToken: string };
    for (const name of acts)
      expect(await app.raw(name, { scope, id: bob.userId, reason }, { token, via })).toMatchObject({
        code: 'STEP_UP_REQUIRED',
      });
  });

  test.runIf(inject('postgresUrl'))(
    'another process refuses a suspended user',
    { tags: 'exhaustive' },
    async () => {
      const other = await startOwnApp(operatorEnvironment, app);
      try {
        const reads = () => other.call('me', {}, { token: bob.token, via });
        expect((await reads()).ok).toBe(true);
        await act('suspendUser');
        await expect.poll(async () => (await reads()).code, { timeout: 10_000 }).toBe('UNAUTHENTICATED');
      } finally {
        await other.close();
      }
    },
  );
});
