/** The start page, the page of an unknown address and the page of an error, in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import {
  appInProject,
  authorizePath,
  signInBrowser,
  type AppInProject,
} from '../support/sign-in/project-app.ts';
import { violations } from './accessibility.ts';
import { colorSchemesOf } from './looks.ts';
import { photograph, sharedBrowser, watched } from './watched.ts';

let app: TestApp;
let origin: string;
let browser: Browser;
let boards: AppInProject;

beforeAll(async () => {
  app = await startApp();
  origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
  boards = await appInProject(app);
  browser = await sharedBrowser();
});
afterAll(async () => {
  await app?.close();
});

const errorAddress = () => {
  const { request } = signInBrowser(app, boards);
  const wrong = new URLSearchParams({ ...request, scope: 'no:such' });
  return `${authorizePath}?${wrong.toString()}`;
};

const pages: readonly [string, () => string, Readonly<Record<string, string>>][] = [
  ['start', () => '/', { en: 'Access management', de: 'Zugriffsverwaltung', es: 'Gestión', fr: 'Gestion' }],
  [
    'unknown',
    () => '/nothing',
    { en: 'not found', de: 'nicht gefunden', es: 'no encontrada', fr: 'introuvable' },
  ],
  ['error', errorAddress, { en: 'went wrong', de: 'schiefgegangen', es: 'salido mal', fr: 'erreur' }],
];

test.each(pages)('the page of %s is accessible', async (name, address, titles) => {
  for (const [index, [locale, title]] of Object.entries(titles).entries()) {
    const { context, page, offences } = await watched(browser, origin, () => true, {
      locale,
      viewport: { width: 360, height: 740 },
    });
    await page.goto(origin + address());
    expect(await page.getByRole('heading').innerText()).toContain(title);
    const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    expect(isWider, `${name} ${locale}`).toBe(false);
    for (const colorScheme of colorSchemesOf(index)) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), `${locale}, ${colorScheme}`).toEqual([]);
      await photograph(page, `${name}-${locale}-${colorScheme}`);
    }
    await context.close();
    expect(offences).toEqual([]);
  }
});

test('the page of an error links back to the app and names its host', async () => {
  const { context, page } = await watched(browser, origin, () => true, { locale: 'en' });
  await page.goto(origin + errorAddress());
  const link = page.getByRole('link', { name: 'Back to boards.example' });
  expect(await link.getAttribute('href')).toContain('error=invalid_scope');
  await context.close();
});
