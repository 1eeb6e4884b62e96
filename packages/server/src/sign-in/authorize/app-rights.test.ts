import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeJwt } from 'jose';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { challengeOf, consented, newVerifier } from '../../../test/support/sign-in/project-code.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

/**
 * Rights of an app token: those that the user has in the project, that they consented to, and that the app may still
 * request. Elsewhere it has none.
 */
const REDIRECT = 'https://app.example/callback';

let app: TestApp;
let owner: Person;
let as: { token: string };
let user: Person;
let scope: ScopeRef;
let other: ScopeRef;

beforeAll(async () => {
  app = await startApp();
  owner = await app.person();
  as = { token: owner.token };
  ({ scope } = await app.must('createProject', { scope: owner.account, name: 'P' }, as));
  ({ scope: other } = await app.must('createProject', { scope: owner.account, name: 'Other' }, as));
  user = await app.person();
  for (const item of [scope, other]) {
    await app.must('createResource', { scope: item, name: 'Doc', slug: 'doc', createPermissions: true }, as);
    await join(item, user.userId, [await roleOfDocs(item), roleIdOf('Project Admin')]);
  }
});
afterAll(() => app.close());

/** A role that allows everything with `doc`. */
async function roleOfDocs(at: ScopeRef): Promise<string> {
  const { items } = await app.must('permissions', { scope: at, search: 'doc:' }, as);
  const permissionIds = items.map(({ id }) => id);
  const group = await app.must('createGroup', { scope: at, name: 'Docs', permissionIds }, as);
  return (await app.must('createRole', { scope: at, name: 'Docs', groupIds: [group.id] }, as)).id;
}

async function join(at: ScopeRef, userId: string, roleIds: string[]): Promise<void> {
  const projectId = at.id.split(':')[1] ?? '';
  await app.owner.execute(
    `insert into project_users (tenant_id, user_id) values ('${projectId}', '${userId}')`,
  );
  await app.must('updateUser', { scope: at, id: userId, roleIds }, as);
}

/** Creates an app, and a token with these scopes for a user who may do everything in the project. */
async function signedIn(scopes: string[] | null, of: string[] | null = scopes, userId = user.userId) {
  const name = `App ${unique()}`;
  const client = await app.must(
    'createProjectApp',
    { scope, name, redirectUris: [REDIRECT], scopes: of },
    as,
  );
  const code_verifier = newVerifier();
  const code = await consented(app, {
    appId: client.id,
    userId,
    redirectUri: REDIRECT,
    challenge: challengeOf(code_verifier),
    scopes,
  });
  const { accessToken } = await app.must('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT,
    code_verifier,
    client_id: client.clientId,
  });
  return { id: client.id, token: accessToken };
}

const answerTo = async (token: string, permission: string, at?: ScopeRef) => {
  const [resource = '', action = ''] = permission.split(':');
  const input = { permission: { resource, action }, ...(at ? { scope: at } : {}) };
  const { authorized, reason } = await app.must('isAuthorized', input as never, { token });
  return [authorized, reason];
};

describe('a token with scopes', () => {
  it('is of type projectApp and contains the scopes of the consent', async () => {
    const { token } = await signedIn(['doc:read', 'Role:Query'], null);
    expect(decodeJwt(token)).toMatchObject({ type: 'projectApp', scope, scopes: ['doc:read', 'Role:Query'] });
    const { permissions } = await app.must('myPermissions', {} as never, { token });
    expect(permissions.map(({ resource, action }) => `${resource}:${action}`).sort()).toEqual(
      ['Role:Query', 'doc:read'].sort(),
    );
  });

  it.each(storyTransports(import.meta))('allows these scopes and nothing else, over %s', async (via) => {
    const { token } = await signedIn(['doc:read', 'Role:Query', 'Role:Create']);
    expect(await answerTo(token, 'doc:read')).toEqual([true, 'ALLOWED']);
    expect(await answerTo(token, 'doc:update')).toEqual([false, 'SCOPE_NOT_CONSENTED']);
    expect(await answerTo(token, 'doc:read', scope)).toEqual([true, 'ALLOWED']);
    expect((await app.call('roles', { scope }, { token, via })).ok).toBe(true);
    expect((await app.call('createRole', { scope, name: 'R' }, { token, via })).ok).toBe(true);
    const refused = await app.call('tags', { scope }, { token, via });
    expect([refused.code, refused.reason]).toEqual(['FORBIDDEN', 'SCOPE_NOT_CONSENTED']);
  });

  it('does not allow what the user may not do, whatever they consented to', async () => {
    const person = await app.person();
    await join(scope, person.userId, [roleIdOf('Project Viewer')]);
    const { token } = await signedIn(['doc:read', 'Role:Create'], null, person.userId);
    expect(await answerTo(token, 'doc:read')).toEqual([false, 'NO_PERMISSION']);
    expect((await app.call('createRole', { scope, name: 'R' }, { token })).reason).toBe('NO_PERMISSION');
  });
});

it.each(storyTransports(import.meta))('an empty list allows nothing, over %s', async (via) => {
  const { token } = await signedIn([]);
  expect(await answerTo(token, 'doc:read')).toEqual([false, 'SCOPE_NOT_CONSENTED']);
  for (const operation of ['roles', 'tags', 'users', 'projectApps'] as const) {
    const refused = await app.call(operation, { scope }, { token, via });
    expect([refused.code, refused.reason], operation).toEqual(['FORBIDDEN', 'SCOPE_NOT_CONSENTED']);
  }
  expect((await app.must('myPermissions', {} as never, { token, via })).permissions).toEqual([]);
});

it.each(storyTransports(import.meta))(
  'an unrestricted token allows what its user may do in the project plane, over %s',
  async (via) => {
    const { token } = await signedIn(null);
    expect(decodeJwt(token)).not.toHaveProperty('scopes');
    expect(await answerTo(token, 'doc:read')).toEqual([true, 'ALLOWED']);
    // The management plane is granted only by scopes that name it.
    expect((await answerTo(token, 'Role:Create'))[0]).toBe(false);
    expect((await app.call('roles', { scope }, { token, via })).code).toBe('FORBIDDEN');
  },
);

describe('no token of an app', () => {
  const all = ['doc:read', 'Role:Query', 'ApiKey:Create', 'ApiKey:Rotate', 'SigningKey:Rotate', 'Tag:Query'];

  it.each(storyTransports(import.meta))('reaches another project, over %s', async (via) => {
    const { token } = await signedIn(all);
    for (const at of [other, owner.account]) {
      expect((await app.call('tags', { scope: at }, { token, via })).code).toBe('FORBIDDEN');
    }
    expect(await answerTo(token, 'doc:read', other)).toEqual([false, 'INVALID_SCOPE']);
  });

  it.each(storyTransports(import.meta))('calls operations for people, over %s', async (via) => {
    const { token } = await signedIn(all);
    const options = { token, via };
    const key = await app.must('createApiKey', { scope }, as);
    const answers = [
      await app.call('me', {}, options),
      await app.call('updateMe', { name: 'X' }, options),
      await app.call('deleteMe', {}, options),
      await app.call('myUserSessions', {}, options),
      await app.call('myMfa', {}, options),
      await app.call('rotateSigningKey', { scope }, options),
      await app.call('createApiKey', { scope }, options),
      await app.call('rotateApiKey', { scope, id: key.id }, options),
    ];
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 'SESSION_REQUIRED'));
  });

  it('ends sessions of its user except its own', async () => {
    const { token } = await signedIn(all);
    const refused = await app.call('revokeMyUserSession', { id: decodeJwt(user.token).jti ?? '' }, { token });
    expect(refused.code).toBe('SESSION_REQUIRED');
    await app.call('logout', { allSessions: true }, { token });
    expect((await app.call('me', {}, { token: user.token })).ok).toBe(true);
  });
});

describe('the app', () => {
  it('restricts existing tokens at once when its scopes are reduced', async () => {
    const { id, token } = await signedIn(['doc:read', 'doc:update', 'Tag:Query']);
    expect((await app.call('tags', { scope }, { token })).ok).toBe(true);
    await app.must('updateProjectApp', { scope, id, scopes: ['doc:read'] }, as);
    expect(await answerTo(token, 'doc:read')).toEqual([true, 'ALLOWED']);
    expect(await answerTo(token, 'doc:update')).toEqual([false, 'SCOPE_NOT_CONSENTED']);
    expect((await app.call('tags', { scope }, { token })).reason).toBe('SCOPE_NOT_CONSENTED');
    await app.must('updateProjectApp', { scope, id, scopes: [] }, as);
    expect(await answerTo(token, 'doc:read')).toEqual([false, 'SCOPE_NOT_CONSENTED']);
  });

  it('restricts existing unrestricted tokens when it gets scopes', async () => {
    const { id, token } = await signedIn(null);
    expect(await answerTo(token, 'doc:update')).toEqual([true, 'ALLOWED']);
    await app.must('updateProjectApp', { scope, id, scopes: ['doc:read'] }, as);
    expect(await answerTo(token, 'doc:read')).toEqual([true, 'ALLOWED']);
    expect(await answerTo(token, 'doc:update')).toEqual([false, 'SCOPE_NOT_CONSENTED']);
  });

  it('gives existing tokens no more than the consent when its scopes grow', async () => {
    const { id, token } = await signedIn(['doc:read']);
    for (const scopes of [['doc:read', 'doc:update'], null]) {
      await app.must('updateProjectApp', { scope, id, scopes }, as);
      expect(await answerTo(token, 'doc:update')).toEqual([false, 'SCOPE_NOT_CONSENTED']);
      expect(await answerTo(token, 'doc:read')).toEqual([true, 'ALLOWED']);
    }
  });

  it('is deleted: its tokens are refused at once, as with a deleted project', async () => {
    const { id, token } = await signedIn(['doc:read']);
    expect(await answerTo(token, 'doc:read')).toEqual([true, 'ALLOWED']);
    await app.must('deleteProjectApp', { scope, id }, as);
    expect((await app.call('myPermissions', {} as never, { token })).code).toBe('UNAUTHENTICATED');
  });
});
