import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountBrowser } from '../../../test/support/sign-in/account-browser.ts';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { codeShown } from '../../../test/support/sign-in/authenticator.ts';
import { PasskeyDevice } from '../../../test/support/sign-in/passkey-device.ts';

/** The question whether it is still the user, answered with a passkey. */
const LATER = 16 * 60_000;
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

type Options = Parameters<PasskeyDevice['get']>[0];
interface Challenge {
  readonly challengeId: string;
  readonly publicKey: Options;
}

/** A person whose only factor is the passkey on this device, on the account pages. */
async function withPasskey() {
  const person = await app.person();
  const browser = accountBrowser(app);
  await browser.signIn(person.email);
  const device = new PasskeyDevice();
  const options = await browser.send('/account/passkeys', { form: 'options' });
  const { challengeId, publicKey } = options.json<Challenge>();
  const credential = JSON.stringify(device.create(publicKey));
  await browser.send('/account/passkeys', { form: 'add', challengeId, credential, name: 'Laptop' });
  /** Sends a form that changes how the person signs in. */
  const change = () => browser.send('/account/second-factor', { form: 'add', name: 'Phone' });
  const tokenIn = (body: string) => /name="form_token" value="([\w-]+)"/.exec(body)?.[1] ?? '';
  /** Asks for a challenge on the page of the question. */
  const ask = async (body: string): Promise<Challenge> =>
    (
      await browser.post('/account/confirm', { form_token: tokenIn(body), form: 'options' })
    ).json<Challenge>();
  const confirm = (body: string, passkey: unknown) =>
    browser.post('/account/confirm', {
      ...{ form_token: tokenIn(body), section: 'second-factor' },
      passkey: typeof passkey === 'string' ? passkey : JSON.stringify(passkey),
    });
  return { browser, device, change, ask, confirm };
}

test('a passkey confirms in place, once', async () => {
  const { device, change, ask, confirm } = await withPasskey();
  app.clock.advance(LATER);
  const { statusCode, body, headers } = await change();
  expect(statusCode).toBe(403);
  expect(body).toContain('Confirm with a passkey');
  expect(body).toContain('src="/account/confirm.js"');
  expect(headers['content-security-policy']).toContain("script-src 'self'");
  // Without an authenticator app there is no field for its code.
  expect(body).not.toContain('name="code"');
  const { challengeId, publicKey } = await ask(body);
  const passkey = { challengeId, credential: device.get(publicKey) };
  const confirmed = await confirm(body, passkey);
  expect([confirmed.statusCode, confirmed.headers.location]).toEqual([303, '/account/second-factor']);
  expect((await change()).statusCode).toBe(200);

  app.clock.advance(LATER);
  const again = await change();
  const replayed = await confirm(again.body, passkey);
  expect(replayed.statusCode).toBe(403);
  expect(replayed.body).toContain('role="alert"');
});

test('a passkey of another user does not, nor does malformed input', async () => {
  const [ada, eve] = [await withPasskey(), await withPasskey()];
  app.clock.advance(LATER);
  const { body } = await ada.change();
  const { challengeId, publicKey } = await ada.ask(body);
  const wrong: readonly unknown[] = [
    '{',
    {},
    { challengeId, credential: eve.device.get(publicKey) },
    { challengeId, credential: ada.device.get(publicKey, { origin: 'https://evil.example' }) },
  ];
  for (const passkey of wrong) {
    const refused = await ada.confirm(body, passkey);
    expect([refused.statusCode, refused.body.includes('role="alert"')], JSON.stringify(passkey)).toEqual([
      403,
      true,
    ]);
  }
  expect((await ada.change()).statusCode).toBe(403);
  const forged = await ada.browser.post('/account/confirm', { form_token: 'x', form: 'options' });
  expect(forged.statusCode).toBe(400);
});

test('who has an authenticator app too chooses; who has no passkey is not offered it', async () => {
  const { change, browser } = await withPasskey();
  const added = await change();
  const secret = (/<code class="secret">([^<]+)</.exec(added.body)?.[1] ?? '').replaceAll(' ', '');
  const id = /name="id" value="([\w-]+)"/.exec(added.body)?.[1] ?? '';
  const code = codeShown(secret, app.clock.now());
  await browser.send('/account/second-factor', { form: 'enable', id, code });
  app.clock.advance(LATER);
  const { body } = await change();
  expect(body).toContain('name="code"');
  expect(body).toContain('Confirm with a passkey');

  const other = await app.person();
  const plain = accountBrowser(app);
  await plain.signIn(other.email);
  app.clock.advance(LATER);
  const asked = await plain.send('/account/second-factor', { form: 'add', name: 'Phone' });
  expect(asked.statusCode).toBe(403);
  expect(asked.body).not.toContain('passkey"');
  expect(asked.body).not.toContain('<script');
});
