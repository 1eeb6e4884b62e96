/** The account pages in a real browser: each page in both colour schemes, four languages, on a phone and with the keyboard. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../scripts/service.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import { codeShown } from '../support/sign-in/authenticator.ts';
import type { Person } from '../support/app/client.ts';
import { violations } from './accessibility.ts';
import { lookName, looksOf } from './looks.ts';
import { photograph, sharedBrowser, watched, type Watched } from './watched.ts';

let app: TestApp;
let origin: string;
let browser: Browser;
let person: Person;
let kept: NonNullable<BrowserContextOptions['storageState']>;

beforeAll(async () => {
  const port = await freePort();
  // A passkey belongs to a domain, so the service is called localhost here.
  origin = `http://localhost:${port}`;
  app = await startApp({ APP_URL: origin });
  await app.server.listen({ host: '127.0.0.1', port });
  browser = await sharedBrowser();
  person = await app.person({ name: 'Ada Lovelace' });
});
afterAll(async () => {
  await app?.close();
});

/** A page that asks for the proof of a person answers 403. */
const open = (options: BrowserContextOptions = {}): Promise<Watched> =>
  watched(browser, origin, () => false, { viewport: { width: 900, height: 900 }, ...options });

const close = async ({ context, offences }: Watched) => {
  await context.close();
  expect(offences).toEqual([]);
};

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

test('a person signs in from a deep link, adds both factors, and keeps the codes', async () => {
  const view = await open({ locale: 'en' });
  const { page, context } = view;
  await page.goto(`${origin}/account/second-factor`);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.keyboard.press('Enter');
  await page.locator('input[type=password]').fill(person.password);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${origin}/account/second-factor`);

  await press(page, 'Add an authenticator app');
  const secret = (await page.locator('.secret').innerText()).replaceAll(' ', '');
  expect(await violations(page)).toEqual([]);
  await photograph(page, 'account-new-factor');
  await page.getByLabel('Code that the app shows now').fill(codeShown(secret, app.clock.now()));
  await press(page, 'Enable');
  await expect.poll(() => page.locator('.codes li').count()).toBe(10);
  expect(await violations(page)).toEqual([]);
  await photograph(page, 'account-recovery-codes');
  await page.getByRole('checkbox').check();
  await press(page, 'Continue');
  await page.getByText('Your change is saved.').waitFor();

  const device = await context.newCDPSession(page);
  await device.send('WebAuthn.enable');
  await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await page.goto(`${origin}/account/passkeys`);
  await page.getByLabel('Name').fill('Laptop');
  await press(page, 'Add a passkey');
  await page.getByText('Your change is saved.').waitFor();
  expect(await page.locator('.rows strong').innerText()).toBe('Laptop');
  kept = await context.storageState();
  await close(view);
});

const phone = { width: 320, height: 640 };
const paths = [
  '',
  '/password',
  '/passkeys',
  '/second-factor',
  '/sessions',
  '/providers',
  '/apps',
  '/notifications',
  '/data',
];

const turns = paths.flatMap((path, index) =>
  looksOf(index).map((look) => [`/account${path}: ${lookName(look)}`, path, look] as const),
);

test.each(turns)('%s is accessible', async (_title, path, { locale, colorScheme, isPhone }) => {
  const view = await open({
    locale,
    colorScheme,
    storageState: kept,
    ...(isPhone ? { viewport: phone } : {}),
  });
  const { page } = view;
  await page.goto(`${origin}/account${path}`);
  expect(await page.evaluate('document.documentElement.lang')).toBe(locale);
  expect(await violations(page)).toEqual([]);
  const name = `account${path.replace('/', '-')}`;
  if (locale === 'en' && !isPhone) await photograph(page, `${name}-${colorScheme}`);
  await page.setViewportSize(phone);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  if (locale === 'de') await photograph(page, `${name}-phone`);
  await close(view);
});

test('every page works with the keyboard, and shows where it is', async () => {
  const view = await open({ locale: 'en', storageState: kept });
  const { page } = view;
  await page.goto(`${origin}/account`);
  const focused = async () => {
    await page.keyboard.press('Tab');
    return page.evaluate<[string, string]>(`(() => {
      const { id, textContent } = document.activeElement;
      return [id || textContent.trim(), getComputedStyle(document.activeElement).outlineStyle];
    })()`);
  };
  const seen: string[] = [];
  for (let step = 0; step < 13; step++) {
    const [name, outline] = await focused();
    expect(outline, name).toBe('solid');
    seen.push(name);
  }
  expect(seen.slice(9)).toEqual(['name', 'locale', 'Save', 'file']);
  await page.locator('#name').focus();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Ada King');
  await page.keyboard.press('Enter');
  await page.getByText('Your change is saved.').waitFor();
  expect(await page.locator('#name').inputValue()).toBe('Ada King');
  await close(view);
});

test('without script, all but adding a passkey works', async () => {
  const view = await open({ locale: 'en', storageState: kept, javaScriptEnabled: false });
  const { page } = view;
  await page.goto(`${origin}/account/passkeys`);
  expect(await page.locator('#new-passkey').isVisible()).toBe(false);
  expect(await page.locator('#no-passkey').isVisible()).toBe(true);
  await page.goto(`${origin}/account/sessions`);
  await press(page, 'End all other sessions');
  await page.getByText('Your change is saved.').waitFor();
  expect(await page.getByRole('button', { name: 'End all other sessions' }).count()).toBe(0);
  await press(page, 'Sign out');
  await page.waitForURL(`${origin}/hosted/signed-out`);
  await page.goto(`${origin}/account`);
  expect(new URL(page.url()).pathname).toBe('/api/auth/project/sign-in');
  await close(view);
});

// The last test, because it moves the clock past the sign-in of the others.
test('who has a passkey alone confirms with it, by keyboard', async () => {
  const grace = await app.person({ name: 'Grace Hopper' });
  // The page that asks answers 403.
  const view = await watched(browser, origin, (url) => url.startsWith(`${origin}/account/`), {
    viewport: { width: 900, height: 900 },
    locale: 'en',
  });
  const { page, context } = view;
  const device = await context.newCDPSession(page);
  await device.send('WebAuthn.enable');
  const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  await page.goto(`${origin}/account/passkeys`);
  await page.getByLabel('E-mail address').fill(grace.email);
  await page.keyboard.press('Enter');
  await page.locator('input[type=password]').fill(grace.password);
  await page.keyboard.press('Enter');
  await press(page, 'Add a passkey');
  await page.getByRole('checkbox').check();
  await press(page, 'Continue');
  await page.getByText('Your change is saved.').waitFor();

  app.clock.advance(16 * 60_000);
  await page.goto(`${origin}/account/second-factor`);
  await press(page, 'Add an authenticator app');
  const confirm = page.getByRole('button', { name: 'Confirm with a passkey' });
  await confirm.waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).toEqual([]);
    await photograph(page, `account-confirm-passkey-${colorScheme}`);
  }
  await page.setViewportSize(phone);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await photograph(page, 'account-confirm-passkey-phone');

  // The device refuses while it does not see its user, and the page says so.
  const see = (isUserVerified: boolean) =>
    device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  await see(false);
  await confirm.press('Enter');
  await page.getByText('No passkey was used').waitFor();
  await see(true);
  await confirm.press('Enter');
  await page.waitForURL(`${origin}/account/second-factor`);
  await press(page, 'Add an authenticator app');
  await page.locator('.secret').waitFor();
  await close(view);
});
