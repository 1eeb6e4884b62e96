import * as openid from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import type { Person } from '../../../test/support/app/client.ts';
import { startAtOwnAddress } from '../../../test/support/app/own-address.ts';
import {
  appInProject,
  projectViewer,
  signInBrowser,
  type AppInProject,
  type SignInBrowser,
} from '../../../test/support/sign-in/project-app.ts';

/** Sign-in of a device without a browser (RFC 8628, openid §10), and the attacks on it. */
let app: TestApp;
let user: Person;
let mine: AppInProject;
let other: AppInProject;
let secret: AppInProject;

beforeAll(async () => {
  app = await startApp();
  user = await app.person();
  const signUp = { allowSignUp: true, signUpRoleId: projectViewer };
  mine = await appInProject(app, { scopes: ['board:read', 'Role:Query'], ...signUp }, user);
  other = await appInProject(app, signUp, user);
  secret = await appInProject(app, { confidential: true }, user);
});
afterAll(() => app.close());

interface Codes {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}
const form = (path: string, fields: Record<string, string>) =>
  app.server.inject({
    method: 'POST',
    url: `/api/auth/project/${path}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Television/7' },
    body: new URLSearchParams(fields).toString(),
  });
const begin = async (fields: Record<string, string> = {}): Promise<Codes> => {
  const answer = await form('device', { client_id: mine.clientId, ...fields });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};
const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
interface Answer {
  readonly status: number;
  readonly error?: string;
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly id_token?: string;
  readonly scope?: string;
}
async function ask(device_code: string, client_id = mine.clientId, more = {}): Promise<Answer> {
  const answer = await form('token', { grant_type, device_code, client_id, ...more });
  return { status: answer.statusCode, ...answer.json<object>() };
}
/** A browser in which the user has entered the code. It shows the first page of the sign-in. */
async function entered(code: string, to = mine): Promise<SignInBrowser> {
  const browser = signInBrowser(app, to);
  const answer = await enter(browser, code);
  expect(String(answer.headers.location)).toMatch(/\/api\/auth\/project\/sign-in$/);
  return browser;
}
const enter = (browser: Pick<SignInBrowser, 'post'>, user_code: string, headers = {}) =>
  browser.post('/api/auth/project/device/enter', { user_code }, headers);
/** Signs in by mail, and stops at the consent page. */
async function atConsent(code: string, person = user, to = mine): Promise<SignInBrowser> {
  const browser = await entered(code, to);
  await browser.open(await browser.mail(person.email));
  return browser;
}
const decide = async (browser: SignInBrowser, decision: 'approve' | 'deny') =>
  String((await browser.answer(decision)).headers.location);

describe('a device', () => {
  it('shows a code without vowels, and gets tokens when the user has approved', async () => {
    const codes = await begin({ scope: 'openid offline_access board:read' });
    expect(codes).toMatchObject({
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
      verification_uri: 'http://localhost:4000/device',
      verification_uri_complete: `http://localhost:4000/device?user_code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    });
    expect(await ask(codes.device_code)).toMatchObject({ status: 400, error: 'authorization_pending' });
    const browser = await atConsent(codes.user_code.toLowerCase().replace('-', ' '));
    const page = await browser.page();
    for (const shown of [codes.user_code, 'Acme Boards', '127.0.0.1', 'Television/7']) {
      expect(page.body).toContain(shown);
    }
    const end = await decide(browser, 'approve');
    expect(end).toBe('http://localhost:4000/device?result=approved');
    expect((await browser.get(end)).body).toContain('Your device is connected');
    const tokens = await ask(codes.device_code);
    expect(tokens).toMatchObject({ status: 200, scope: 'openid offline_access board:read' });
    expect(tokens.id_token).toMatch(/^ey/);
    const info = await app.server.inject({
      url: '/api/auth/project/user-info',
      headers: { authorization: `Bearer ${tokens.access_token ?? ''}` },
    });
    expect(info.json()).toMatchObject({ sub: user.userId });
    const { items } = await app.must('myUserSessions', { kind: 'projectApp' }, { token: user.token });
    expect(items[0]).toMatchObject({ projectAppId: mine.id, userAgent: 'Television/7' });
  });

  it('is refused when the user denies, or may not sign in to the app', async () => {
    const denied = await begin();
    const end = await decide(await atConsent(denied.user_code), 'deny');
    expect(end).toBe('http://localhost:4000/device?result=denied');
    expect(await ask(denied.device_code)).toMatchObject({ status: 400, error: 'access_denied' });
    const closed = await appInProject(app, {}, await app.person());
    const codes = await begin({ client_id: closed.clientId });
    await atConsent(codes.user_code, await app.person(), closed);
    expect(await ask(codes.device_code, closed.clientId)).toMatchObject({ error: 'access_denied' });
  });

  it('of a confidential app needs its secret', async () => {
    const client = { client_id: secret.clientId, client_secret: secret.clientSecret ?? '' };
    expect((await form('device', { client_id: secret.clientId })).statusCode).toBe(401);
    const codes = await begin(client);
    expect(await ask(codes.device_code, secret.clientId)).toMatchObject({ error: 'invalid_client' });
    const pending = await ask(codes.device_code, secret.clientId, client);
    expect(pending.error).toBe('authorization_pending');
  });

  it('may ask only for scopes of the app', async () => {
    const answer = await form('device', { client_id: mine.clientId, scope: 'board:edit' });
    expect([answer.statusCode, answer.json<Answer>().error]).toEqual([400, 'invalid_scope']);
  });

  it('that asks too often has to wait longer each time', async () => {
    const { device_code } = await begin();
    const errors: (string | undefined)[] = [];
    const after = async (seconds: number) => {
      app.clock.advance(seconds * 1000);
      errors.push((await ask(device_code)).error);
    };
    for (const seconds of [0, 5, 1, 5, 10, 15]) await after(seconds);
    expect(errors).toEqual([
      'authorization_pending',
      'authorization_pending',
      // The interval is 10 s from now on, then 15 s, then 20 s.
      'slow_down',
      'slow_down',
      'slow_down',
      'slow_down',
    ]);
    await after(25);
    expect(errors.at(-1)).toBe('authorization_pending');
  });

  it('gets JSON with the code INVALID_STATE', async () => {
    const { data } = await app.call('authorizeProjectDevice', { client_id: mine.clientId });
    const sent = { grant_type, client_id: mine.clientId, device_code: data.device_code } as const;
    const { code, status } = await app.call('projectToken', sent);
    expect([code, status]).toEqual(['INVALID_STATE', 409]);
  });

  it('asks consent again, also of a user who gave it, and of an app of the owner', async () => {
    await decide(await atConsent((await begin()).user_code), 'approve');
    const again = await atConsent((await begin()).user_code);
    expect((await again.page()).body).toContain('Does your device show this code?');
    const change = { scope: mine.scope, id: mine.id, firstParty: true };
    await app.must('updateProjectApp', change, { token: user.token });
    const first = await atConsent((await begin()).user_code);
    expect((await first.page()).body).toContain('Does your device show this code?');
    await app.must('updateProjectApp', { ...change, firstParty: false }, { token: user.token });
  });
});

describe('no tokens', () => {
  it('for the device code of another client, which stays valid', async () => {
    const codes = await begin();
    await decide(await atConsent(codes.user_code), 'approve');
    expect(await ask(codes.device_code, other.clientId)).toMatchObject({
      status: 400,
      error: 'invalid_grant',
    });
    expect((await ask(codes.device_code)).status).toBe(200);
  });

  it('twice for one device code, also at the same time', { tags: 'race' }, async () => {
    const codes = await begin();
    await decide(await atConsent(codes.user_code), 'approve');
    const answers = await Promise.all([1, 2, 3].map(() => ask(codes.device_code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect(await ask(codes.device_code)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('for the user code, and for what is no code', async () => {
    const codes = await begin();
    for (const guess of [codes.user_code, codes.user_code.replace('-', ''), 'x', "'\0"]) {
      expect(await ask(guess)).toMatchObject({ status: 400, error: 'invalid_grant' });
    }
  });

  it('for another user than the first who decided', async () => {
    const codes = await begin();
    const second = await app.person();
    const [approving, denying] = [
      await atConsent(codes.user_code, second),
      await atConsent(codes.user_code, second),
    ];
    await decide(await atConsent(codes.user_code), 'approve');
    expect((await approving.answer('approve')).statusCode).toBe(400);
    await decide(denying, 'deny');
    const { access_token = '' } = await ask(codes.device_code);
    const info = await app.server.inject({
      url: '/api/auth/project/user-info',
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect(info.json()).toMatchObject({ sub: user.userId });
    const { items } = await app.must('myUserSessions', { kind: 'projectApp' }, { token: second.token });
    expect(items).toEqual([]);
  });

  it('after ten minutes, whatever the user decided', async () => {
    const [pending, approved] = [await begin(), await begin()];
    await decide(await atConsent(approved.user_code), 'approve');
    const browser = await entered(pending.user_code);
    app.clock.advance(601_000);
    for (const { device_code } of [pending, approved]) {
      expect(await ask(device_code)).toMatchObject({ status: 400, error: 'expired_token' });
    }
    expect((await enter(browser, pending.user_code)).headers.location).toBe('/device?result=wrong');
  });

  it('after the password of the user was changed, or the user deleted', async () => {
    const person = await app.person();
    const approved = async () => {
      const codes = await begin();
      await decide(await atConsent(codes.user_code, person), 'approve');
      return codes.device_code;
    };
    const first = await approved();
    const newPassword = `another horse ${crypto.randomUUID()}`;
    const change = { currentPassword: person.password, newPassword };
    await app.must('changeMyPassword', change, { token: person.token });
    expect(await ask(first)).toMatchObject({ status: 400, error: 'invalid_grant' });
    const second = await approved();
    await app.must('deleteMe', {}, { token: person.token });
    expect(await ask(second)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  it('after the user took their consent back', async () => {
    const codes = await begin();
    await decide(await atConsent(codes.user_code), 'approve');
    const { items } = await app.must('myAppGrants', {}, { token: user.token });
    const grant = items.find(({ projectAppId }) => projectAppId === mine.id);
    await app.must('revokeMyAppGrant', { id: grant?.id ?? '' }, { token: user.token });
    expect(await ask(codes.device_code)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });
});

describe('the page', () => {
  it('fills in the code of its address, and nothing else of it', async () => {
    const at = async (query: string) => (await app.server.inject({ url: `/device?${query}` })).body;
    expect(await at('user_code=bcdf-ghjk')).toContain('value="BCDF-GHJK"');
    for (const query of [
      'user_code=%3Cb%3E',
      'user_code=BCDFGHJKLM',
      'user_code=A&user_code=B',
      'result=%3Cb%3E',
    ]) {
      expect(await at(query)).not.toMatch(/value=|<b>/);
    }
  });

  it('does not enter the code for a page of another site', async () => {
    const { user_code } = await begin();
    const answer = await enter(signInBrowser(app, mine), user_code, { origin: 'https://evil.example' });
    expect(answer.statusCode).toBe(403);
  });
});

describe('guessing', () => {
  let strict: TestApp;
  let from: (address: string) => Record<string, string>;
  beforeEach(async () => {
    strict = await startOwnApp({
      SECURITY_TRUSTED_PROXIES: '127.0.0.1/32',
      SECURITY_RATE_LIMIT_AUTH_MAX: '20',
    });
    from = (address) => ({ 'x-forwarded-for': address });
    return () => strict.close();
  });

  const wrong = '/device?result=wrong';
  const closed = '/device?result=closed';
  /** A browser that has opened the page. */
  async function atPage(to: AppInProject, address: string): Promise<SignInBrowser> {
    const browser = signInBrowser(strict, to);
    await browser.get('/device', from(address));
    return browser;
  }

  it('is over for a browser after five wrong codes, and not for others of its network', async () => {
    const to = await appInProject(strict);
    const { data } = await strict.call('authorizeProjectDevice', { client_id: to.clientId });
    const [careless, colleague] = [await atPage(to, '203.0.113.7'), await atPage(to, '203.0.113.7')];
    const guess = async (browser: SignInBrowser, code: string) =>
      (await enter(browser, code, from('203.0.113.7'))).headers.location;
    for (let wrongs = 0; wrongs < 5; wrongs++) {
      // Opening the page again does not reset the count.
      await careless.get('/device', from('203.0.113.7'));
      expect(await guess(careless, 'BCDF-GHJK')).toBe(wrong);
    }
    expect(await guess(careless, data.user_code)).toBe(closed);
    expect(await guess(colleague, 'BCDF-GHJK')).toBe(wrong);
    expect(await guess(colleague, data.user_code)).toMatch(/\/sign-in$/);
  });

  it('is over for a network after as many wrong codes as its class allows, whatever browsers they come from', async () => {
    const to = await appInProject(strict);
    const { data } = await strict.call('authorizeProjectDevice', { client_id: to.clientId });
    const guess = async (code: string, address: string) =>
      (await enter(await atPage(to, address), code, from(address))).headers.location;
    for (let wrongs = 0; wrongs < 20; wrongs++) expect(await guess('BCDF-GHJK', '203.0.113.7')).toBe(wrong);
    expect(await guess(data.user_code, '203.0.113.7')).toBe(closed);
    expect(await guess(data.user_code, '203.0.113.8')).toMatch(/\/sign-in$/);
  });

  it('is over after five wrong codes without the page, also with the right one', async () => {
    const to = await appInProject(strict);
    const { data } = await strict.call('authorizeProjectDevice', { client_id: to.clientId });
    const guess = (code: string, address: string) => enter(signInBrowser(strict, to), code, from(address));
    // Each guess comes without a cookie: all of them count together.
    for (const code of ['BCDF-GHJK', 'bcdfghjl', 'AAAA-AAAA', '1', 'BCDFGHJKL']) {
      const answer = await guess(code, '203.0.113.7');
      expect(answer.headers.location).toBe(wrong);
    }
    const late = await guess(data.user_code, '203.0.113.7');
    expect(late.headers.location).toBe(closed);
    const page = await strict.server.inject({ url: '/device?result=closed' });
    expect(page.body).toContain('Wait a while');
    const elsewhere = await guess(data.user_code, '203.0.113.8');
    expect(String(elsewhere.headers.location)).toMatch(/\/sign-in$/);
  });
});

it('openid-client completes the grant by issuer alone', async () => {
  const { app: own, base } = await startAtOwnAddress();
  try {
    const person = await own.person();
    const to = await appInProject(own, { scopes: ['Role:Query'] }, person);
    const issuer = new URL(to.issuer.replace('http://localhost:4000', base));
    const config = await openid.discovery(issuer, to.clientId, undefined, openid.None(), {
      execute: [openid.allowInsecureRequests],
    });
    const codes = await openid.initiateDeviceAuthorization(config, { scope: 'openid Role:Query' });
    expect(codes.verification_uri).toBe(`${base}/device`);
    const browser = signInBrowser(own, to);
    await browser.post('/api/auth/project/device/enter', { user_code: codes.user_code }, { origin: base });
    await browser.open(await browser.mail(person.email));
    await browser.answer('approve');
    const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...codes, interval: 0.1 });
    expect(tokens.claims()?.sub).toBe(person.userId);
    expect(tokens.scope).toBe('openid Role:Query');
  } finally {
    await own.close();
  }
});
