import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../server/test/browser/accessibility.ts';
import { photograph } from '../../../server/test/browser/watched.ts';
import { setUpConsole, signedIn, type ConsoleSetup } from '../support/console.ts';

/** What an app adds to its pages and mails, in the console. */
let setup: ConsoleSetup;
let id: string;

beforeAll(async () => {
  setup = await setUpConsole();
  const redirectUris = ['https://bookshop.example/callback'];
  ({ id } = await setup.api.createProjectApp({
    scope: setup.demo.key.scope,
    name: 'Bookshop',
    redirectUris,
  }));
}, 180_000);
afterAll(() => setup?.close());

const read = () => setup.api.projectApp({ scope: setup.demo.key.scope, id });
const form = (page: Page) => page.getByRole('dialog');
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=', 'base64');

test('the owner uploads a logo, names the sender and writes texts, and learns what they may not hold', async () => {
  const { page, context, offences } = await signedIn(setup, `${setup.project}/apps`);
  await page.getByRole('link', { name: 'Bookshop' }).click();
  const upload = form(page).getByLabel('Upload a logo');
  await upload.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') });
  await form(page).getByRole('alert').first().waitFor();
  expect((await read()).logoUrl).toBeNull();
  await upload.setInputFiles({ name: 'logo.gif', mimeType: 'image/gif', buffer: gif });
  await form(page).getByRole('button', { name: 'Remove the logo' }).waitFor();
  expect((await read()).logoUrl).toContain('/api/pictures/');
  expect(await violations(page)).toEqual([]);
  await photograph(page, 'console-app-logo');

  await form(page).getByRole('button', { name: 'Edit', exact: true }).click();
  expect(await form(page).getByLabel('Address of the logo').count()).toBe(0);
  await form(page).getByLabel('Sender of its mails').fill('Bookshop <me@evil.example>');
  await form(page).getByRole('button', { name: 'Save', exact: true }).click();
  await form(page).getByRole('alert').first().waitFor();
  await form(page).getByLabel('Sender of its mails').fill('The Bookshop');
  const texts = [{ purpose: 'signInMail', language: 'en', subject: 'Welcome to {app}', text: 'Hello!' }];
  await form(page).getByLabel('Texts of pages and mails').fill(JSON.stringify(texts));
  expect(await violations(page, 'dialog')).toEqual([]);
  await photograph(page, 'console-app-branding');
  await form(page).getByRole('button', { name: 'Save', exact: true }).click();
  await form(page).getByText('signInMail (en)').waitFor();
  const { logoUrl, ...changed } = await read();
  expect(changed).toMatchObject({ senderName: 'The Bookshop', texts });
  expect(logoUrl).toContain('/api/pictures/');

  await form(page).getByRole('button', { name: 'Remove the logo' }).click();
  await form(page).getByRole('button', { name: 'Remove the logo' }).waitFor({ state: 'detached' });
  expect((await read()).logoUrl).toBeNull();
  await context.close();
  expect(offences.filter((offence) => !/\/logo|40[05]|415/.test(offence))).toEqual([]);
});
