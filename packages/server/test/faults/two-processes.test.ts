import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { roleIdOf, type RoleName } from '../../src/schema/rights/built-in-ids.ts';
import { startOwnApp, type TestApp } from '../support/app/app.ts';
import { unique, type Person } from '../support/app/client.ts';
import { customerOf, grantTo, memberOf, vendorOf, type Vendor } from '../support/tenants/grants.ts';
import { firstOperator, installation, operatorEnvironment } from '../support/tenants/operators.ts';
import { redirectParameters, signInBrowser, type SignInBrowser } from '../support/sign-in/project-app.ts';
import { challengeOf, consented, newVerifier } from '../support/sign-in/project-code.ts';
import type { ScopeRef } from '../../src/kernel/scope.ts';

/**
 * Two apps on one PostgreSQL database share only the database: each learns of the changes of the other through the
 * change channel. `until` repeats a check and records how long it took; the recorded time shows whether a change
 * arrives within a second, and a busy machine fails no test.
 */
const PATIENCE_MS = 10_000;
const waited: number[] = [];

async function until(what: () => Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await what())) {
    if (performance.now() - began > PATIENCE_MS) throw new Error('the other process did not learn of it');
    await new Promise((resolve) => setImmediate(resolve));
  }
  waited.push(performance.now() - began);
}

describe.runIf(inject('postgresUrl'))('two processes on one database', () => {
  let testApp: TestApp;
  let other: TestApp;
  let owner: Person;
  let scope: ScopeRef;

  beforeAll(async () => {
    testApp = await startOwnApp(operatorEnvironment);
    other = await startOwnApp({}, testApp);
    owner = await testApp.person();
    scope = (
      await testApp.must('createProject', { scope: owner.account, name: 'Two' }, { token: owner.token })
    ).scope;
  });
  afterAll(async () => {
    const slowest = Math.max(...waited).toFixed(0);
    process.stdout.write(
      `two processes: ${waited.length} changes seen by the other, slowest after ${slowest} ms\n`,
    );
    await other.close();
    await testApp.close();
  });

  async function keyWith(roleId?: string) {
    const key = await testApp.must(
      'createApiKey',
      { scope, ...(roleId ? { roleId } : {}) },
      { token: owner.token },
    );
    const clientSecret = key.clientSecret as string;
    const exchange = { clientId: key.clientId, clientSecret, scope: key.scope };
    const { accessToken } = await testApp.must('exchangeApiKey', exchange);
    return { id: key.id, exchange, token: accessToken };
  }

  it('refuse a revoked key at the exchange at once, and its token within a second', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, exchange, token } = await keyWith();
      expect((await other.call('tags', { scope }, { token })).status).toBe(200);
      await testApp.must('revokeApiKey', { scope, id }, { token: owner.token });
      expect((await other.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
      await until(async () => (await other.call('tags', { scope }, { token })).status === 401);
      expect((await testApp.call('tags', { scope }, { token })).status).toBe(401);
    }
  });

  it('refuse the keys of a deleted project', async () => {
    for (let round = 0; round < 5; round++) {
      const as = { token: owner.token };
      const project = await testApp.must('createProject', { scope: owner.account, name: 'Ending' }, as);
      const key = await testApp.must('createApiKey', { scope: project.scope }, as);
      const clientSecret = key.clientSecret as string;
      const exchange = { clientId: key.clientId, clientSecret, scope: key.scope };
      const { accessToken: token } = await other.must('exchangeApiKey', exchange);
      const status = async () => (await other.call('tags', { scope: project.scope }, { token })).status;
      expect(await status()).toBe(200);
      await testApp.must('deleteProject', { scope: owner.account, id: project.id }, as);
      expect((await other.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
      await until(async () => (await status()) === 401);
    }
  });

  it('end the key of a service user with its role, its membership and the service user', async () => {
    const head = await testApp.person({ type: 'organization' });
    const as = { token: head.token };
    const customer: ScopeRef = {
      tenant: 'organization',
      id: (await testApp.must('createOrganization', { scope: head.account, name: 'Customer' }, as)).id,
    };
    const makeMachine = async (place: ScopeRef, role: RoleName) => {
      const machine = { kind: 'service' as const, name: 'Robot', roleIds: [roleIdOf(role)] };
      const { id: userId } = await testApp.must('createUser', { scope: place, ...machine }, as);
      const key = await testApp.must('createApiKey', { scope: place, userId }, as);
      const clientSecret = key.clientSecret as string;
      const exchange = { clientId: key.clientId, clientSecret, scope: key.scope };
      const { accessToken: token } = await other.must('exchangeApiKey', exchange);
      const status = async () => (await other.call('projects', { scope: place }, { token })).status;
      const make = async () =>
        (await other.call('createTag', { scope: place, name: unique() }, { token })).status;
      expect(await status()).toBe(200);
      return { userId, id: key.id, exchange, status, make };
    };
    const ended = async ({ exchange, status }: Awaited<ReturnType<typeof makeMachine>>) => {
      expect((await other.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
      await until(async () => (await status()) === 401);
    };
    for (let round = 0; round < 5; round++) {
      const demoted = await makeMachine(customer, 'Organization Admin');
      expect(await demoted.make()).toBe(201);
      const viewer = roleIdOf('Organization Viewer');
      const role = { scope: customer, userId: demoted.userId, roleId: viewer };
      await testApp.must('updateOrganizationMember', role, as);
      await until(async () => (await demoted.make()) === 403);
      await testApp.must('removeOrganizationMember', { scope: customer, userId: demoted.userId }, as);
      await ended(demoted);

      const disabled = await makeMachine(customer, 'Organization Viewer');
      const change = { scope: customer, id: disabled.userId, status: 'disabled' as const };
      await testApp.must('updateUser', change, as);
      // The user is not locked by an exchange, so that many keys of one user do not wait for each other.
      const { exchange } = disabled;
      await until(async () => (await other.call('exchangeApiKey', exchange)).code === 'UNAUTHENTICATED');
      await ended(disabled);

      const onboarding = await makeMachine(head.account, 'Account Onboarding');
      await testApp.must('revokeApiKey', { scope: head.account, id: onboarding.id }, as);
      await ended(onboarding);
      const gone = await makeMachine(head.account, 'Account Onboarding');
      await testApp.must('deleteUser', { scope: head.account, id: gone.userId }, as);
      await ended(gone);
    }
  });

  it('end what a customer has in a granted project', async () => {
    const vendor = await vendorOf(testApp);
    const permission = { resource: 'invoice', action: 'read' };
    for (let round = 0; round < 5; round++) {
      const customer = await customerOf(testApp);
      const { id, scope: slice } = await grantTo(testApp, vendor, customer);
      const user = await memberOf(testApp, customer, 'Organization Viewer');
      const roleIds = [vendor.reader];
      await testApp.must('createUser', { scope: slice, userId: user.userId, roleIds }, customer);
      const key = await testApp.must('createApiKey', { scope: slice, roleId: vendor.reader }, customer);
      const clientSecret = key.clientSecret as string;
      const exchange = { clientId: key.clientId, clientSecret, scope: key.scope };
      const { accessToken: token } = await other.must('exchangeApiKey', exchange);
      const ask = async (by: string) => {
        const answer = await other.call('isAuthorized', { scope: slice, permission }, { token: by });
        return answer.ok ? answer.data.reason : answer.code;
      };
      const both = async () => [await ask(token), await ask(user.token)];
      const become = (...expected: (string | null)[]) =>
        until(async () => (await both()).join() === expected.join());
      await become('ALLOWED', 'ALLOWED');
      await testApp.must('suspendProjectGrant', { scope: vendor.scope, id }, vendor);
      expect((await other.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
      await become('UNAUTHENTICATED', 'INVALID_SCOPE');
      await testApp.must('resumeProjectGrant', { scope: vendor.scope, id }, vendor);
      await become('ALLOWED', 'ALLOWED');
      await testApp.must('updateProjectGrant', { scope: vendor.scope, id, roleIds: [vendor.writer] }, vendor);
      expect((await other.call('exchangeApiKey', exchange)).code).toBe('UNAUTHENTICATED');
      await become('UNAUTHENTICATED', 'NO_PERMISSION');
      const change = { scope: slice, id: user.userId, roleIds: [vendor.writer] };
      await testApp.must('updateUser', change, customer);
      await become('UNAUTHENTICATED', 'ALLOWED');
      if (round % 2 === 0) await testApp.must('revokeProjectGrant', { scope: vendor.scope, id }, vendor);
      else await testApp.must('leaveProjectGrant', { scope: customer.scope, id }, customer);
      await become('UNAUTHENTICATED', 'INVALID_SCOPE');
    }
  });

  it('refuse everything of a suspended organization, and give it back', async () => {
    const operator = await firstOperator(testApp);
    const act = (name: 'suspendOrganization' | 'reactivateOrganization', id: string) =>
      testApp.must(name, { scope: installation, id, reason: 'Rounds of two processes' }, operator);
    for (let round = 0; round < 5; round++) {
      const organization = await customerOf(testApp);
      const { scope: at } = await testApp.must(
        'createProject',
        { scope: organization.scope, name: 'Two' },
        organization,
      );
      const key = await testApp.must('createApiKey', { scope: at }, organization);
      const exchange = { clientId: key.clientId, clientSecret: key.clientSecret as string, scope: key.scope };
      const { accessToken: token } = await other.must('exchangeApiKey', exchange);
      const permission = 'Project:Query';
      const state = async () => {
        const asked = await other.call('isAuthorized', { scope: at, permission }, organization);
        return [
          (await other.call('tags', { scope: at }, { token })).code,
          (await other.call('exchangeApiKey', exchange)).code,
          (await other.call('tags', { scope: at }, organization)).code,
          asked.ok ? asked.data.reason : asked.code,
        ].join();
      };
      const become = (...expected: (string | null)[]) =>
        until(async () => (await state()) === expected.join());
      await become(null, null, null, 'ALLOWED');
      await act('suspendOrganization', organization.id);
      await become('UNAUTHENTICATED', 'UNAUTHENTICATED', 'SUSPENDED', 'SUBJECT_INACTIVE');
      await act('reactivateOrganization', organization.id);
      await become(null, null, null, 'ALLOWED');
    }
  });

  it('see a permission that was granted or removed elsewhere', async () => {
    const as = { token: owner.token };
    const slug = `r-${unique()}`;
    const resource = await testApp.must(
      'createResource',
      { scope, name: 'R', slug, createPermissions: true },
      as,
    );
    const read = (await testApp.must('permissions', { scope, resourceId: resource.id, action: 'read' }, as))
      .items[0];
    const group = await testApp.must('createGroup', { scope, name: 'G' }, as);
    const role = await testApp.must('createRole', { scope, name: 'R', groupIds: [group.id] }, as);
    const { token } = await keyWith(role.id);
    const ask = async (app: TestApp) =>
      (await app.must('isAuthorized', { permission: { resource: slug, action: 'read' } } as never, { token }))
        .authorized;
    for (let round = 0; round < 20; round++) {
      const given = round % 2 === 0;
      await testApp.must(
        'updateGroup',
        { scope, id: group.id, permissionIds: given ? [read?.id as string] : [] },
        as,
      );
      expect(await ask(testApp)).toBe(given);
      await until(async () => (await ask(other)) === given);
    }
  });

  it('limit tokens of an app to its present scopes, and refuse those of a deleted app', async () => {
    const as = { token: owner.token };
    const redirectUri = 'https://app.example/callback';
    const scopes = ['Tag:Query', 'Role:Query'];
    const fields = { scope, name: 'App', redirectUris: [redirectUri], scopes };
    const app = await testApp.must('createProjectApp', fields, as);
    const code_verifier = newVerifier();
    const challenge = challengeOf(code_verifier);
    const { userId } = owner;
    const code = await consented(testApp, { appId: app.id, userId, redirectUri, challenge, scopes });
    const { accessToken: token } = await testApp.must('projectToken', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier,
      client_id: app.clientId,
    });
    const status = async () => (await other.call('tags', { scope }, { token })).status;
    expect(await status()).toBe(200);
    for (let round = 0; round < 20; round++) {
      const isNarrow = round % 2 === 0;
      const left = isNarrow ? ['Role:Query'] : scopes;
      await testApp.must('updateProjectApp', { scope, id: app.id, scopes: left }, as);
      await until(async () => (await status()) === (isNarrow ? 403 : 200));
      expect((await other.call('roles', { scope }, { token })).status).toBe(200);
    }
    await testApp.must('deleteProjectApp', { scope, id: app.id }, as);
    await until(async () => (await status()) === 401);
  });

  /** An app without consent, and a browser in which a person signs in to it. */
  async function appOf(vendor: Vendor, name: string) {
    const redirectUri = `https://${name}.example/callback`;
    const fields = { scope: vendor.scope, name, redirectUris: [redirectUri], firstParty: true };
    const { id, clientId } = await testApp.must('createProjectApp', fields, vendor);
    const to = { id, clientId, redirectUri };
    const tokensFor = async (tab: SignInBrowser, answer: LightMyRequestResponse) => {
      const code = redirectParameters(answer)['code'] ?? '';
      const { accessToken } = await testApp.must('projectToken', {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        client_id: clientId,
        code_verifier: tab.verifier,
      });
      return accessToken;
    };
    return { to, tokensFor };
  }
  const isRefused = async (token: string) =>
    (await other.call('projectUserInfo', {}, { token })).status === 401;

  /** A member of a customer of the vendor, and the token of an app for that customer. */
  async function signedInMember(vendor: Vendor) {
    const customer = await customerOf(testApp);
    const grant = await grantTo(testApp, vendor, customer, { defaultRoleId: vendor.reader });
    const person = await memberOf(testApp, customer, 'Organization Viewer');
    const [boards, charts] = [await appOf(vendor, 'boards'), await appOf(vendor, 'charts')];
    const browser = signInBrowser(testApp, boards.to);
    await browser.authorize();
    const token = await boards.tokensFor(browser, await browser.finish(person.email));
    const tab = signInBrowser(testApp, charts.to, browser);
    const second = await charts.tokensFor(tab, await tab.authorize());
    expect(await isRefused(token)).toBe(false);
    expect(await isRefused(second)).toBe(false);
    return { customer, grant, person, tokens: [token, second], boards: boards.to };
  }

  it('refuse the tokens of all apps of an ended sign-in', async () => {
    const vendor = await vendorOf(testApp);
    const { person, tokens } = await signedInMember(vendor);
    const { items } = await testApp.must('myUserSessions', {}, person);
    const signIn = items.find(({ ssoProjectId }) => ssoProjectId !== null);
    await testApp.must('revokeMyUserSession', { id: signIn?.id ?? '' }, person);
    for (const token of tokens) await until(() => isRefused(token));
  });

  it('refuse the tokens of an app whose consent was taken back', async () => {
    const vendor = await vendorOf(testApp);
    const person = await testApp.person();
    const redirectUri = 'https://asking.example/callback';
    const signUp = { allowSignUp: true, signUpRoleId: vendor.reader };
    const fields = { scope: vendor.scope, name: 'Asking', redirectUris: [redirectUri], ...signUp };
    const { clientId } = await testApp.must('createProjectApp', fields, vendor);
    const browser = signInBrowser(testApp, { clientId, redirectUri });
    await browser.authorize();
    const { code = '' } = redirectParameters(await browser.finish(person.email));
    const { accessToken } = await testApp.must('projectToken', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      code_verifier: browser.verifier,
    });
    expect(await isRefused(accessToken)).toBe(false);
    const { items } = await testApp.must('myAppGrants', {}, person);
    await testApp.must('revokeMyAppGrant', { id: items[0]?.id ?? '' }, person);
    await until(() => isRefused(accessToken));
  });

  type Member = Awaited<ReturnType<typeof signedInMember>>;
  const ends: Record<string, (member: Member, vendor: Vendor) => Promise<unknown>> = {
    membership: ({ customer, person: { userId } }) =>
      testApp.must('removeOrganizationMember', { scope: customer.scope, userId }, customer),
    'last role': ({ customer, grant, person }) =>
      testApp.must('deleteUser', { scope: grant.scope, id: person.userId }, customer),
    'suspended grant': ({ grant }, vendor) =>
      testApp.must('suspendProjectGrant', { scope: vendor.scope, id: grant.id }, vendor),
    'revoked grant': ({ grant }, vendor) =>
      testApp.must('revokeProjectGrant', { scope: vendor.scope, id: grant.id }, vendor),
    'grant given up': ({ customer, grant }) =>
      testApp.must('leaveProjectGrant', { scope: customer.scope, id: grant.id }, customer),
    organization: ({ customer: { scope: place, id, token } }) =>
      testApp.must('deleteOrganization', { scope: place, id }, { token }),
  };
  it.each(Object.keys(ends))('refuse the tokens of an app for an organization: %s', async (what) => {
    const vendor = await vendorOf(testApp);
    const member = await signedInMember(vendor);
    await ends[what]?.(member, vendor);
    for (const token of member.tokens) await until(() => isRefused(token));
  });

  it('end a session everywhere', async () => {
    const person = await testApp.person();
    expect((await other.call('me', {}, { token: person.token })).status).toBe(200);
    await testApp.must('logout', {}, { token: person.token });
    await until(async () => (await other.call('me', {}, { token: person.token })).status === 401);
  });
});
