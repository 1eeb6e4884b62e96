import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import type { Person, Via } from '../../../test/support/app/client.ts';
import {
  appInProject,
  projectViewer,
  roleWith,
  signInBrowser,
  redirectParameters,
} from '../../../test/support/sign-in/project-app.ts';
import type { ScopeRef } from '../../kernel/scope.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    AUTH_VERIFICATION_GRACE_DAYS: '1',
    AUTH_VERIFICATION_TOKEN_HOURS: '168',
  });
});
afterAll(() => app.close());

/** A key of this scope with a check that uses it. */
async function keyOf(owner: Person, scope: ScopeRef, via: Via) {
  const key = await app.must('createApiKey', { scope }, { token: owner.token });
  const credentials = {
    clientId: key.clientId,
    clientSecret: key.clientSecret as string,
    scope: key.scope,
  };
  return {
    exchange: () => app.call('exchangeApiKey', credentials, { via }),
    works: async (token: string) => (await app.raw('myPermissions', {}, { token, via })).ok,
  };
}

describe.each(storyTransports(import.meta))('after the deadline to verify an address, over %s,', (via) => {
  test('keys and apps of the account are rejected until the address is verified', async () => {
    const owner = await app.person({ verified: false });
    const link = await app.mailedToken(owner.email);
    const visitor = await app.person();
    const to = await appInProject(app, { allowSignUp: true, signUpRoleId: projectViewer }, owner);
    const key = await keyOf(owner, to.scope, via);
    const first = await key.exchange();
    expect(first.ok).toBe(true);

    // Shortly before the deadline, so that the tokens are still valid after it.
    app.clock.advance(DAY - 5 * MINUTE);
    const { accessToken } = (await key.exchange()).data;
    const codes: string[] = [];
    const browsers = [signInBrowser(app, to), signInBrowser(app, to)];
    const answered = async (browser: (typeof browsers)[number]) => {
      await browser.toConsent(visitor.email);
      return redirectParameters(await browser.answer('approve'))['code'] ?? '';
    };
    const exchangeCode = (code: string, verifier: string) =>
      app.raw('projectToken', {
        grant_type: 'authorization_code',
        client_id: to.clientId,
        code,
        redirect_uri: to.redirectUri,
        code_verifier: verifier,
      });
    codes.push(await answered(browsers[0] as never));
    const tokens = (await exchangeCode(codes[0] ?? '', browsers[0]?.verifier ?? '')).data as {
      accessToken: string;
      refreshToken: string;
    };
    const refresh = () =>
      app.raw('projectToken', {
        grant_type: 'refresh_token',
        client_id: to.clientId,
        refresh_token: tokens.refreshToken,
      });
    expect([await key.works(accessToken), await key.works(tokens.accessToken)]).toEqual([true, true]);

    app.clock.advance(4.5 * MINUTE);
    codes.push(await answered(browsers[1] as never));
    app.clock.advance(MINUTE / 2 + 1000);
    expect([await key.works(accessToken), await key.works(tokens.accessToken)]).toEqual([false, false]);
    expect((await key.exchange()).code).toBe('UNAUTHENTICATED');
    expect((await refresh()).code).toBe('INVALID_TOKEN');
    expect((await exchangeCode(codes[1] ?? '', browsers[1]?.verifier ?? '')).code).toBe('INVALID_TOKEN');

    await app.must('verifyEmail', { token: link });
    expect([await key.works(accessToken), await key.works(tokens.accessToken)]).toEqual([true, true]);
    expect((await key.exchange()).ok).toBe(true);
    expect((await refresh()).ok).toBe(true);
  });

  test('keys of the user are rejected, those of other users are not', async () => {
    const [user, other] = [await app.person({ verified: false }), await app.person()];
    const to = await appInProject(app, {}, user);
    const roleIds = [await roleWith(app, to, ['read'])];
    await app.must('createUser', { scope: to.scope, userId: user.userId, roleIds }, { token: user.token });
    const [, projectId = ''] = to.scope.id.split(':');
    const own = await keyOf(user, { tenant: 'projectUser', id: `${projectId}:${user.userId}` }, via);
    const elsewhere = await keyOf(other, (await appInProject(app, {}, other)).scope, via);
    expect([(await own.exchange()).ok, (await elsewhere.exchange()).ok]).toEqual([true, true]);
    app.clock.advance(DAY + MINUTE);
    expect([(await own.exchange()).code, (await elsewhere.exchange()).code]).toEqual([
      'UNAUTHENTICATED',
      null,
    ]);
  });
});
