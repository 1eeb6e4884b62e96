import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Watched } from '../../../server/test/browser/watched.ts';
import { setUpConsole, signedIn, type ConsoleSetup } from '../support/console.ts';

/**
 * What people come for, from the overview of a project, each with few clicks. Fields that are filled count no click; the
 * numbers are printed.
 */
const MOST_CLICKS = 8;
let setup: ConsoleSetup;
let receiver: Server;
let refusing = true;
const deliveries: string[] = [];
let view: Watched;
let page: Page;
let clicks = 0;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    deliveries.push(String(request.headers['webhook-id']));
    request.resume().on('end', () => response.writeHead(refusing ? 500 : 204).end());
  }).listen(0, '127.0.0.1');
  setup = await setUpConsole({ WEBHOOKS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8', WEBHOOKS_ALLOW_HTTP: 'true' });
}, 180_000);
afterAll(async () => {
  await setup?.close();
  receiver.close();
});
beforeEach(async () => {
  clicks = 0;
  view = await signedIn(setup, `${setup.project}/overview`);
  ({ page } = view);
  await page.getByRole('heading', { name: 'Bookshop', level: 1 }).waitFor();
});
afterEach(async ({ task }) => {
  process.stdout.write(`console: ${task.name}: ${clicks} clicks\n`);
  expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  expect(view.offences).toEqual([]);
  await view.context.close();
});

async function click(what: Locator): Promise<void> {
  clicks++;
  await what.click();
}
const link = (name: string) => page.getByRole('link', { name, exact: true });
async function choose(label: string, value: string): Promise<void> {
  clicks++;
  await page.getByLabel(label, { exact: true }).selectOption(value);
}
const button = (name: string) => page.getByRole('button', { name, exact: true });

test('make an organization', async () => {
  await click(link('Doorward'));
  await click(button('New organization'));
  await page.getByLabel('Name', { exact: true }).fill('Paper Moon');
  await click(button('Create'));
  await page.getByRole('link', { name: 'Paper Moon' }).first().waitFor();
});

test('invite somebody', async () => {
  await click(link('Doorward'));
  await click(page.locator('#content').getByRole('link', { name: 'Lantern Books', exact: true }));
  await click(link('Members'));
  await click(button('Invite people'));
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').first().fill('grace@example.com');
  await click(dialog.getByLabel('Organization Viewer'));
  await click(dialog.getByRole('button', { name: /^(?:Invite|Send)/ }));
  await dialog.getByText('grace@example.com: invited').waitFor();
  const invited = await setup.api.organizationInvitations({
    scope: { tenant: 'organization', id: setup.demo.key.scope.id.split(':')[0] ?? '' },
  });
  expect(invited.items.map(({ email }) => email)).toContain('grace@example.com');
});

test('see what a change of a role would do, and give the role to a user', async () => {
  const { scope } = setup.demo.key;
  const user = await setup.api.createUser({ scope, name: 'Ada' });
  await click(link('Users'));
  await click(link('Ada'));
  await click(button('Edit'));
  await click(page.getByRole('dialog').getByLabel('Invoice reader'));
  await click(button('Show what changes'));
  const impact = page.getByRole('region', { name: 'What this changes' });
  await impact.getByText('Ada').waitFor();
  expect(await impact.textContent()).toMatch(/Ada.*gains.*invoice:read/);
  expect((await setup.api.user({ scope, id: user.id, relations: ['roles'] })).roles).toEqual([]);
  await click(button('Save'));
  await page.getByRole('dialog', { name: 'Ada' }).getByText('Invoice reader').waitFor();
});

test('make a key, whose secret is shown once', async () => {
  await click(link('API keys'));
  await click(button('New key'));
  await page.getByLabel('Name', { exact: true }).fill('Nightly job');
  const form = page.getByRole('dialog');
  await click(form.getByLabel('Invoice reader'));
  const preview = form.getByRole('button', { name: 'Show what changes' });
  if (await preview.isVisible()) await click(preview);
  await click(form.getByRole('button', { name: 'Create', exact: true }));
  const secret = await page.getByRole('dialog', { name: 'Your secret' }).locator('pre').textContent();
  expect(secret).toContain('dwk_');
  expect(await button('I have stored it').isDisabled()).toBe(true);
  await view.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await click(button('Copy'));
  await click(button('I have stored it'));
  await link('Nightly job').waitFor();
  expect(await page.content()).not.toContain('dwk_');
});

test('find out why a check fails, and mend it', async () => {
  const { scope } = setup.demo.key;
  const { id } = await setup.api.createUser({ scope, name: 'Barbara' });
  await click(link('Why?'));
  await click(page.getByLabel('Barbara'));
  // Both lists count a click: none takes a word that does not exist here.
  await choose('Resource', 'invoice');
  await choose('Action', 'read');
  await click(button('Ask'));
  await page.getByText('They have no role here that gives a permission for this.').waitFor();
  const remedy = page.locator('section', { hasText: 'What would allow it' });
  expect(await remedy.textContent()).toContain('Invoice reader');
  await click(remedy.getByRole('link', { name: 'Give this role' }));
  expect(await page.getByRole('dialog').getByLabel('Invoice reader').isChecked()).toBe(true);
  expect((await setup.api.user({ scope, id, relations: ['roles'] })).roles).toEqual([]);
  await click(button('Show what changes'));
  await click(button('Save'));
  await button('Edit').waitFor();
  await page.getByRole('dialog', { name: 'Barbara' }).getByText('Invoice reader').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
});

test('replay a webhook', async () => {
  const { scope } = setup.demo.key;
  const { port } = receiver.address() as AddressInfo;
  const { id } = await setup.api.createWebhookSubscription({
    scope,
    url: `http://127.0.0.1:${port}/hooks`,
    eventTypes: ['role.*'],
  });
  await setup.api.testWebhookSubscription({ scope, id });
  await expect.poll(() => deliveries.length).toBeGreaterThan(0);
  const before = deliveries.length;
  refusing = false;
  await click(link('Webhooks'));
  await click(page.getByRole('link', { name: /127\.0\.0\.1/ }));
  const panel = page.getByRole('dialog');
  await panel.getByText('tried without success, will be tried again').waitFor();
  await click(button('Send again'));
  await expect.poll(() => deliveries.length).toBeGreaterThan(before);
  await panel.getByText('arrived', { exact: true }).waitFor();
  expect(await button('Send again').count()).toBe(0);
});

test('make a webhook: all that is wrong with its address stands at the field at once', async () => {
  await click(link('Webhooks'));
  await click(button('New webhook'));
  const form = page.getByRole('dialog');
  const address = form.getByLabel('Address', { exact: true });
  await form.getByText('a public https address such as https://hooks.example.com/doorward').waitFor();
  await click(form.getByLabel('* (all events)'));
  await address.fill('ftp://user:word@10.0.0.1:22/hooks');
  await click(button('Create'));
  const problem = form.getByRole('alert');
  await problem.waitFor();
  expect(await problem.textContent()).toMatch(/https.*password.*port 443.*public/i);
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await address.fill('hooks.example.com');
  await click(button('Create'));
  await form.getByText('Write the whole address').waitFor();
  const { port } = receiver.address() as AddressInfo;
  await address.fill(`http://127.0.0.1:${port}/new`);
  await click(button('Create'));
  await page.getByRole('dialog', { name: 'Your secret' }).waitFor();
});

test('choose the permissions of a role: one’s own first, the built-in ones folded and found by search', async () => {
  await click(link('Roles'));
  await click(link('Invoice reader'));
  await click(button('Edit'));
  const form = page.getByRole('dialog');
  const groups = form.getByRole('group', { name: 'Groups' });
  await groups.getByLabel('Invoice reading').waitFor();
  const builtIn = groups.locator('details');
  expect(await builtIn.getAttribute('open')).toBeNull();
  expect(await groups.getByRole('checkbox').count()).toBe(1);
  const name =
    (await setup.api.groups({ scope: setup.demo.key.scope, isSystem: true, limit: 1 })).items[0]?.name ?? '';
  await groups.getByRole('searchbox').fill(name);
  await groups.getByLabel(name, { exact: true }).waitFor();
  await groups.getByRole('searchbox').fill('');
  await click(groups.locator('summary'));
  expect(await groups.getByRole('checkbox').count()).toBeGreaterThan(20);
});

test('end another session', async () => {
  const other = await signedIn(setup, '/console/');
  await click(page.locator('.user-menu summary'));
  await click(page.locator('.menu-body').getByRole('link'));
  await click(link('Sessions'));
  await click(button('End all others'));
  await click(page.getByRole('dialog').getByRole('button', { name: /End/ }));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await other.page.reload();
  await other.page.locator('form.sign-in').waitFor();
  await other.context.close();
});

test('reach everything with the keyboard', async () => {
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
  await link('Invoice reader').focus();
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Invoice reader' });
  await panel.waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('lantern');
  await page.getByRole('option', { name: 'Lantern Books', exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Lantern Books', level: 1 }).waitFor();
  expect(clicks).toBe(0);
});
