import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import {
  appInProject,
  redirectParameters,
  signInBrowser,
  type AppInProject,
} from '../../../test/support/sign-in/project-app.ts';

/** Sessions of apps that begin days after the user signed in in this browser, where sessions live for a short time. */
const HOUR = 3_600_000;
let app: TestApp;
let boards: AppInProject;
let user: Person;

beforeAll(async () => {
  app = await startApp({
    ...{ AUTH_SESSION_IDLE_DAYS: '1', JWT_REFRESH_TOKEN_EXPIRATION_DAYS: '2' },
    ...{ SSO_IDLE_HOURS: '12', SSO_MAX_DAYS: '7' },
  });
  user = await app.person();
  boards = await appInProject(app, { firstParty: true, scopes: ['board:read'] }, user);
});
afterAll(() => app.close());

test('are not idle from the start, and the sign-in ends before they would begin expired', async () => {
  const browser = signInBrowser(app, boards);
  await browser.authorize();
  expect(redirectParameters(await browser.finish(user.email))).toHaveProperty('code');
  /** What the app gets in this browser after more hours, without a page. */
  const askAfter = async (hours: number) => {
    app.clock.advance(hours * HOUR);
    const tab = signInBrowser(app, boards, browser);
    return { tab, got: redirectParameters(await tab.authorize({ prompt: 'none' })) };
  };
  const byApp = { client_id: boards.clientId, redirect_uri: boards.redirectUri };
  for (const hours of [10, 10]) expect((await askAfter(hours)).got).toHaveProperty('code');
  const { tab, got } = await askAfter(10);
  const exchange = { ...byApp, grant_type: 'authorization_code', code_verifier: tab.verifier } as const;
  const tokens = await app.must('projectToken', { ...exchange, code: got['code'] ?? '' });
  const refresh = {
    ...byApp,
    grant_type: 'refresh_token',
    refresh_token: tokens.refreshToken ?? '',
  } as const;
  expect(await app.call('projectToken', refresh)).toMatchObject({ status: 200 });
  expect((await askAfter(10)).got).toHaveProperty('code');
  expect((await askAfter(9)).got).toMatchObject({ error: 'login_required' });
});
