import { decodeJwt } from 'jose';
import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { customerOf, grantTo, vendorOf } from '../../../test/support/tenants/grants.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { sampleInput } from '../../../test/contract/sample.ts';
import {
  appoint,
  firstOperator,
  installation as scope,
  operatorEnvironment,
} from '../../../test/support/tenants/operators.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';
import { events } from '../../schema/events/event.ts';
import { operations } from '../../operations.ts';

/** Impersonation: what the operator may do, what no operator may ever do, who is notified, and how it ends. */
const reason = 'Ticket 4711: the list stays empty';

interface Started {
  readonly accessToken: string;
  readonly expiresIn: number;
  readonly impersonationId: string;
}

describe.each(storyTransports(import.meta))('impersonation over %s', (via) => {
  let app: TestApp;
  let ada: Person;
  let bob: Person;
  let organization: { tenant: 'organization'; id: string };
  beforeEach(async () => {
    app = await startOwnApp(operatorEnvironment);
    [ada, bob] = [await firstOperator(app), await app.person({ name: 'Bob', type: 'organization' })];
    const made = await app.must(
      'createOrganization',
      { scope: bob.account, name: 'Acme' },
      { token: bob.token },
    );
    organization = { tenant: 'organization', id: made.id };
  });
  afterEach(() => app.close());

  const start = (id = bob.userId, token = ada.token) =>
    app.raw('impersonateUser', { scope, id, reason }, { token, via });
  const started = async (): Promise<Started> => {
    const { data, body } = await start();
    expect(data, body).toBeDefined();
    return data as Started;
  };
  const me = (token: string) => app.call('me', {}, { token, via });

  test('a token of the user with the operator as actor, which reads and changes what the user may', async () => {
    const { accessToken: token, expiresIn, impersonationId } = await started();
    expect(expiresIn).toBe(900);
    expect(decodeJwt(token)).toMatchObject({
      sub: bob.userId,
      jti: impersonationId,
      act: { sub: ada.userId },
      acr: 'aal1',
      auth_time: 0,
    });
    expect((await me(token)).data).toMatchObject({ user: { id: bob.userId } });
    const tag = await app.must('createTag', { scope: organization, name: 'Blue' }, { token, via });
    const entries = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.operation, 'createTag'));
    expect(entries).toMatchObject([
      {
        actor: {
          id: bob.userId,
          name: 'Bob',
          impersonator: { id: ada.userId, name: 'Installation operator' },
        },
      },
    ]);
    const { items } = await app.must(
      'auditLogs',
      { scope: organization, operation: 'createTag' },
      { token, via },
    );
    expect(items[0]?.actor).toMatchObject({ impersonator: { id: ada.userId } });
    expect(tag.name).toBe('Blue');
    const role = await app.must('createRole', { scope: organization, name: 'Reader' }, { token, via });
    const rows = await app.database.pool.select().from(events).where(eq(events.type, 'role.created'));
    expect(rows).toMatchObject([
      { body: { data: { id: role.id }, actor: { userId: bob.userId, impersonatorId: ada.userId } } },
    ]);
  });

  test('the user and the owners of each organization entered learn of it, once', async () => {
    const { accessToken: token } = await started();
    const mails = async () => {
      await app.app.flushMails();
      return app.mails.filter(({ to, text }) => to === bob.email && text.includes(reason));
    };
    expect(await mails()).toHaveLength(1);
    const list = () => app.must('tags', { scope: organization }, { token, via });
    await list();
    await list();
    const all = await mails();
    expect(all).toHaveLength(2);
    expect(all[1]?.text).toContain('Acme');
    const log = await app.must(
      'auditLogs',
      { scope: organization, event: 'impersonation.*' },
      { token: bob.token },
    );
    expect(log.items).toMatchObject([
      { event: 'impersonation.entered', actor: { userId: bob.userId }, metadata: { reason } },
    ]);
    const own = await app.must(
      'auditLogs',
      { scope: bob.account, event: 'impersonation.*' },
      { token: bob.token },
    );
    expect(own.items).toMatchObject([
      { event: 'impersonation.started', actor: { id: ada.userId, name: 'Installation operator' } },
    ]);
    const central = await app.must(
      'installationAuditLogs',
      { scope, event: 'impersonation.*' },
      { token: ada.token },
    );
    expect(central.items).toMatchObject([{ actor: { id: ada.userId, name: 'Grace' }, metadata: { reason } }]);
  });

  test('an organization without support access is out of reach, with its projects', async () => {
    const as = { token: bob.token };
    const project = await app.must('createProject', { scope: organization, name: 'Shop' }, as);
    const { accessToken: token } = await started();
    const reads = async () => [
      (await app.call('tags', { scope: organization }, { token, via })).code,
      (await app.call('tags', { scope: project.scope }, { token, via })).code,
    ];
    expect(await reads()).toEqual([null, null]);
    await app.must(
      'updateOrganization',
      { scope: organization, id: organization.id, supportAccess: false },
      as,
    );
    expect(await reads()).toEqual(['FORBIDDEN', 'FORBIDDEN']);
    expect((await app.call('tags', { scope: organization }, as)).ok).toBe(true);
  });

  test('a customer without support access is out of reach, also for questions of the owner of its project', async () => {
    const vendor = await vendorOf(app, bob);
    const customer = await customerOf(app);
    const slice = (await grantTo(app, vendor, customer)).scope;
    const { accessToken: token } = await started();
    const ask = async () => {
      const permission = { resource: 'invoice', action: 'read' };
      const subject = { userId: customer.owner.userId };
      const answer = await app.call('isAuthorized', { scope: slice, permission, subject }, { token, via });
      return answer.ok ? answer.data.reason : answer.code;
    };
    expect(await ask()).toBe('NO_PERMISSION');
    const user = { scope: slice, userId: customer.owner.userId, roleIds: [vendor.writer] };
    await app.must('createUser', user, { token: customer.token });
    const affected = async (): Promise<unknown> => {
      const change = { scope: vendor.scope, id: vendor.writer, groupIds: [], dryRun: true };
      const answer = await app.raw('updateRole', change, { token });
      expect(answer.ok, answer.body).toBe(true);
      return (JSON.parse(answer.body) as { data: { affected: unknown } }).data.affected;
    };
    expect(await affected()).toHaveLength(1);
    await app.must(
      'updateOrganization',
      { scope: customer.scope, id: customer.id, supportAccess: false },
      { token: customer.token },
    );
    expect(await ask()).toBe('INVALID_SCOPE');
    expect(await affected()).toEqual([]);
  });

  test('ends by the operator, by the user, and with the session and the rights of the operator', async () => {
    const ends: Record<string, (id: string) => Promise<unknown>> = {
      operator: (id) => app.must('endImpersonation', { scope, id }, { token: ada.token, via }),
      user: (id) => app.must('revokeMyUserSession', { id }, { token: bob.token, via }),
      session: async () => {
        await app.must('logout', { refreshToken: ada.refreshToken }, { token: ada.token });
      },
    };
    for (const [name, end] of Object.entries(ends)) {
      const { accessToken, impersonationId } = await started();
      expect((await me(accessToken)).ok, name).toBe(true);
      const { items } = await app.must(
        'myUserSessions',
        { kind: 'impersonation' },
        { token: bob.token, via },
      );
      expect(items.map(({ id }) => id)).toEqual([impersonationId]);
      await end(impersonationId);
      expect((await me(accessToken)).code, name).toBe('UNAUTHENTICATED');
    }
    const ended = await app.database.pool
      .select()
      .from(auditLog)
      .where(eq(auditLog.event, 'impersonation.ended'));
    expect(ended.map(({ tenantId }) => tenantId).sort()).toEqual([scope.id, scope.id, bob.account.id].sort());
  });

  test('ends after 15 minutes, and with the rights of the operator', async () => {
    const eve = await appoint(app, ada, 'Installation Operator');
    const { data } = await start(bob.userId, eve.token);
    const { accessToken: token } = data as Started;
    expect((await me(token)).ok).toBe(true);
    await app.must('deleteOperator', { scope, userId: eve.userId, reason }, { token: ada.token });
    expect((await me(token)).code).toBe('UNAUTHENTICATED');
    const { accessToken } = await started();
    app.clock.advance(15 * 60_000 + 1000);
    expect((await me(accessToken)).code).toBe('UNAUTHENTICATED');
  });

  test('none without the permission, no operator, no machine, no suspended user, not oneself, one at a time', async () => {
    const support = await appoint(app, ada, 'Installation Support');
    expect(await start(bob.userId, support.token)).toMatchObject({
      code: 'FORBIDDEN',
      reason: 'NO_PERMISSION',
    });
    expect(await start(ada.userId, bob.token)).toMatchObject({ code: 'FORBIDDEN', reason: 'INVALID_SCOPE' });
    expect((await start(ada.userId)).body).toContain('Not possible in the state oneself.');
    expect(await start(support.userId)).toMatchObject({ code: 'INVALID_STATE' });
    const machine = await app.must(
      'createUser',
      {
        scope: organization,
        kind: 'service',
        name: 'Machine',
        roleIds: [
          (await app.must('roles', { scope: organization, search: 'Viewer' }, { token: bob.token })).items[0]
            ?.id ?? '',
        ],
      },
      { token: bob.token },
    );
    expect(await start(machine.id)).toMatchObject({ code: 'INVALID_STATE' });
    const eve = await app.person();
    await app.must('suspendUser', { scope, id: eve.userId, reason }, { token: ada.token });
    expect(await start(eve.userId)).toMatchObject({ code: 'INVALID_STATE' });
    await started();
    expect(await start()).toMatchObject({ code: 'INVALID_STATE' });
    app.clock.advance(16 * 60_000);
    const tokens = { accessToken: ada.token, refreshToken: ada.refreshToken };
    const { data } = await app.raw('refreshSession', tokens, { via });
    expect(await start(bob.userId, (data as { accessToken: string }).accessToken)).toMatchObject({
      code: 'STEP_UP_REQUIRED',
    });
  });

  test('meets no second factor and no recent sign-in, not even where every sign-in counts as recent', async () => {
    const lax = await startOwnApp({ ...operatorEnvironment, SECURITY_STEP_UP_MAX_AGE_MINUTES: '0' }, app);
    try {
      const { data } = await lax.raw(
        'impersonateUser',
        { scope, id: bob.userId, reason },
        { token: ada.token, via },
      );
      const { accessToken: token } = data as Started;
      await lax.must(
        'updateOrganization',
        { scope: organization, id: organization.id, requireMfaForSensitiveActions: true },
        { token: bob.token },
      );
      expect(await lax.call('createTag', { scope: organization, name: 'Red' }, { token, via })).toMatchObject(
        {
          code: 'MFA_REQUIRED',
        },
      );
      const declared = operations.filter((op) => op.stepUp && !op.refusesImpersonation);
      for (const op of declared)
        expect(await lax.raw(op.name, sampleInput(op, organization), { token, via })).toMatchObject({
          ok: false,
        });
    } finally {
      await lax.close();
    }
  });
});

/** Operations that no operator may call for a user, even if a declaration allows it (docs/operating/operators.md). */
const isForbidden = ({ path, method, kind, name }: (typeof operations)[number]): boolean =>
  path.startsWith('/api/installation') ||
  (path.startsWith('/api/me') && (kind === 'mutation' || name === 'exportMe')) ||
  (path.startsWith('/api/auth/') && kind === 'mutation') ||
  /secret/i.test(name) ||
  /^(create|rotate)(ApiKey|ProjectApp|SigningKey|WebhookSubscription)$/.test(name) ||
  (kind === 'mutation' && /^\/api\/(organization-(members|invitations)|users)/.test(path)) ||
  (method === 'DELETE' && /^\/api\/(organizations|projects|users)\//.test(path));

describe.each(storyTransports(import.meta))('what no operator may do for a user, over %s', (via) => {
  let app: TestApp;
  let token: string;
  beforeAll(async () => {
    app = await startOwnApp(operatorEnvironment);
    const [ada, bob] = [await firstOperator(app), await app.person({ type: 'organization' })];
    const started = await app.must(
      'impersonateUser',
      { scope, id: bob.userId, reason },
      { token: ada.token },
    );
    token = started.accessToken;
  });
  afterAll(() => app.close());

  const callable = operations.filter(
    ({ only, protocol }) => protocol !== 'forward-auth' && (via === 'rest' || only !== 'rest'),
  );

  test.each(callable.filter((op) => op.refusesImpersonation).map((op) => [op.name, op] as const))(
    '%s',
    async (_, op) => {
      const answer = await app.raw(op.name, sampleInput(op), { token, via });
      if (op.restAnswers?.refusal) expect(JSON.parse(answer.body)).toMatchObject({ error: 'access_denied' });
      else expect(answer.code, answer.body).toBe('IMPERSONATION_NOT_ALLOWED');
      if (via === 'rest') expect(answer.status).toBe(403);
    },
  );

  test('includes all of the table, and every mutation has decided', () => {
    expect(
      operations.filter((op) => isForbidden(op) && !op.refusesImpersonation).map(({ name }) => name),
    ).toEqual([]);
    const undecided = operations.filter(
      (op) => op.kind === 'mutation' && op.whileImpersonating === undefined,
    );
    expect(undecided.map(({ name }) => name)).toEqual([]);
    expect(operations.some((op) => op.kind === 'mutation' && !op.refusesImpersonation)).toBe(true);
  });
});
