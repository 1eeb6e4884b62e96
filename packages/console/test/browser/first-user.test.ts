import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callOrThrow, startService, type Service } from '../../../../scripts/service.ts';
import { violations } from '../../../server/test/browser/accessibility.ts';
import { colorSchemesOf } from '../../../server/test/browser/looks.ts';
import { photograph, sharedBrowser, watched, type Watched } from '../../../server/test/browser/watched.ts';
import { preparedDataDir } from '../../../server/test/support/databases/prepared-data.ts';
import { refusals, stored } from '../support/console.ts';

/** The first run: from the link that the service prints to the overview of the console, and what a dead link says. */
let browser: Browser;
beforeAll(async () => {
  browser = await sharedBrowser();
});

interface Fresh {
  readonly service: Service;
  readonly link: string;
  readonly close: () => Promise<void>;
}

/** A service without a user. */
async function freshService(env: Record<string, string> = {}): Promise<Fresh> {
  const dataDir = await preparedDataDir();
  const service = await startService({ dataDir, env });
  const link = await vi.waitFor(
    () => /http\S+\/console\/first-user#\S+/.exec(service.stdout())?.[0] ?? expect.fail(service.output()),
    60_000,
  );
  return {
    service,
    link,
    async close() {
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const tokenOf = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';
const open = async ({ service }: Fresh, address: string, options = {}): Promise<Watched> => {
  const view = await watched(browser, service.base, refusals, { locale: 'en-GB', ...options });
  await view.page.goto(address);
  return view;
};
const wrongLink = ({ link }: Fresh): string => link.replace(tokenOf(link), 'A'.repeat(43));

const good = { name: 'Ada Lovelace', email: 'ada@example.test', password: 'three lanterns in the harbour' };

/** Fills and sends the form with the keyboard alone, from the top of the page. */
async function send(page: Page, { name, email, password }: typeof good): Promise<void> {
  await page.locator('form.sign-in').waitFor();
  await page.getByLabel('Your name').focus();
  await page.keyboard.type(name);
  await page.keyboard.press('Tab');
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
}

const looks = {
  light: { look: 'desk light', viewport: { width: 1280, height: 800 } },
  dark: { look: 'phone dark', viewport: { width: 320, height: 640 } },
} as const;
const languages = ['en-GB', 'de-DE', 'es-ES', 'fr-FR'] as const;

let turns = 0;
/** Accessibility and layout faults of the page, in its looks. */
async function faultsOf(page: Page, name: string, turn = turns++): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of colorSchemesOf(turn)) {
    const { look, viewport } = looks[colorScheme];
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await photograph(page, `first-user ${name} ${look}`.replaceAll(/\W+/g, '-'));
    faults.push(...(await violations(page)).map((fault) => `${name} ${look}: ${fault}`));
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (beyond > 1) faults.push(`${name} ${look}: ${beyond} px wider than the window`);
  }
  return faults;
}

describe('the link of a fresh installation', () => {
  let fresh: Fresh;
  beforeAll(async () => {
    fresh = await freshService({ AUTH_PASSWORD_MIN_LENGTH: '14' });
  }, 120_000);
  afterAll(() => fresh?.close());

  test('opens a form without a fault, in every language and look', async () => {
    const faults: string[] = [];
    const titles = new Set<string>();
    for (const [turn, locale] of languages.entries()) {
      const { page, context, offences } = await open(fresh, fresh.link, { locale });
      await page.locator('form.sign-in').waitFor();
      titles.add((await page.locator('h1').textContent()) ?? '');
      faults.push(...(await faultsOf(page, `form ${locale}`, turn)), ...offences);
      await page.goto(`${fresh.service.base}/console/first-user`);
      await page.locator('main a').waitFor();
      faults.push(...(await faultsOf(page, `no link ${locale}`, turn + 1)), ...offences);
      await context.close();
    }
    expect(faults).toEqual([]);
    expect(titles.size).toBe(4);
  });

  test('that is wrong says what to do, and takes a right one that is pasted over it', async () => {
    const { page, context, offences } = await open(fresh, wrongLink(fresh));
    await send(page, good);
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    expect(await page.locator('main').textContent()).toMatch(/Restart the service/);
    expect(await faultsOf(page, 'dead link')).toEqual([]);
    await page.evaluate(`location.href = ${JSON.stringify(fresh.link)}`);
    await page.locator('form.sign-in').waitFor();
    expect(page.url()).toBe(`${fresh.service.base}/console/first-user`);
    expect(offences).toEqual([]);
    await context.close();
  });

  test('makes the first user, by keyboard, and ends at their overview', async () => {
    const { page, context, offences, requests } = await open(fresh, fresh.link);
    const token = tokenOf(fresh.link);
    await page.locator('form.sign-in').waitFor();
    expect(page.url()).toBe(`${fresh.service.base}/console/first-user`);
    expect(await stored(context)).not.toContain(token);
    expect(await page.content()).not.toContain(token);
    // The rules are there before anything is refused.
    expect(await page.getByText('At least 14 characters').isVisible()).toBe(true);

    await send(page, { ...good, password: 'kqzwvx' });
    const password = page.getByLabel('Password', { exact: true });
    await page.locator('.problem').waitFor();
    expect(await password.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('alert').textContent()).toMatch(/too short/);
    expect(await faultsOf(page, 'refused password')).toEqual([]);

    expect(await password.getAttribute('type')).toBe('password');
    await page.getByLabel('Show password').press('Space');
    expect(await password.getAttribute('type')).toBe('text');
    expect(await password.inputValue()).toBe('kqzwvx');
    await password.fill(good.password);
    await password.press('Enter');

    await page.locator('#content h1').waitFor();
    await page.waitForURL(/\/console\/account\/[0-9a-f-]{36}\/overview$/);
    await page.locator('.user-menu').getByText(good.name).waitFor();
    expect(offences).toEqual([]);
    expect(requests.filter((url) => url.includes(token))).toEqual([]);
    expect(await stored(context)).not.toMatch(/eyJ|dwr_/);
    // The link is not in the history either.
    await page.goBack();
    expect(page.url()).not.toContain('#');
    await context.close();
    const { service } = fresh;
    const { user } = await callOrThrow<{ user: { emailVerified: boolean; locale: string } }>(
      `${service.base}/api/auth/login`,
      { body: { provider: 'email', providerId: good.email, providerData: { password: good.password } } },
    );
    expect(user.locale).toBe('en');
  });

  test('works once', async () => {
    const { page, context, offences } = await open(fresh, fresh.link);
    await send(page, { ...good, email: 'eve@example.test' });
    await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
    await page.getByRole('link', { name: 'Go to the sign-in' }).press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(offences).toEqual([]);
    await context.close();
  });
});

describe('the link after a registration', () => {
  let fresh: Fresh;
  beforeAll(async () => {
    fresh = await freshService();
    const provider = { provider: 'email', providerId: 'stranger@example.test' };
    const body = { ...provider, providerData: { password: 'a long enough password' } };
    await callOrThrow(`${fresh.service.base}/api/auth/register`, { body });
  }, 120_000);
  afterAll(() => fresh?.close());

  test('says that there is a user already', async () => {
    const { page, context, offences } = await open(fresh, fresh.link);
    await send(page, good);
    await page.getByRole('heading', { name: 'There is a user already' }).waitFor();
    expect(await faultsOf(page, 'taken')).toEqual([]);
    expect(offences).toEqual([]);
    await context.close();
  });

  test('leads those who are signed in to their pages', async () => {
    const { page, context } = await open(fresh, `${fresh.service.base}/console/`);
    await page.locator('form.sign-in input[type=email]').fill('stranger@example.test');
    await page.locator('form.sign-in input[type=password]').fill('a long enough password');
    await page.locator('form.sign-in button[type=submit]').click();
    await page.locator('#content').waitFor();
    await page.goto(fresh.link);
    await page.getByRole('heading', { name: 'Where do you want to go?' }).waitFor();
    expect(page.url()).toBe(`${fresh.service.base}/console/`);
    await context.close();
  });
});
