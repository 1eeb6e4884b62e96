import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountBrowser, accountCookie } from '../../../test/support/sign-in/account-browser.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { unique, type Person } from '../../../test/support/app/client.ts';
import { member } from '../../../test/contract/world.ts';
import { startGithub, type GithubDouble } from '../../../test/support/sign-in/github.ts';
import { PasskeyDevice } from '../../../test/support/sign-in/passkey-device.ts';
import { appInProject, signInBrowser } from '../../../test/support/sign-in/project-app.ts';
import { notificationTypes } from '../../schema/people/notification.ts';
import { notificationTexts } from './notification-texts.ts';

/** The forms of the account pages, as a browser without script sends them. */

const MINUTE = 60_000;
let app: TestApp;
let github: GithubDouble;
beforeAll(async () => {
  github = await startGithub();
  app = await startApp({ ...github.env });
});
afterAll(async () => {
  await app.close();
  await github.close();
});

async function signedIn(given?: Person) {
  const person = given ?? (await app.person());
  const browser = accountBrowser(app);
  await browser.signIn(person.email);
  return { person, browser };
}
const idIn = (body: string) => /name="id" value="([\w-]+)"/.exec(body)?.[1] ?? '';

describe('picture', () => {
  const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=', 'base64');
  async function upload(
    browser: Awaited<ReturnType<typeof signedIn>>['browser'],
    bytes: Buffer,
    token?: string,
  ) {
    const { body } = await browser.page('/account');
    const formToken = token ?? /name="form_token" value="([\w-]+)"/.exec(body)?.[1] ?? '';
    const form = new FormData();
    form.set('form_token', formToken);
    form.set('form', 'upload');
    form.set('file', new Blob([new Uint8Array(bytes)]), 'me.gif');
    const request = new Request('http://localhost:4000/account', { method: 'POST', body: form });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return app.server.inject({
      method: 'POST',
      url: '/account',
      headers: {
        cookie,
        origin: 'http://localhost:4000',
        'content-type': request.headers.get('content-type') ?? '',
      },
      payload: Buffer.from(await request.arrayBuffer()),
    });
  }

  test('is uploaded from a form, and removed', async () => {
    const { person, browser } = await signedIn();
    const pictureUrl = async () => (await app.must('me', {}, { token: person.token })).user.pictureUrl;
    expect((await upload(browser, gif)).headers.location).toBe('/account?saved');
    expect(await pictureUrl()).toContain('/api/pictures/');
    const refused = await upload(browser, Buffer.from('no picture'));
    expect(refused.statusCode).toBe(400);
    expect(refused.body).toContain('id="file-problem"');
    expect((await upload(browser, gif, 'forged')).statusCode).toBe(400);
    await browser.send('/account', { form: 'picture' });
    expect(await pictureUrl()).toBeNull();
  });

  test('of a person who is not signed in is not read', async () => {
    const answer = await app.server.inject({
      method: 'POST',
      url: '/account',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      payload: Buffer.alloc(8 * 1024 * 1024),
    });
    expect(answer.statusCode).toBe(303);
  });
});

describe('password', () => {
  test('is changed; errors stand at their fields', async () => {
    const { person, browser } = await signedIn();
    const send = (currentPassword: string, newPassword: string) =>
      browser.send('/account/password', { form: 'change', currentPassword, newPassword });
    const short = await send(person.password, 'short');
    expect(short.statusCode).toBe(400);
    expect(short.body).toMatch(/id="newPassword-problem"[^>]*>[^<]*12/);
    const wrong = await send('not the password', 'four lanterns in the harbour');
    expect(wrong.body).toContain('id="currentPassword-problem"');
    expect(wrong.body).not.toContain('four lanterns');
    const changed = await send(person.password, 'four lanterns in the harbour');
    expect(changed.headers.location).toBe('/account/password?saved');
    // Other sessions ended, and this goes on.
    expect((await app.raw('me', {}, { token: person.token })).status).toBe(401);
    expect((await browser.page('/account/password')).statusCode).toBe(200);
  });

  test('a first one is set by a mailed code', async () => {
    const { person, browser } = await signedIn();
    const { body } = await browser.page('/account/password');
    const [, address = ''] = /href="([^"]+action=reset[^"]+)"/.exec(body) ?? [];
    const begun = await browser.get(address.replaceAll('&amp;', '&'));
    expect(begun.headers.location).toBe('http://localhost:4000/api/auth/project/sign-in?form=reset');
    const asked = await browser.post('/api/auth/flow/reset/request', { email: person.email });
    expect(asked.statusCode).toBe(303);
  });
});

describe('apps', () => {
  test('a consent is listed, and taken back', async () => {
    const boards = await appInProject(app, { scopes: ['board:read'] });
    const visitor = signInBrowser(app, boards);
    await visitor.toConsent(boards.owner.email);
    await visitor.answer('approve');
    const { browser } = await signedIn(boards.owner);
    const { body } = await browser.page('/account/apps');
    expect(body).toContain('Acme Boards');
    expect(body).toContain('board:read');
    const other = await signedIn();
    expect((await other.browser.send('/account/apps', { form: 'revoke', id: idIn(body) })).statusCode).toBe(
      404,
    );
    const taken = await browser.send('/account/apps', { form: 'revoke', id: idIn(body) });
    expect(taken.headers.location).toBe('/account/apps?saved');
    expect((await browser.page('/account/apps')).body).not.toContain('Acme Boards');
  });
});

test('notifications of every type have a text', () => {
  for (const { types } of Object.values(notificationTexts))
    expect(Object.keys(types).sort()).toEqual([...notificationTypes].sort());
});

test('notifications: boxes set the preferences that are not locked', async () => {
  const { person, browser } = await signedIn();
  await browser.send('/account/notifications', { form: 'preferences', 'member_joined.inApp': 'on' });
  const { items } = await app.must('myNotificationPreferences', {}, { token: person.token });
  const enabled = items.filter((item) => item.enabled && !item.locked);
  expect(enabled.map(({ type, channel }) => `${type}.${channel}`)).toEqual(['member_joined.inApp']);
  expect(items.filter(({ locked }) => locked).every((item) => item.enabled)).toBe(true);
});

describe('second factor', () => {
  test('an app is added with its code, the recovery codes are confirmed, and it is removed', async () => {
    const { browser } = await signedIn();
    const begun = await browser.send('/account/second-factor', { form: 'add', name: 'Phone' });
    expect(begun.statusCode).toBe(200);
    expect(begun.body).toContain('<svg class="qr"');
    const secret = (/<code class="secret">([^<]+)</.exec(begun.body)?.[1] ?? '').replaceAll(' ', '');
    const id = idIn(begun.body);
    const enable = (code: string) => browser.send('/account/second-factor', { form: 'enable', id, code });
    const wrong = await enable('000000');
    expect(wrong.body).toContain(`id="code-${id}-problem"`);
    const enabled = await enable(codeShown(secret, app.clock.now()));
    expect(enabled.body.match(/<li><code>/g)).toHaveLength(10);
    const notKept = await browser.send('/account/second-factor', { form: 'kept' });
    expect(notKept.body).toContain('Confirm that you have kept the codes.');
    const kept = await browser.send('/account/second-factor', { form: 'kept', kept: 'yes' });
    expect(kept.statusCode).toBe(303);
    const codes = await browser.send('/account/second-factor', { form: 'codes' });
    expect(codes.body.match(/<li><code>/g)).toHaveLength(10);
    await browser.send('/account/second-factor', { form: 'remove', id });
    expect((await browser.page('/account/second-factor')).body).not.toContain('Phone');
  });

  test('a change long after the sign-in asks for the factor in place, or for a new sign-in', async () => {
    const { person, browser } = await signedIn();
    const as = { token: person.token };
    app.clock.advance(16 * MINUTE);
    const asked = await browser.send('/account/second-factor', { form: 'add', name: 'Phone' });
    expect(asked.statusCode).toBe(403);
    expect(asked.body).toContain('action="/account/sign-out"');
    expect(asked.body).not.toContain('action="/account/confirm"');
    expect((await app.must('myMfa', {}, await freshToken(person))).factors).toEqual([]);
    const again = await browser.post('/account/sign-out', {
      form_token: /name="form_token" value="([\w-]+)"/.exec(asked.body)?.[1] ?? '',
      section: 'second-factor',
    });
    expect(again.headers.location).toContain(encodeURIComponent('/account/second-factor'));
    expect(browser.cookies.has(accountCookie)).toBe(false);
    expect(as.token).toBe(person.token);
  });

  test('a session that lacks the factor shows nothing before it', async () => {
    const { person, browser } = await signedIn();
    const as = await freshToken(person);
    const { factor, secret } = await app.must('createMfaFactor', {}, as);
    await app.must('verifyMfaFactor', { id: factor.id, code: codeShown(secret, app.clock.now()) }, as);
    const sessions = await browser.page('/account/sessions');
    expect(sessions.statusCode).toBe(403);
    expect(sessions.body).toContain('action="/account/confirm"');
    const token = /name="form_token" value="([\w-]+)"/.exec(sessions.body)?.[1] ?? '';
    const confirm = (code: string) =>
      browser.post('/account/confirm', { form_token: token, section: 'sessions', code });
    expect((await confirm('000000')).statusCode).toBe(403);
    const confirmed = await confirm(codeShown(secret, app.clock.now(), 1));
    expect(confirmed.headers.location).toBe('/account/sessions');
    expect((await browser.page('/account/sessions')).statusCode).toBe(200);
  });
});

async function freshToken({ email, password }: Person) {
  const signIn = await app.must('login', {
    provider: 'email',
    providerId: email,
    providerData: { password },
  });
  return { token: signIn.accessToken };
}

test('a passkey is added, renamed and removed', async () => {
  const { browser } = await signedIn();
  const device = new PasskeyDevice();
  const options = await browser.send('/account/passkeys', { form: 'options' });
  const { challengeId, publicKey } = options.json<{
    challengeId: string;
    publicKey: Parameters<PasskeyDevice['create']>[0];
  }>();
  const credential = JSON.stringify(device.create(publicKey));
  const garbage = await browser.send('/account/passkeys', {
    form: 'add',
    challengeId,
    credential: '{',
    name: 'x',
  });
  expect(garbage.statusCode).toBe(400);
  const added = await browser.send('/account/passkeys', {
    form: 'add',
    challengeId,
    credential,
    name: 'Laptop',
  });
  expect(added.body.match(/<li><code>/g)).toHaveLength(10);
  const id = idIn((await browser.page('/account/passkeys')).body);
  await browser.send('/account/passkeys', { form: 'rename', id, name: 'Work laptop' });
  expect((await browser.page('/account/passkeys')).body).toContain('Work laptop');
  const tooLong = await browser.send('/account/passkeys', { form: 'rename', id, name: 'x'.repeat(101) });
  expect(tooLong.body).toContain('At most 100 characters.');
});

describe('ways to sign in', () => {
  test('an address is added and removed; the last way stays', async () => {
    const { browser } = await signedIn();
    const address = `${unique()}@work.example.test`;
    const added = await browser.send('/account/providers', {
      form: 'add',
      providerId: address,
      password: '',
    });
    expect(added.headers.location).toBe('/account/providers?saved');
    const { body } = await browser.page('/account/providers');
    expect(body).toContain(address);
    const ids = [...body.matchAll(/name="id" value="([\w-]+)"/g)].map(([, id = '']) => id);
    const answers = [];
    for (const id of ids)
      answers.push((await browser.send('/account/providers', { form: 'remove', id })).statusCode);
    expect(answers.sort()).toEqual([303, 409]);
    const wrong = await browser.send('/account/providers', {
      form: 'add',
      providerId: 'nothing',
      password: '',
    });
    expect(wrong.body).toContain('id="providerId-problem"');
  });

  test('an account at a provider is connected after the question, in this browser alone', async () => {
    const { person, browser } = await signedIn();
    github.account = github.newAccount();
    const begun = await browser.send('/account/providers', { form: 'connect', key: 'github' });
    expect(begun.statusCode).toBe(303);
    const back = await github.visit(String(begun.headers.location));
    // Another browser, even one of a signed-in user, cannot finish it.
    const other = await signedIn();
    expect((await other.browser.get(back)).statusCode).toBe(400);
    const question = await browser.get(back);
    expect(question.headers.location).toBe('http://localhost:4000/hosted/connect-provider');
    const { body } = await browser.get('/hosted/connect-provider');
    const formToken = /name="formToken" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const end = await browser.post('/api/auth/providers/connect', { decision: 'approve', formToken });
    expect(end.headers.location).toBe('http://localhost:4000/account/providers');
    const { items } = await app.must('myAuthenticationMethods', {}, await freshToken(person));
    expect(items.map(({ provider }) => provider).sort()).toEqual(['email', 'github']);
  });
});

describe('data', () => {
  test('is downloaded as a file', async () => {
    const { person, browser } = await signedIn();
    const file = await browser.send('/account/data', { form: 'export' });
    expect(file.headers['content-disposition']).toContain('attachment');
    expect(file.body).toContain(person.email);
  });

  test('of the last owner stays, and the page names the organization', async () => {
    const ada = await app.person({ type: 'organization' });
    const as = { token: ada.token };
    const { id } = await app.must('createOrganization', { scope: ada.account, name: 'Acme & Daughters' }, as);
    await member(app, id, 'Organization Admin');
    const { browser } = await signedIn(ada);
    const kept = await browser.send('/account/data', { form: 'delete', typed: ada.email });
    expect(kept.body).toContain('other members: Acme &amp; Daughters');
    expect((await app.raw('me', {}, as)).status).toBe(200);
  });

  test('is deleted only with the address typed', async () => {
    const { person, browser } = await signedIn();
    const wrong = await browser.send('/account/data', { form: 'delete', typed: 'yes' });
    expect(wrong.body).toContain('id="typed-problem"');
    expect(wrong.body).toContain('value="yes"');
    const gone = await browser.send('/account/data', { form: 'delete', typed: person.email.toUpperCase() });
    expect(gone.headers.location).toBe('/hosted/signed-out');
    expect((await browser.page('/account')).statusCode).toBe(303);
    expect((await app.raw('me', {}, { token: person.token })).status).toBe(401);
  });
});
