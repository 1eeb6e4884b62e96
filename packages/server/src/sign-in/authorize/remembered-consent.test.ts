import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { keyToken, member } from '../../../test/contract/world.ts';
import {
  appInProject,
  projectViewer,
  redirectParameters,
  roleWith,
  signInBrowser,
  type AppInProject,
} from '../../../test/support/sign-in/project-app.ts';
import { roleIdOf } from '../../schema/rights/built-in-ids.ts';
import { auditLog } from '../../schema/events/audit-log-entry.ts';

/** Consent is asked once and for what is new, can be taken back, and is a ceiling of what the app may do (openid §6, §7). */
let app: TestApp;
let boards: AppInProject;
let user: Person;

beforeAll(async () => {
  app = await startApp({ SECURITY_STEP_UP_MAX_AGE_MINUTES: '5' });
  boards = await appInProject(app, { scopes: ['board:read', 'board:edit'] });
  const role = await roleWith(app, boards, ['read']);
  await change({ allowSignUp: true, signUpRoleId: role });
  user = await app.person();
});
afterAll(() => app.close());

const change = (fields: object, to = boards, token = to.owner.token) =>
  app.raw('updateProjectApp', { scope: to.scope, id: to.id, ...fields }, { token });

/** Signs in by mail: `asks` if the consent page appeared, which is then approved. */
async function signIn(who: Person, changes: Record<string, string> = {}, to = boards) {
  const browser = signInBrowser(app, to);
  await browser.authorize(changes);
  const next = await browser.open(await browser.mail(who.email));
  const asks = String(next.headers.location).endsWith('/consent');
  const end = redirectParameters(asks ? await browser.answer('approve') : next);
  return { asks, code: end['code'] ?? '', verifier: browser.verifier };
}

const exchange = ({ code, verifier }: { code: string; verifier: string }, to = boards) =>
  app.call('projectToken', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: to.redirectUri,
    client_id: to.clientId,
    code_verifier: verifier,
  });

const may = async (token: string, action: string) =>
  (await app.must('isAuthorized', { permission: { resource: 'board', action } } as never, { token }))
    .authorized;

const grantsOf = async (who: Person) =>
  (await app.must('myAppGrants', {}, { token: who.token })).items.filter(
    ({ projectAppId }) => projectAppId === boards.id,
  );

describe('consent', () => {
  it('is asked once, and again only for what was not asked before', async () => {
    const person = await app.person();
    const asked = async (scope: string, more = {}) => (await signIn(person, { scope, ...more })).asks;
    expect(await asked('openid board:read')).toBe(true);
    expect(await asked('openid board:read')).toBe(false);
    expect(await asked('openid')).toBe(false);
    expect(await asked('openid email board:read')).toBe(true);
    expect(await asked('openid board:read board:edit')).toBe(true);
    expect(await asked('openid email board:edit')).toBe(false);
    expect(await asked('openid board:read', { prompt: 'consent' })).toBe(true);
    // Without scopes of OpenID the app learns all, so this is more than before.
    expect(await asked('board:read')).toBe(true);
    expect(await asked('openid profile email offline_access')).toBe(false);
  });

  it('to an app that was not restricted does not include what it names later', async () => {
    const person = await app.person();
    const open = await appInProject(app, { scopes: null, allowSignUp: true, signUpRoleId: projectViewer });
    expect((await signIn(person, {}, open)).asks).toBe(true);
    expect((await signIn(person, {}, open)).asks).toBe(false);
    await change({ scopes: ['board:read'] }, open);
    expect((await signIn(person, {}, open)).asks).toBe(true);
  });

  it('to one app is none to another, and is asked again of who has to join again', async () => {
    const person = await app.person();
    const other = await appInProject(app, {
      scopes: ['board:read'],
      allowSignUp: true,
      signUpRoleId: projectViewer,
    });
    await signIn(person);
    expect((await signIn(person, {}, other)).asks).toBe(true);
    await app.must('deleteUser', { scope: boards.scope, id: person.userId }, { token: boards.owner.token });
    expect((await signIn(person)).asks).toBe(true);
  });

  it('that was remembered is recorded with the sign-in', async () => {
    const person = await app.person();
    await signIn(person, { scope: 'board:read' });
    await signIn(person, { scope: 'board:read' });
    const entries = (await app.database.pool.select().from(auditLog).orderBy(auditLog.sequence)).filter(
      ({ actor, target }) =>
        (actor as { userId?: string }).userId === person.userId &&
        (target as { id?: string } | null)?.id === boards.id,
    );
    expect(entries.map(({ operation, metadata }) => [operation, metadata])).toEqual([
      ['approveProjectConsent', { scopes: ['board:read'], consent: 'given' }],
      ['consumeProjectEmail', { scopes: ['board:read'], consent: 'remembered' }],
    ]);
  });
});

it(
  'a role that the user gets later works at once, as far as they consented',
  { tags: 'independent' },
  async () => {
    const person = await app.person();
    const { data } = await exchange(await signIn(person, { scope: 'board:edit board:read' }));
    const narrow = await exchange(await signIn(person, { scope: 'board:read' }));
    const tokens = [data.accessToken, narrow.data.accessToken];
    expect(data.scope).toBe('board:read board:edit');
    const rights = async () =>
      Promise.all(tokens.flatMap((token) => [may(token, 'read'), may(token, 'edit')]));
    expect(await rights()).toEqual([true, false, true, false]);
    const roleIds = [await roleWith(app, boards, ['read', 'edit', 'share'])];
    await app.must(
      'updateUser',
      { scope: boards.scope, id: person.userId, roleIds },
      { token: boards.owner.token },
    );
    expect(await rights()).toEqual([true, true, true, false]);
    expect(await may(data.accessToken, 'share')).toBe(false);
  },
);

describe.each(storyTransports(import.meta))('the grants of a user, over %s', (via) => {
  it('are listed with the app, and taking one back ends tokens and codes of the app', async () => {
    const person = await app.person();
    const first = await signIn(person, { scope: 'openid email offline_access board:read' });
    const { data: tokens } = await exchange(first);
    const unused = await signIn(person, { scope: 'board:read openid' });
    const [grant] = (await app.must('myAppGrants', {}, { token: person.token, via })).items;
    expect(grant).toMatchObject({
      projectAppId: boards.id,
      appName: 'Acme Boards',
      projectName: 'Boards',
      organizationName: null,
      unrestricted: false,
      scopes: ['board:read'],
      openidScopes: ['openid', 'email', 'offline_access'],
    });
    const id = grant?.id ?? '';
    const stranger = await app.raw('revokeMyAppGrant', { id }, { token: user.token, via });
    expect(stranger.code).toBe('NOT_FOUND');
    expect((await app.must('revokeMyAppGrant', { id }, { token: person.token, via })).id).toBe(id);
    expect((await app.raw('projectUserInfo', {}, { token: tokens.accessToken })).status).toBe(401);
    const renewal = {
      grant_type: 'refresh_token',
      refresh_token: tokens.refreshToken,
      client_id: boards.clientId,
    };
    expect((await app.raw('projectToken', renewal)).code).toBe('INVALID_TOKEN');
    expect((await exchange(unused)).code).toBe('INVALID_TOKEN');
    expect(await grantsOf(person)).toEqual([]);
    expect((await app.raw('revokeMyAppGrant', { id }, { token: person.token, via })).code).toBe('NOT_FOUND');
    expect((await signIn(person, { scope: 'openid board:read' })).asks).toBe(true);
  });
});

it('grants to a deleted app are not listed', async () => {
  const gone = await appInProject(app, { allowSignUp: true, signUpRoleId: projectViewer });
  const person = await app.person();
  await signIn(person, {}, gone);
  const count = async () => (await app.must('myAppGrants', {}, { token: person.token })).totalCount;
  expect(await count()).toBe(1);
  await app.must('deleteProjectApp', { scope: gone.scope, id: gone.id }, { token: gone.owner.token });
  expect(await count()).toBe(0);
});

describe('an app of the owner of the project', () => {
  it('skips the consent page, also for a new user, but not with prompt=consent', async () => {
    const own = await appInProject(app, {
      firstParty: true,
      scopes: ['board:read'],
      allowSignUp: true,
      signUpRoleId: projectViewer,
    });
    const person = await app.person();
    const first = await signIn(person, { scope: 'openid board:read' }, own);
    expect(first.asks).toBe(false);
    expect((await exchange(first, own)).data.scope).toBe('openid board:read');
    expect((await signIn(person, { prompt: 'consent' }, own)).asks).toBe(true);
    expect(
      redirectParameters(await signInBrowser(app, own).authorize({ scope: 'board:edit' }))['error'],
    ).toBe('invalid_scope');
  });

  it('is made so only by who speaks for the owner, in person and shortly after their sign-in', async () => {
    const owner = await app.person({ type: 'organization' });
    const as = { token: owner.token };
    const { id } = await app.must('createOrganization', { scope: owner.account, name: 'O' }, as);
    const { scope } = await app.must(
      'createProject',
      { scope: { tenant: 'organization', id }, name: 'P' },
      as,
    );
    const input = { scope, name: 'A', redirectUris: ['https://a.example/cb'] };
    const developer = await member(app, id, 'Organization Developer');
    const admin = await member(app, id, 'Organization Admin');
    const made = await app.must('createProjectApp', input, { token: developer.token });
    const patch = { scope, id: made.id, firstParty: true };
    for (const [name, sent] of [
      ['createProjectApp', { ...input, firstParty: true }],
      ['updateProjectApp', patch],
    ] as const) {
      expect((await app.raw(name, sent, { token: developer.token })).code).toBe('FORBIDDEN');
    }
    const organization = { tenant: 'organization', id } as const;
    const machine = { scope: organization, kind: 'service' as const, name: 'Machine' };
    const { id: serviceId } = await app.must(
      'createUser',
      { ...machine, roleIds: [roleIdOf('Organization Admin')] },
      as,
    );
    const token = await keyToken(app, owner.token, organization, undefined, serviceId);
    expect((await app.raw('updateProjectApp', patch, { token })).code).toBe('SESSION_REQUIRED');
    expect((await app.raw('updateProjectApp', patch, { token: admin.token })).ok).toBe(true);
    // What holds may be repeated, and the end of it needs no more than the right to change the app.
    for (const firstParty of [true, false])
      expect(
        (await app.raw('updateProjectApp', { ...patch, firstParty }, { token: developer.token })).ok,
      ).toBe(true);
    app.clock.advance(6 * 60_000);
    expect((await app.raw('updateProjectApp', patch, as)).code).toBe('STEP_UP_REQUIRED');
  });
});
