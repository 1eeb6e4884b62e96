import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  appoint,
  firstOperator,
  installation,
  operatorAddress,
  operatorEnvironment,
} from '../../../test/support/tenants/operators.ts';
import { installationRoleIdOf } from '../../access/installation-roles.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';

/** Who becomes an operator, who does not, and what each role may do. */
const reason = 'They join the team today';
const SUPPORT = installationRoleIdOf('Installation Support');
const OPERATOR = installationRoleIdOf('Installation Operator');

describe.each(storyTransports(import.meta))('operators over %s', (via) => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startOwnApp(operatorEnvironment);
  });
  afterEach(() => app.close());

  const list = (token: string) => app.call('operators', { scope: installation }, { token, via });
  const add = (token: string, input: object) =>
    app.raw('createOperator', { scope: installation, reason, ...input }, { token, via });
  const remove = (token: string, userId: string) =>
    app.raw('deleteOperator', { scope: installation, userId, reason }, { token, via });
  const forbidden = { ok: false, code: 'FORBIDDEN', reason: 'INVALID_SCOPE' };

  test('an address of OPERATORS counts once it is verified, and only as e-mail method', async () => {
    const ada = await app.person({ email: operatorAddress, verified: false });
    expect(await list(ada.token)).toMatchObject(forbidden);
    await app.must('verifyEmail', { token: await app.mailedToken(operatorAddress) });
    const { data } = await list(ada.token);
    expect(data.items).toMatchObject([
      {
        userId: ada.userId,
        email: operatorAddress,
        role: { id: OPERATOR, name: 'Installation Operator' },
        source: 'configuration',
        createdBy: null,
      },
    ]);
    // An identity provider that reports the same address proves nothing here.
    await app.owner
      .update(authenticationMethods)
      .set({ provider: 'github', providerId: '4711' })
      .where(eq(authenticationMethods.userId, ada.userId));
    await app.must('updateMe', { name: 'Ada' }, { token: ada.token });
    expect(await list(ada.token)).toMatchObject(forbidden);
  });

  test('another process with a shorter list knows them no more', async () => {
    const ada = await firstOperator(app);
    const later = await startOwnApp({}, app);
    try {
      expect(await later.call('operators', { scope: installation }, { token: ada.token, via })).toMatchObject(
        forbidden,
      );
    } finally {
      await later.close();
    }
  });

  test('the audit log of the installation shows who comes and goes by OPERATORS', async () => {
    const ada = await firstOperator(app);
    await app.app.recordOperators();
    await app.app.recordOperators();
    const later = await startOwnApp({}, app);
    try {
      await later.app.recordOperators();
      const rows = await later.database.pool
        .select()
        .from(auditLog)
        .where(eq(auditLog.operation, 'configureOperators'))
        .orderBy(auditLog.sequence);
      expect(rows).toMatchObject([
        { event: 'operator.added', target: { id: ada.userId }, actor: { type: 'system' } },
        { event: 'operator.removed', target: { id: ada.userId }, actor: { type: 'system' } },
      ]);
    } finally {
      await later.close();
    }
  });

  test('an operator makes others, all operators are notified, and everything is audited', async () => {
    const ada = await firstOperator(app);
    const bob = await app.person();
    expect(await list(bob.token)).toMatchObject(forbidden);
    const added = await add(ada.token, { email: bob.email, roleId: SUPPORT });
    expect(added.data).toMatchObject({
      userId: bob.userId,
      role: { name: 'Installation Support' },
      source: 'api',
      createdBy: ada.userId,
    });
    expect(await add(ada.token, { userId: bob.userId, roleId: OPERATOR })).toMatchObject({
      code: 'CONFLICT',
    });
    // Support may read users, but neither read nor add operators.
    expect(await list(bob.token)).toMatchObject({ code: 'FORBIDDEN', reason: 'NO_PERMISSION' });
    const permissions = await app.must('myPermissions', { scope: installation }, { token: bob.token, via });
    expect(permissions.permissions.map(({ resource, action }) => `${resource}:${action}`)).toEqual(
      expect.arrayContaining(['InstallationUser:ResetFactor', 'InstallationUser:Query']),
    );
    expect(await remove(ada.token, bob.userId)).toMatchObject({ ok: true });
    expect(await app.call('myPermissions', { scope: installation }, { token: bob.token, via })).toMatchObject(
      forbidden,
    );
    await app.app.flushMails();
    const notified = app.mails.filter(({ text }) => text.includes(reason));
    expect(notified.map(({ to }) => to)).toEqual(expect.arrayContaining([ada.email, bob.email]));
    expect(await audited()).toEqual([
      { operation: 'createOperator', event: 'operator.added', actorId: ada.userId, targetId: bob.userId },
      { operation: 'deleteOperator', event: 'operator.removed', actorId: ada.userId, targetId: bob.userId },
    ]);
  });

  /** The entries about operators in the installation's log. */
  async function audited() {
    const rows = await app.database.pool.select().from(auditLog).orderBy(auditLog.sequence);
    return rows
      .filter(({ operation }) => operation.endsWith('Operator'))
      .map(({ operation, event, actor, target }) => ({
        operation,
        event,
        actorId: (actor as { id: string }).id,
        targetId: (target as { id: string } | null)?.id ?? null,
      }));
  }

  test('the last one stays, and those of the configuration cannot be removed', async () => {
    const ada = await firstOperator(app);
    expect(await remove(ada.token, ada.userId)).toMatchObject({ code: 'INVALID_STATE' });
    const bob = await appoint(app, ada, 'Installation Operator');
    const later = await startOwnApp({}, app);
    try {
      const removeLater = (userId: string) =>
        later.raw('deleteOperator', { scope: installation, userId, reason }, { token: bob.token, via });
      expect(await removeLater(bob.userId)).toMatchObject({ code: 'LAST_OWNER' });
      expect(await later.raw('deleteMe', {}, { token: bob.token, via })).toMatchObject({
        code: 'LAST_OWNER',
      });
      expect(await removeLater(ada.userId)).toMatchObject({ code: 'NOT_FOUND' });
    } finally {
      await later.close();
    }
    expect(await remove(ada.token, bob.userId)).toMatchObject({ ok: true });
  });

  test('an unverified user, an unknown one and a wrong role are refused', async () => {
    const { token } = await firstOperator(app);
    const unverified = await app.person({ verified: false });
    expect(await add(token, { userId: unverified.userId, roleId: SUPPORT })).toMatchObject({
      code: 'INVALID_STATE',
    });
    expect(await add(token, { email: unverified.email, roleId: SUPPORT })).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await add(token, { roleId: SUPPORT })).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'userId', code: 'required' }],
    });
    const person = await app.person();
    const both = { userId: person.userId, email: person.email, roleId: SUPPORT };
    expect(await add(token, both)).toMatchObject({ details: [{ path: 'email', code: 'excluded' }] });
    expect(await add(token, { userId: person.userId, roleId: person.userId })).toMatchObject({
      details: [{ path: 'roleId', code: 'enum' }],
    });
    expect(await add(token, { userId: person.userId, roleId: SUPPORT, reason: 'too short' })).toMatchObject({
      details: [{ path: 'reason', code: 'too_short' }],
    });
  });

  test('the acts need a recent sign-in', async () => {
    const ada = await firstOperator(app);
    const bob = await app.person();
    app.clock.advance(16 * 60_000);
    const { data } = await app.raw(
      'refreshSession',
      { accessToken: ada.token, refreshToken: ada.refreshToken },
      { via },
    );
    const { accessToken: token } = data as { accessToken: string };
    expect(await add(token, { userId: bob.userId, roleId: SUPPORT })).toMatchObject({
      code: 'STEP_UP_REQUIRED',
    });
    expect(await list(token)).toMatchObject({ ok: true });
  });

  test('rights in a tenant, and keys, count for nothing in the installation', async () => {
    await firstOperator(app);
    const owner = await app.person({ type: 'organization' });
    const scope = owner.account;
    expect(await list(owner.token)).toMatchObject(forbidden);
    const machine = await app.must(
      'createUser',
      { scope, kind: 'service', name: 'Machine', roleIds: [(await accountOwnerRole(owner)) ?? ''] },
      { token: owner.token },
    );
    const key = await app.must('createApiKey', { scope, userId: machine.id }, { token: owner.token });
    const { accessToken } = await app.must('exchangeApiKey', {
      clientId: key.clientId,
      clientSecret: key.clientSecret ?? '',
      scope: { tenant: 'Account', id: scope.id },
    });
    expect(await list(accessToken)).toMatchObject({ code: 'SESSION_REQUIRED' });
    // Operations on other nouns do not accept the installation as scope.
    expect(await app.raw('roles', { scope: installation }, { token: owner.token, via })).toMatchObject({
      code: 'TENANT_NOT_ALLOWED',
    });
    const elsewhere = { tenant: 'installation', id: owner.userId };
    expect(await app.raw('operators', { scope: elsewhere }, { token: owner.token, via })).toMatchObject(
      forbidden,
    );
  });

  async function accountOwnerRole(owner: Person): Promise<string | undefined> {
    const { items } = await app.must('roles', { scope: owner.account }, { token: owner.token });
    return items.find(({ name }) => name === 'Account Owner')?.id;
  }

  test('no tenant sees or takes what operators hold', async () => {
    const ada = await firstOperator(app);
    const scope = ada.account;
    const { items: roles } = await app.must('roles', { scope, limit: 100 }, { token: ada.token });
    expect(roles.filter(({ name }) => name.startsWith('Installation'))).toEqual([]);
    const { items } = await app.must(
      'permissions',
      { scope, limit: 100, search: 'Installation' },
      { token: ada.token },
    );
    expect(items).toEqual([]);
  });

  test('outside of their networks an operator is a stranger', async () => {
    const ada = await firstOperator(app);
    const bound = await startOwnApp({ ...operatorEnvironment, OPERATORS_ALLOWED_CIDRS: '10.1.0.0/16' }, app);
    try {
      expect(await bound.call('operators', { scope: installation }, { token: ada.token, via })).toMatchObject(
        forbidden,
      );
    } finally {
      await bound.close();
    }
  });
});

describe.each(storyTransports(import.meta))('the first user over %s', (via) => {
  test('is the operator of an installation that is not in production', async () => {
    const app = await startOwnApp();
    const token = (await app.app.issueFirstUserToken('here:4000')) ?? '';
    const first = {
      token,
      email: 'ada@example.test',
      password: 'three lanterns in the harbour',
      name: 'Ada',
    };
    const { accessToken } = await app.must('createFirstUser', first, { via });
    const { items } = await app.must('operators', { scope: installation }, { token: accessToken, via });
    expect(items).toMatchObject([{ source: 'development', role: { name: 'Installation Operator' } }]);
    // In production the same user is not an operator, because the link proves nothing there.
    const production = await startOwnApp(productionEnvironment, app);
    try {
      expect(
        await production.call('operators', { scope: installation }, { token: accessToken, via }),
      ).toMatchObject({ ok: false });
    } finally {
      await production.close();
      await app.close();
    }
  });
});

const productionEnvironment = {
  NODE_ENV: 'production',
  APP_URL: 'http://localhost:4000',
  APP_URL_ALLOW_HTTP: 'true',
  MAIL_CONSOLE_IN_PRODUCTION: 'true',
};

describe.each(storyTransports(import.meta))('in production over %s', (via) => {
  test('an operator needs a second factor, and the link of the first user makes none', async () => {
    const app = await startOwnApp({ ...productionEnvironment, ...operatorEnvironment });
    try {
      const token = (await app.app.issueFirstUserToken('here:4000')) ?? '';
      const first = {
        token,
        email: 'ada@example.com',
        password: 'three lanterns in the harbour',
        name: 'Ada',
      };
      const { accessToken } = await app.must('createFirstUser', first, { via });
      const list = (given: string) => app.call('operators', { scope: installation }, { token: given, via });
      expect(await list(accessToken)).toMatchObject({ code: 'FORBIDDEN', reason: 'INVALID_SCOPE' });

      const ada = await firstOperator(app);
      expect(await list(ada.token)).toMatchObject({ code: 'MFA_REQUIRED', reason: null });
      const { factor, secret } = await app.must('createMfaFactor', {}, { token: ada.token });
      const code = codeShown(secret, app.clock.now());
      await app.must('verifyMfaFactor', { id: factor.id, code }, { token: ada.token });
      expect(await list(ada.token)).toMatchObject({ ok: true });
    } finally {
      await app.close();
    }
  });
});
