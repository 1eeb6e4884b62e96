import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyToken } from '../../../test/contract/world.ts';
import { appToken } from '../../../test/support/sign-in/app-token.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { customerOf, grantTo, vendorOf } from '../../../test/support/tenants/grants.ts';
import { appInProject, projectViewer, type AppInProject } from '../../../test/support/sign-in/project-app.ts';
import { permissionIdOf, roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/** Introspection by an API key that holds `Token:Introspect` (openid §5), by its secret or with its token. */
let app: TestApp;
let owner: Person;
let as: { token: string };
let mine: AppInProject;
let foreign: AppInProject;
/** May introspect, and nothing else. */
let key: Key;
/** An access token of the app in the project. */
let token: string;

interface Key {
  readonly id: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  as = { token: owner.token };
  mine = await appInProject(app, {}, owner);
  foreign = await appInProject(app, { confidential: true }, owner);
  key = await keyWith(await introspectingRole(mine.scope));
  token = await appToken(app, { app: mine, userId: owner.userId });
});
afterAll(() => app.close());

async function introspectingRole(scope: ScopeRef): Promise<string> {
  const permissionIds = [permissionIdOf('Token:Introspect')];
  const group = await app.must('createGroup', { scope, name: 'Introspect', permissionIds }, as);
  return (await app.must('createRole', { scope, name: 'Introspect', groupIds: [group.id] }, as)).id;
}
const keyWith = async (roleId: string, scope = mine.scope, more = {}) =>
  (await app.must('createApiKey', { scope, roleId, ...more }, as)) as Key;

/** Sends the form, with client credentials or with a token as Bearer, and returns the response. */
async function ask(about: string, by: Key | { bearer: string } | Record<string, string>) {
  const isBearer = 'bearer' in by;
  const credentials = isBearer
    ? {}
    : 'clientSecret' in by
      ? { client_id: (by as Key).clientId, client_secret: (by as Key).clientSecret }
      : by;
  const { statusCode, body } = await app.server.inject({
    method: 'POST',
    url: '/api/auth/project/introspect',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBearer ? { authorization: `Bearer ${by.bearer}` } : {}),
    },
    body: new URLSearchParams({ token: about, ...credentials }).toString(),
  });
  return { status: statusCode, answer: JSON.parse(body) as Record<string, unknown> };
}
const inactive = { status: 200, answer: { active: false } };

describe.each(['its secret', 'its token'])('a key with %s', (way) => {
  const by = async (of: Key = key, scope = mine.scope) =>
    way === 'its secret'
      ? of
      : {
          bearer: (
            await app.must('exchangeApiKey', { clientId: of.clientId, clientSecret: of.clientSecret, scope })
          ).accessToken,
        };

  it('learns about access tokens of the apps and keys of its project', async () => {
    const caller = await by();
    expect((await ask(token, caller)).answer).toMatchObject({
      active: true,
      client_id: mine.clientId,
      sub: owner.userId,
      iss: mine.issuer,
    });
    const own = await keyToken(app, owner.token, mine.scope);
    expect((await ask(own, caller)).answer).toMatchObject({ active: true, iss: mine.issuer });
  });

  it('learns nothing of foreign, ended, unknown and malformed tokens, all answered alike', async () => {
    const caller = await by();
    const other = await appToken(app, { app: mine, userId: owner.userId });
    const { answer } = await ask(other, caller);
    await app.must('revokeMyUserSession', { id: String(answer['jti']) }, as);
    const elsewhere = await keyToken(app, owner.token, foreign.scope);
    const tokens = [other, elsewhere, owner.token, `${token.slice(0, -4)}AAAA`, 'dwr_x', '\0', 'a.b.c'];
    for (const about of tokens) expect(await ask(about, caller)).toEqual(inactive);
  });

  it('is refused without the permission in its project', async () => {
    for (const roleId of [projectViewer, roleIdOf('Organization Developer')]) {
      const created = await app.raw('createApiKey', { scope: mine.scope, roleId }, as);
      if (!created.ok) continue;
      const { status, answer } = await ask(token, await by(created.data as Key));
      expect([status, answer['error']]).toEqual([403, 'insufficient_scope']);
    }
    const elsewhere = await keyWith(await introspectingRole(foreign.scope), foreign.scope);
    expect(await ask(token, await by(elsewhere, foreign.scope))).toEqual(inactive);
  });

  it('is refused as soon as its role lost the permission', async () => {
    const roleId = await introspectingRole(mine.scope);
    const caller = await by(await keyWith(roleId));
    expect((await ask(token, caller)).answer['active']).toBe(true);
    await app.must('updateRole', { scope: mine.scope, id: roleId, groupIds: [] }, as);
    expect((await ask(token, caller)).status).toBe(403);
  });
});

it('a key of its organization or account may not ask: it has no project', async () => {
  const roleIds = [roleIdOf('Account Owner')];
  const machine = { scope: owner.account, kind: 'service' as const, name: 'Machine', roleIds };
  const { id } = await app.must('createUser', machine, as);
  const bearer = await keyToken(app, owner.token, owner.account, undefined, id);
  expect((await ask(token, { bearer })).status).toBe(403);
});

it('a key of a customer may not ask: the project has the tokens of others too', async () => {
  const vendor = await vendorOf(app, owner);
  const roleId = await introspectingRole(vendor.scope);
  const customer = await customerOf(app);
  const { scope } = await grantTo(app, vendor, customer, { roleIds: [roleId] });
  const bearer = await keyToken(app, customer.token, scope, roleId);
  expect((await ask(bearer, { bearer })).status).toBe(403);
});

describe('who is nobody', () => {
  it('is refused like an app with a wrong secret', async () => {
    const revoked = await keyWith(projectViewer);
    await app.must('revokeApiKey', { scope: mine.scope, id: revoked.id }, as);
    const away = await keyWith(projectViewer, mine.scope, { allowedCidrs: ['203.0.113.0/24'] });
    const callers = [
      { ...key, clientSecret: `${key.clientSecret}x` },
      { ...key, clientId: crypto.randomUUID() },
      { client_id: key.clientId },
      { client_id: mine.clientId },
      revoked,
      away,
      {},
      { bearer: owner.token },
      { bearer: token },
      { bearer: 'x' },
    ];
    for (const by of callers) {
      const { status, answer } = await ask(token, by);
      expect([status, answer['error']], JSON.stringify(by)).toEqual([401, 'invalid_client']);
    }
  });

  it('leaves an audit entry when they guess a secret', async () => {
    const guessed = await keyWith(projectViewer);
    await ask(token, { ...guessed, clientSecret: 'dwk_guess' });
    const { items } = await app.must('auditLogs', { scope: mine.scope, targetId: guessed.id }, as);
    const failed = items.filter(({ outcome }) => outcome === 'failed');
    expect(failed.map(({ operation, metadata }) => [operation, metadata['fault']])).toEqual([
      ['introspectProjectToken', 'secret'],
    ]);
  });
});

it('JSON gets the envelope, and the code FORBIDDEN', async () => {
  const credentials = { client_id: key.clientId, client_secret: key.clientSecret };
  const { data } = await app.call('introspectProjectToken', { token, ...credentials });
  expect(data.active).toBe(true);
  const viewer = await keyWith(projectViewer);
  const refused = await app.call('introspectProjectToken', {
    token,
    client_id: viewer.clientId,
    client_secret: viewer.clientSecret,
  });
  expect([refused.code, refused.reason]).toEqual(['FORBIDDEN', 'NO_PERMISSION']);
});

it('counts in class check', async () => {
  const strict = await startApp({ SECURITY_RATE_LIMIT_CHECK_MAX: '2' });
  try {
    const { scope, owner: maker } = await appInProject(strict);
    const bearer = await keyToken(strict, maker.token, scope, roleIdOf('Project Admin'));
    const once = () => strict.call('introspectProjectToken', { token: bearer }, { token: bearer });
    expect([(await once()).ok, (await once()).ok, (await once()).code]).toEqual([true, true, 'RATE_LIMITED']);
  } finally {
    await strict.close();
  }
});
