import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { mailedToken } from '../../../../scripts/service.ts';
import type { Watched } from '../../../server/test/browser/watched.ts';
import { clientOf, setUpConsole, signedIn, type ConsoleSetup } from '../support/console.ts';

/**
 * What people come for, from the first page after the sign-in until the last dialog is closed, each with few clicks. Fields
 * that are filled count no click, a choice from a list counts one; the numbers are printed.
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
    request.resume().on('end', () => {
      response.writeHead(refusing ? 500 : 204).end();
      deliveries.push(String(request.headers['webhook-id']));
    });
  }).listen(0, '127.0.0.1');
  setup = await setUpConsole({
    OPERATORS: 'demo@localhost',
    WEBHOOKS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    WEBHOOKS_ALLOW_HTTP: 'true',
    // The person sends again before the service does.
    WEBHOOKS_RETRY_SCHEDULE_SECONDS: '3600',
  });
}, 180_000);
afterAll(async () => {
  await setup?.close();
  receiver.close();
});
beforeEach(async () => {
  clicks = 0;
  view = await signedIn(setup);
  ({ page } = view);
  await scope('Bookshop').waitFor();
});
afterEach(async ({ task }) => {
  // A form closes when the page has read its row again.
  await expect.poll(() => page.locator('dialog[open]').count()).toBe(0);
  process.stdout.write(`console: ${task.name}: ${clicks} clicks\n`);
  expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  expect(view.offences).toEqual([]);
  await view.context.close();
});

async function click(what: Locator): Promise<void> {
  clicks++;
  await what.click();
}
/** A card of the first page. */
const scope = (name: string) =>
  page.locator('#content .cards a').filter({ has: page.getByText(name, { exact: true }) });
const link = (name: string) => page.getByRole('link', { name, exact: true });
async function choose(label: string, value: string): Promise<void> {
  clicks++;
  await page.getByLabel(label, { exact: true }).selectOption(value);
}
const button = (name: string) => page.getByRole('button', { name, exact: true });
const organization = () => ({
  tenant: 'organization' as const,
  id: setup.demo.key.scope.id.split(':')[0] ?? '',
});
const rolesOf = async (id: string): Promise<string[] | undefined> =>
  (await setup.api.user({ scope: setup.demo.key.scope, id, relations: ['roles'] })).roles?.map(
    ({ name }) => name,
  );
/** What assistive technology says of a control beside its name. */
const descriptionOf = async (control: Locator): Promise<string | null> =>
  page.locator(`[id="${await control.getAttribute('aria-describedby')}"]`).textContent();

test('make an organization', async () => {
  await click(button('New organization'));
  await page.getByLabel('Name', { exact: true }).fill('Paper Moon');
  await click(button('Create'));
  await scope('Paper Moon').waitFor();
});

test('invite somebody', async () => {
  await click(scope('Lantern Books').last());
  await click(link('Members'));
  await click(button('Invite people'));
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').first().fill('grace@example.com');
  const viewer = dialog.getByRole('radio', { name: 'Organization Viewer', exact: true });
  expect(await descriptionOf(viewer)).toBe('Sees members, projects and roles, and changes nothing.');
  await click(viewer);
  await click(dialog.getByRole('button', { name: /^(?:Invite|Send)/ }));
  await dialog.getByText('grace@example.com: invited').waitFor();
  await click(dialog.getByRole('button', { name: 'Close' }).last());
  const invited = await setup.api.organizationInvitations({ scope: organization() });
  expect(invited.items.map(({ email }) => email)).toContain('grace@example.com');
});

test('give a role to a user', async () => {
  const user = await setup.api.createUser({ scope: setup.demo.key.scope, name: 'Ada' });
  await click(scope('Bookshop'));
  await click(link('Users'));
  await click(link('Ada'));
  await click(button('Edit'));
  const form = page.getByRole('dialog', { name: 'Ada' });
  // Its own role has no description: the groups that it holds say what it is for.
  const reader = form.getByRole('checkbox', { name: 'Invoice reader', exact: true });
  expect(await descriptionOf(reader)).toBe('Invoice reading');
  await click(reader);
  await form.getByText('Step 1 of 2: see who gains and loses what. “Save” comes after it.').waitFor();
  await click(button('Show what changes'));
  const impact = page.getByRole('region', { name: 'What this changes' });
  await impact.getByText('Ada').waitFor();
  expect(await impact.textContent()).toMatch(/Ada.*gains.*invoice:read/);
  await form.getByText('Step 2 of 2: nothing has changed yet. “Save” does what stands above.').waitFor();
  expect(await rolesOf(user.id)).toEqual([]);
  await click(button('Save'));
  // Back in the list, which shows it.
  await page.locator('tbody tr', { hasText: 'Ada' }).getByText('Invoice reader').waitFor();
  expect(await rolesOf(user.id)).toEqual(['Invoice reader']);
});

test('see what a change of a role would do, and leave it', async () => {
  const { scope: project } = setup.demo.key;
  const [reader] = (await setup.api.roles({ scope: project, search: 'Invoice reader' })).items;
  await setup.api.createUser({ scope: project, name: 'Edsger', roleIds: [reader?.id ?? ''] });
  await click(scope('Bookshop'));
  await click(link('Roles'));
  await click(link('Invoice reader'));
  await click(button('Edit'));
  await click(page.getByRole('dialog').getByLabel('Invoice reading'));
  await click(button('Show what changes'));
  const impact = page.getByRole('region', { name: 'What this changes' });
  await impact.getByText('Edsger').waitFor();
  expect(await impact.textContent()).toMatch(/Edsger.*loses.*invoice:read/);
  await click(button('Cancel'));
  await click(button('Discard changes'));
  await expect.poll(() => page.locator('dialog[open]').count()).toBe(0);
  const role = await setup.api.role({ scope: project, id: reader?.id ?? '', relations: ['groups'] });
  expect(role.groups?.map(({ name }) => name)).toEqual(['Invoice reading']);
});

test('make a key, which is shown once', async () => {
  await click(scope('Bookshop'));
  await click(link('API keys'));
  await click(button('New key'));
  await page.getByLabel('Name', { exact: true }).fill('Nightly job');
  const form = page.getByRole('dialog');
  await click(form.getByLabel('Invoice reader'));
  await click(form.getByRole('button', { name: 'Create', exact: true }));
  const secret = await page.getByRole('dialog', { name: 'Your API key' }).locator('pre').textContent();
  expect(secret).toContain('dwk_');
  expect(await button('I have stored it').isDisabled()).toBe(true);
  await view.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await click(button('Copy'));
  await click(button('I have stored it'));
  await link('Nightly job').waitFor();
  expect(await page.content()).not.toContain('dwk_');
});

test('find out why a check fails, and mend it', async () => {
  const { id } = await setup.api.createUser({ scope: setup.demo.key.scope, name: 'Barbara' });
  await click(scope('Bookshop'));
  await click(link('Why?'));
  await click(page.getByLabel('Barbara'));
  // Both lists count a click: none takes a word that does not exist here.
  await choose('Resource', 'invoice');
  await choose('Action', 'read');
  const attributes = page.getByLabel(/^Attributes/);
  await attributes.fill('{"amount": 100}');
  await click(button('Ask'));
  await page.getByText('They have no role here that gives a permission for this.').waitFor();
  const remedy = page.locator('section', { hasText: 'What would allow it' });
  expect(await remedy.textContent()).toMatch(/nothing changes until you save.*Invoice reader/);
  await click(remedy.getByRole('link', { name: 'Give this role' }));
  expect(await page.getByRole('dialog').getByLabel('Invoice reader').isChecked()).toBe(true);
  // The link proposes a change, so its preview is there without a question.
  const impact = page.getByRole('region', { name: 'What this changes' });
  await impact.getByText('Barbara').waitFor();
  expect(await impact.textContent()).toMatch(/Barbara.*gains.*invoice:read/);
  expect(await rolesOf(id)).toEqual([]);
  await click(button('Save'));
  // Back at the question, with what it was asked about and the new answer.
  await page.locator('.verdict.yes').getByText('Barbara may do this:').waitFor();
  expect(await attributes.inputValue()).toBe('{"amount": 100}');
  expect(await rolesOf(id)).toEqual(['Invoice reader']);
  expect(new URL(page.url()).searchParams.get('user')).toBe(id);
});

test('replay a webhook: what failed is seen and sent from the list, also after it has arrived', async () => {
  const { scope: project } = setup.demo.key;
  const { port } = receiver.address() as AddressInfo;
  const { id } = await setup.api.createWebhookSubscription({
    scope: project,
    url: `http://127.0.0.1:${port}/hooks`,
    eventTypes: ['role.*'],
  });
  await setup.api.testWebhookSubscription({ scope: project, id });
  await expect.poll(() => deliveries.length).toBeGreaterThan(0);
  const before = deliveries.length;
  refusing = false;
  await click(scope('Bookshop'));
  await click(link('Webhooks'));
  await click(page.getByRole('link', { name: /127\.0\.0\.1/ }));
  const panel = page.getByRole('dialog');
  await panel.getByText('tried without success, will be tried again').waitFor();
  await click(button('Send again'));
  await expect.poll(() => deliveries.length).toBeGreaterThan(before);
  await panel.getByText('arrived', { exact: true }).waitFor();
  const row = panel.locator('tbody tr');
  await row.getByText(/Attempt 1: 500, refused/).waitFor();
  const arrived = deliveries.length;
  await click(row.getByRole('button', { name: 'Send again', exact: true }));
  await expect.poll(() => deliveries.length).toBeGreaterThan(arrived);
  expect(new Set(deliveries.slice(before - 1)).size).toBe(1);
  await click(panel.getByRole('button', { name: 'Close' }).first());
  await panel.waitFor({ state: 'detached' });
});

test('end the sessions of somebody', async () => {
  const api = clientOf(setup.service.base);
  const vera = { email: 'vera@example.com', password: 'a long enough password' };
  await api.register({
    provider: 'email',
    providerId: vera.email,
    name: 'Vera',
    providerData: { password: vera.password },
  } as never);
  await api.verifyEmail({ token: await mailedToken(setup.service.mailDir, vera.email) });
  const other = await signedIn({ ...setup, demo: { ...setup.demo, ...vera } });
  await click(scope('Installation'));
  await click(link('Users'));
  await click(link('Vera'));
  await click(button('End sessions'));
  const form = page.getByRole('dialog', { name: 'End sessions: Vera' });
  await form.getByLabel('Reason').fill('Ticket 4711: lost the phone');
  await click(form.getByRole('button', { name: 'End sessions', exact: true }));
  await form.waitFor({ state: 'detached' });
  await click(page.getByRole('dialog', { name: 'Vera' }).getByRole('button', { name: 'Close' }));
  await other.page.reload();
  await other.page.locator('form.sign-in').waitFor();
  await other.context.close();
});

test('end one’s other sessions', async () => {
  const other = await signedIn(setup);
  await click(page.locator('.user-menu summary'));
  await click(page.locator('.menu-body').getByRole('link', { name: 'Sessions' }));
  const own = page.locator('tbody tr', { hasText: 'this one' });
  await own.getByText('now', { exact: true }).waitFor();
  await click(button('End all others'));
  await click(page.getByRole('dialog').getByRole('button', { name: /End/ }));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await other.page.reload();
  await other.page.locator('form.sign-in').waitFor();
  await other.context.close();
});
