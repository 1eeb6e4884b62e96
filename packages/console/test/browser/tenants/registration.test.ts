import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { photograph } from '../../../../server/test/browser/watched.ts';
import { setUpConsole, signedIn, visit, type ConsoleSetup } from '../../support/console.ts';

/** Dynamic registration in the console: the settings of a project, and the mark of apps that came by it. */
let setup: ConsoleSetup;

beforeAll(async () => {
  setup = await setUpConsole({ OIDC_DYNAMIC_REGISTRATION: 'true' });
}, 180_000);
afterAll(() => setup?.close());

const projectId = (): string => setup.demo.key.scope.id.split(':')[1] ?? '';
const read = () => setup.api.project({ scope: setup.demo.key.scope, id: projectId() });

async function register(name: string): Promise<void> {
  const { api, demo, service } = setup;
  const { scope } = demo.key;
  const { clientId, clientSecret } = await api.createApiKey({ scope });
  const { accessToken } = await api.exchangeApiKey({ clientId, clientSecret: clientSecret ?? '', scope });
  const answer = await fetch(`${service.base}/api/auth/project/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: name, redirect_uris: ['http://127.0.0.1/callback'] }),
  });
  expect(answer.status).toBe(201);
}

const form = (page: Page) => page.getByRole('dialog');

test('the owner turns registration on, says what registered apps may request, and finds that in the next form', async () => {
  const { page, context, offences } = await signedIn(setup, `${setup.project}/overview`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  expect(await form(page).getByLabel('Permissions of registered apps').count()).toBe(0);
  await form(page).getByLabel('Clients that register themselves').selectOption('token');
  await form(page).getByLabel('Permissions of registered apps').fill('invoice:read');
  await form(page).getByLabel('Resource servers of registered apps').fill('https://api.bookshop.example');
  expect(await violations(page, 'dialog')).toEqual([]);
  await photograph(page, 'console-registration-settings');
  // However late the page reads what was saved, the next form begins with it.
  let isSaved = false;
  await page.route(`**/api/projects/${projectId()}*`, async (route) => {
    const response = await route.fetch();
    if (route.request().method() === 'PATCH') isSaved = true;
    else if (isSaved) await page.waitForTimeout(1000);
    await route.fulfill({ response });
  });
  await form(page).getByRole('button', { name: 'Save', exact: true }).click();
  await form(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const registered = form(page).getByLabel('Permissions of registered apps');
  expect(await registered.inputValue()).toBe('invoice:read');
  await page.unrouteAll({ behavior: 'wait' });
  expect(await read()).toMatchObject({
    dynamicRegistration: 'token',
    registrableScopes: ['invoice:read'],
    registrableResources: ['https://api.bookshop.example'],
  });

  await registered.fill('invoice:nothing');
  await form(page).getByRole('button', { name: 'Save', exact: true }).click();
  await form(page).getByRole('alert').first().waitFor();
  expect((await read()).registrableScopes).toEqual(['invoice:read']);
  await context.close();
  expect(offences).toEqual([]);
});

test('the list marks registered apps among those that people created', async () => {
  const { api, demo } = setup;
  const { scope } = demo.key;
  for (const name of ['Bookshop', 'Warehouse'])
    await api.createProjectApp({
      scope,
      name,
      redirectUris: [`https://${name.toLowerCase()}.example/callback`],
    });
  await api.updateProject({ scope, id: projectId(), dynamicRegistration: 'token' });
  await register('Notes for Ada');

  const looks = {
    light: { viewport: { width: 1360, height: 900 } },
    dark: { viewport: { width: 1360, height: 900 }, colorScheme: 'dark' },
    phone: { viewport: { width: 360, height: 720 } },
  } as const;
  for (const [name, look] of Object.entries(looks)) {
    const { page, context, offences } = await signedIn(setup, `${setup.project}/apps`, look);
    const row = (app: string) => page.getByRole('row').filter({ hasText: app });
    await row('Notes for Ada').getByText('registered', { exact: true }).waitFor();
    for (const app of ['Bookshop', 'Warehouse'])
      expect(await row(app).getByText('registered', { exact: true }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await photograph(page, `console-apps-${name}`);

    await page.getByRole('link', { name: 'Notes for Ada' }).click();
    await form(page).getByText('A client made this app by itself').waitFor();
    expect(await violations(page)).toEqual([]);
    await photograph(page, `console-registered-app-${name}`);
    await form(page).getByRole('button', { name: 'Edit', exact: true }).click();
    await form(page).getByLabel('Allowed origins').waitFor();
    expect(await form(page).getByLabel('App of your own').count()).toBe(0);
    await page.keyboard.press('Escape');
    await visit(page, `${setup.project}/apps`);
    await context.close();
    expect(offences, name).toEqual([]);
  }
});
