import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { photograph } from '../../../../server/test/browser/watched.ts';
import { setUpConsole, signedIn, type ConsoleSetup } from '../../support/console.ts';

/** What apps and organizations add to pages and mails, in the console. */
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

/** Ground, ink and edge of an element, as the browser paints them. */
const paint = (page: Page, selector: string, index = 0): Promise<readonly string[]> =>
  page.evaluate(`(() => {
    const { backgroundColor, color, borderTopColor } = getComputedStyle(document.querySelectorAll('${selector}')[${index}]);
    return [backgroundColor, color, borderTopColor];
  })()`);
const isWide = 'document.documentElement.scrollWidth > innerWidth';

test('the preview of an app has the colours of its sign-in page, while they are typed', async () => {
  const { scope } = setup.demo.key;
  const { page, context, offences } = await signedIn(setup, `${setup.project}/apps`);
  await page.getByRole('link', { name: 'Bookshop' }).click();
  await form(page).getByRole('button', { name: 'Edit', exact: true }).click();
  const colour = form(page).getByLabel('Colour of the sign-in pages');
  await colour.fill('#ffd40');
  await form(page).getByRole('button', { name: 'Save', exact: true }).click();
  await form(page).getByRole('alert').filter({ hasText: 'six digits' }).waitFor();
  await colour.fill('#FFD400');
  await form(page).getByRole('alert').waitFor({ state: 'detached' });
  const shown = [await paint(page, '.preview-button'), await paint(page, '.preview-button', 1)];
  const cards = [await paint(page, '.preview-card'), await paint(page, '.preview-card', 1)];
  expect(await violations(page, 'dialog')).toEqual([]);
  await colour.scrollIntoViewIfNeeded();
  await photograph(page, 'console-app-preview');
  await form(page).getByRole('button', { name: 'Save', exact: true }).click();
  await form(page).getByText('#ffd400').waitFor();
  expect((await setup.api.projectApp({ scope, id })).primaryColor).toBe('#ffd400');

  const address = await form(page).getByRole('link', { name: 'Open the sign-in page' }).getAttribute('href');
  for (const [index, colorScheme] of (['light', 'dark'] as const).entries()) {
    await page.emulateMedia({ colorScheme });
    await page.goto(address ?? '');
    expect(await paint(page, 'form button'), colorScheme).toEqual(shown[index]);
    expect((await paint(page, 'main.card')).slice(0, 2), colorScheme).toEqual(cards[index]?.slice(0, 2));
  }
  await context.close();
  expect(offences).toEqual([]);
});

test('an organization gets a logo and a colour, by keyboard too', async () => {
  const [organization = ''] = setup.demo.key.scope.id.split(':');
  const scope = { tenant: 'organization', id: organization } as const;
  const { page, context, offences } = await signedIn(setup, `/console/organization/${organization}/overview`);
  const upload = page.getByLabel('Upload a logo');
  await upload.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('<svg/>') });
  await page.getByRole('alert').first().waitFor();
  await upload.setInputFiles({ name: 'logo.gif', mimeType: 'image/gif', buffer: gif });
  await page.getByRole('button', { name: 'Remove the logo' }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter');
  const colour = form(page).getByLabel('Colour of invitations');
  await colour.focus();
  await page.keyboard.type('#0A7D55');
  const preview = form(page).getByRole('img', { name: 'Preview of an invitation by mail' });
  await preview.waitFor();
  expect(await paint(page, 'dialog .preview-button')).toEqual([
    'rgb(10, 125, 85)',
    'rgb(255, 255, 255)',
    'rgb(10, 125, 85)',
  ]);
  await photograph(page, 'console-organization-colour');
  await page.keyboard.press('Enter');
  await page.getByText('#0a7d55').waitFor();
  const { primaryColor, logoUrl } = await setup.api.organization({ scope, id: organization });
  expect([primaryColor, logoUrl]).toEqual(['#0a7d55', expect.stringContaining('/api/pictures/')]);

  const choice = page.getByRole('img', { name: 'Preview of the choice of an organization, dark' });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).toEqual([]);
    await choice.scrollIntoViewIfNeeded();
    await photograph(page, `console-organization-branding-${colorScheme}`);
  }
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await page.evaluate(isWide)).toBe(false);
  await choice.scrollIntoViewIfNeeded();
  await photograph(page, 'console-organization-branding-phone');
  await page.getByRole('button', { name: 'Remove the logo' }).press('Enter');
  await page.getByRole('button', { name: 'Remove the logo' }).waitFor({ state: 'detached' });
  expect((await setup.api.organization({ scope, id: organization })).logoUrl).toBeNull();
  await context.close();
  expect(offences.filter((offence) => !/\/logo|40[05]|415/.test(offence))).toEqual([]);
});

test('a logo of another site is not loaded, and the preview says so', async () => {
  const redirectUris = ['https://lanterns.example/callback'];
  const logoUrl = 'https://lanterns.example/logo.png';
  await setup.api.createProjectApp({ scope: setup.demo.key.scope, name: 'Lanterns', redirectUris, logoUrl });
  const { page, context, offences } = await signedIn(setup, `${setup.project}/apps`);
  await page.getByRole('link', { name: 'Lanterns' }).click();
  await form(page).getByText('The logo is on another site').waitFor();
  expect(await form(page).locator('img').count()).toBe(0);
  await context.close();
  expect(offences).toEqual([]);
});

test('your own picture is chosen and removed the same way', async () => {
  const { page, context, offences } = await signedIn(setup, '/console/me/profile');
  const section = page.locator('section').filter({ hasText: 'New picture' });
  await section
    .getByLabel('New picture')
    .setInputFiles({ name: 'me.gif', mimeType: 'image/gif', buffer: gif });
  await section.getByRole('img', { name: 'Your picture' }).waitFor();
  expect(JSON.stringify(await setup.api.me({}))).toContain('/api/pictures/');
  await section.locator('button').press('Enter');
  await section.getByRole('img').waitFor({ state: 'detached' });
  expect(JSON.stringify(await setup.api.me({}))).not.toContain('/api/pictures/');
  await context.close();
  expect(offences).toEqual([]);
});
