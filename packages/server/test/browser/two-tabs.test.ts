/** Several sign-ins in one browser, a double click, and the way back through the history. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../scripts/service.ts';
import { startApp, type TestApp } from '../support/app/app.ts';
import type { Person } from '../support/app/client.ts';
import { appInProject, authorizePath, projectViewer, signInBrowser } from '../support/sign-in/project-app.ts';
import { sharedBrowser, watched } from './watched.ts';

let app: TestApp;
let origin: string;
let site: Server;
let home: string;
let person: Person;
let browser: Browser;
let first: string;
let second: string;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://localhost:${port}`;
  app = await startApp({ APP_URL: origin });
  await app.server.listen({ host: '127.0.0.1', port });
  site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('Welcome'));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  home = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  person = await app.person();
  first = await startOf('first');
  second = await startOf('second');
  browser = await sharedBrowser();
});
afterAll(async () => {
  await app?.close();
  site?.close();
});

/** The address at which the sign-in to a new app begins. */
async function startOf(name: string): Promise<string> {
  const to = await appInProject(app, {
    name,
    homepageUrl: 'https://boards.example/',
    redirectUris: [`${home}/${name}`],
    firstParty: true,
    allowSignUp: true,
    signUpRoleId: projectViewer,
    enabledProviders: ['password'],
  });
  const { request } = signInBrowser(app, to);
  return `${origin}${authorizePath}?${new URLSearchParams({ ...request, prompt: 'login' }).toString()}`;
}

const open = () =>
  watched(browser, [origin, home], (url) => url.includes('/api/auth/') || url.includes('favicon'), {
    locale: 'en',
  });

async function toPassword(page: Page, start: string): Promise<void> {
  await page.goto(start);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.keyboard.press('Enter');
  await page.locator('input[type=password]').fill(person.password);
}

const button = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true });
const arrived = (page: Page, name: string) => page.waitForURL(new RegExp(`^${home}/${name}\\?.*code=`));

test('two apps in two tabs, finished in the order in which they began', async () => {
  const { page, context, offences } = await open();
  const other = await context.newPage();
  await toPassword(page, first);
  await toPassword(other, second);
  await page.reload();
  await page.locator('input[type=password]').fill(person.password);
  await button(page).click();
  await arrived(page, 'first');
  await button(other).click();
  await arrived(other, 'second');
  await context.close();
  expect(offences).toEqual([]);
});

test('a double click signs in', async () => {
  const { page, context, offences } = await open();
  await toPassword(page, first);
  await button(page).dblclick({ noWaitAfter: true });
  await arrived(page, 'first');
  await context.close();
  expect(offences).toEqual([]);
});

test('back after the end shows the way to the app', async () => {
  const { page, context } = await open();
  await toPassword(page, first);
  await button(page).click();
  await arrived(page, 'first');
  await page.goBack();
  await page.getByText('This sign-in has ended').first().waitFor();
  expect(await page.getByRole('link', { name: 'Back to boards.example' }).getAttribute('href')).toBe(
    'https://boards.example/',
  );
  await context.close();
});
