import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Watched } from '../../../server/test/browser/watched.ts';
import { goTo, setUpConsole, signedIn, visit, type ConsoleSetup } from '../support/console.ts';

/** What forms and dialogs keep, say and ask. */
let setup: ConsoleSetup;
let view: Watched;
let page: Page;
let organization: { readonly tenant: 'organization'; readonly id: string };

beforeAll(async () => {
  setup = await setUpConsole();
  const [id = ''] = setup.demo.key.scope.id.split(':');
  organization = { tenant: 'organization', id };
  view = await signedIn(setup, `${setup.project}/roles`);
  ({ page } = view);
}, 180_000);
afterAll(() => setup?.close());

/** Each test begins with a list, and without a dialog. */
beforeEach(async () => {
  await visit(page, `${setup.project}/roles`);
  await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor();
  await expect.poll(() => page.locator('dialog').count()).toBe(0);
});

const link = (name: string) => page.getByRole('link', { name, exact: true });
const button = (name: string) => page.getByRole('button', { name, exact: true });

test('the question about unsaved changes keeps what was typed, even half of some JSON', async () => {
  await button('New role').click();
  await page.getByLabel('Metadata').fill('{"team": ');
  await button('Cancel').click();
  await page.getByText('Your changes are not saved.').waitFor();
  await button('Continue editing').click();
  expect(await page.getByLabel('Metadata').inputValue()).toBe('{"team": ');
  // Escape asks too, and a second one goes back to the form.
  await page.keyboard.press('Escape');
  await page.getByText('Your changes are not saved.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Your changes are not saved.').waitFor({ state: 'detached' });
  expect(await page.getByLabel('Metadata').inputValue()).toBe('{"team": ');
  await button('Cancel').click();
  await button('Discard changes').click();
});

test('a result is said where a screen reader can read it: in the dialog that is open', async () => {
  await page.getByRole('link', { name: 'Invoice reader' }).click();
  const panel = page.getByRole('dialog', { name: 'Invoice reader' });
  await view.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await panel.getByRole('button', { name: 'Copy id' }).click();
  await panel.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
  // The region of the page takes the text over, for as long as it is shown.
  const below = page.locator('.frame > [role=status]').filter({ hasText: 'Copied' }).waitFor();
  await page.keyboard.press('Escape');
  await below;
});

test('the tab is called as its page and its scope', async () => {
  await expect.poll(() => page.title()).toBe('Roles – Bookshop – Doorward');
  await visit(page, '/console/me/sessions');
  await expect.poll(() => page.title()).toBe('Sessions – Doorward');
  await visit(page, '/console/account/x');
  await expect.poll(() => page.title()).toBe('Not found – Doorward');
});

test('an empty choice says that there is nothing to choose', async () => {
  await visit(page, `${setup.project}/resources`);
  await button('New resource').click();
  await page.getByRole('group', { name: 'Tags' }).getByText('There is nothing to choose from yet.').waitFor();
  await page.keyboard.press('Escape');
});

test('the own row of a member offers no change of the role', async () => {
  const { user } = await setup.api.me({});
  await visit(page, `/console/organization/${organization.id}/members/${user.id}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).waitFor();
  expect(await page.getByRole('dialog').getByRole('button', { name: 'Edit' }).count()).toBe(0);
  await page.keyboard.press('Escape');
});

test('words of the API are shown in the language of the user', async () => {
  await setup.api.createUser({ scope: setup.demo.key.scope, name: 'Grace' });
  await page.evaluate(`localStorage.setItem('doorward.console.language', 'de')`);
  await page.goto(`${setup.service.base}${setup.project}/users`);
  expect(await page.locator('tbody tr', { hasText: 'Grace' }).innerText()).toContain('aktiv, verwaltet');
  // Roles belong to a place and not to the user: the time is not that of their last change.
  await page.getByRole('columnheader', { name: 'Profil geändert' }).waitFor();
  await visit(page, `${setup.project}/roles`);
  await page
    .locator('tbody tr', { hasText: 'Invoice reader' })
    .getByText('Projekt', { exact: true })
    .waitFor();
  await page.evaluate(`localStorage.removeItem('doorward.console.language')`);
  await page.goto(`${setup.service.base}${setup.project}/roles`);
});

test('a demand that the user declines is not made again for the other addresses', async () => {
  const path = '/api/organization-invitations/invite';
  let calls = 0;
  await page.route(`**${path}`, async (route) => {
    calls++;
    return route.fulfill({
      status: 403,
      contentType: 'application/json',
      body: JSON.stringify({ error: 'Sign in again first.', code: 'STEP_UP_REQUIRED', requestId: 'x' }),
    });
  });
  await visit(page, `/console/organization/${organization.id}/invitations`);
  await button('Invite people').click();
  const form = page.getByRole('dialog', { name: 'Invite people' });
  await form.getByRole('textbox').first().fill('one@example.com\ntwo@example.com\nthree@example.com');
  await form.getByLabel('Organization Viewer').click();
  await form.getByRole('button', { name: 'Invite', exact: true }).click();
  const demand = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await demand.getByRole('button', { name: 'Close' }).click();
  await form.getByText('Sign in again first.').waitFor();
  await expect.poll(() => form.getByRole('button', { name: 'Invite', exact: true }).isEnabled()).toBe(true);
  expect(calls).toBe(1);
  expect(await form.getByRole('textbox').first().inputValue()).toContain('three@example.com');
  await page.unroute(`**${path}`);
  await form.getByRole('button', { name: 'Close' }).last().click();
});

test('a rename is shown at once; refused, it is put back, and the form says why', async () => {
  const { scope } = setup.demo.key;
  const { id } = await setup.api.createTag({ scope, name: 'Pilot' });
  await visit(page, `${setup.project}/tags/${id}`);
  let release = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(`**/api/tags/${id}*`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback();
    await waiting;
    return route.fulfill({
      status: 409,
      contentType: 'application/json',
      body: JSON.stringify({ error: 'This name is taken.', code: 'CONFLICT', requestId: 'x' }),
    });
  });
  await page.locator('tbody').getByRole('link', { name: 'Pilot', includeHidden: true }).waitFor();
  await button('Edit').click();
  await page.getByLabel('Name', { exact: true }).fill('Trial');
  await button('Save').click();
  // The service has not answered yet.
  await page.getByRole('dialog', { name: 'Trial' }).waitFor();
  await page.locator('tbody').getByRole('link', { name: 'Trial', includeHidden: true }).waitFor();
  release();
  const form = page.getByRole('dialog', { name: 'Pilot' });
  await form.getByText('This name is taken.', { exact: true }).waitFor();
  expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Trial');
  await page.locator('tbody').getByRole('link', { name: 'Pilot', includeHidden: true }).waitFor();
  await page.unroute(`**/api/tags/${id}*`);
  await form.getByLabel('Name', { exact: true }).fill('Trial run');
  await button('Save').click();
  await expect.poll(async () => (await setup.api.tag({ scope, id })).name).toBe('Trial run');
  await page.getByRole('dialog', { name: 'Trial run' }).waitFor();
  await page.keyboard.press('Escape');
});

test('a question about rights carries the revision of the last change', async () => {
  const { scope } = setup.demo.key;
  await visit(page, `${setup.project}/tags`);
  await page.getByRole('button', { name: 'New tag' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Revision');
  const revisions: (string | null)[] = [];
  const note = (request: Request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/api/me/permissions') revisions.push(searchParams.get('minRevision'));
  };
  page.on('request', note);
  const changed = page.waitForResponse(
    (response) => response.request().method() === 'POST' && new URL(response.url()).pathname === '/api/tags',
  );
  await button('Create').click();
  const revision = (await changed).headers()['x-doorward-revision'] ?? '';
  expect(revision).toMatch(/./);
  await expect.poll(() => revisions).toContain(revision);
  page.off('request', note);
  expect((await setup.api.tags({ scope, search: 'Revision' })).totalCount).toBe(1);
});

test('make a webhook: all that is wrong with its address stands at the field at once', async () => {
  await link('Webhooks').click();
  await button('New webhook').click();
  const form = page.getByRole('dialog');
  const address = form.getByLabel('Address', { exact: true });
  await form.getByText('a public https address such as https://hooks.example.com/doorward').waitFor();
  await form.getByLabel('* (all events)').click();
  await address.fill('ftp://user:word@10.0.0.1:22/hooks');
  await button('Create').click();
  const problem = form.getByRole('alert');
  await problem.waitFor();
  expect(await problem.textContent()).toMatch(/https.*password.*port 443.*public/i);
  expect(await address.getAttribute('aria-invalid')).toBe('true');
  await address.fill('hooks.example.com');
  await button('Create').click();
  await form.getByText('Write the whole address').waitFor();
  await address.fill('https://hooks.example/new');
  await button('Create').click();
  const secret = page.getByRole('dialog', { name: 'Your secret' });
  await secret.waitFor();
  await button('Download').click();
  await button('I have stored it').click();
  await secret.waitFor({ state: 'detached' });
});

test('choose the permissions of a role: one’s own first, the built-in ones folded and found by search', async () => {
  await page.getByRole('link', { name: 'Invoice reader' }).click();
  await button('Edit').click();
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
  await groups.locator('summary').click();
  expect(await groups.getByRole('checkbox').count()).toBeGreaterThan(20);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Close' }).click();
});

/** Presses the key that moves the focus until it is on a control. */
async function tabTo(name: string): Promise<void> {
  const focused = page.locator(':focus');
  const control = page.locator(':focus').and(page.getByLabel(name, { exact: true }));
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab');
    if ((await focused.count()) === 0) continue;
    if ((await focused.innerText()).trim() === name || (await control.count()) > 0) return;
  }
  throw new Error(`the focus never came to ${name}`);
}

test('reach everything, and give a role, with the keyboard', async () => {
  await setup.api.createUser({ scope: setup.demo.key.scope, name: 'Radia' });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('lantern');
  await page.getByRole('option', { name: 'Lantern Books', exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Lantern Books', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('bookshop');
  await page.getByRole('option', { name: /Bookshop$/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Bookshop', level: 1 }).waitFor();
  await goTo(page, 'r', 'Roles');
  await link('Invoice reader').focus();
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('dialog', { name: 'Invoice reader' });
  await panel.waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });

  await goTo(page, 'u', 'Users');
  await link('Radia').waitFor();
  await tabTo('Radia');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Radia' }).getByRole('button', { name: 'Edit' }).waitFor();
  await tabTo('Edit');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('Invoice reader').waitFor();
  await tabTo('Invoice reader');
  await page.keyboard.press('Space');
  await tabTo('Show what changes');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'What this changes' }).getByText('Radia').waitFor();
  await tabTo('Save');
  await page.keyboard.press('Enter');
  await page.locator('tbody tr', { hasText: 'Radia' }).getByText('Invoice reader').waitFor();
  // The focus is where it was before the dialogs.
  await expect.poll(() => page.locator(':focus').innerText()).toBe('Radia');
});

/** The text or label of what has the focus. */
const focused = () =>
  page.evaluate(
    'document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? null',
  );

test('the focus returns to where it was when a dialog closes', async () => {
  await button('New role').press('Enter');
  await page.getByRole('dialog', { name: 'New role' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(focused).toBe('New role');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill('rol');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('dialog').count()).toBe(0);
  expect(await focused()).toBe('New role');
});

test('arrow keys move between the rows of a choice of one, and Tab leaves it', async () => {
  await visit(page, `${setup.project}/permissions`);
  await button('New permission').click();
  const rows = page.getByRole('group', { name: 'Resource' }).getByRole('radio');
  await rows.first().check();
  await page.keyboard.press('ArrowDown');
  expect(await rows.nth(1).isChecked()).toBe(true);
  expect(await rows.first().isChecked()).toBe(false);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement?.type')).not.toBe('radio');
  await page.keyboard.press('Escape');
  await button('Discard changes').click();
});

test('the choice of columns closes with Escape and by a click elsewhere, not by one inside', async () => {
  const menu = page.locator('.column-choice');
  const isOpen = async () => (await menu.getAttribute('open')) !== null;
  await menu.locator('summary').click();
  await menu.getByText('Description').click();
  expect(await isOpen()).toBe(true);
  expect(await menu.getByLabel('Description').isChecked()).toBe(false);
  await menu.getByText('Description').click();
  await page.keyboard.press('Escape');
  expect(await isOpen()).toBe(false);
  await menu.locator('summary').click();
  await page.getByRole('heading', { name: 'Roles', level: 1 }).click();
  await expect.poll(isOpen).toBe(false);
});

test('a form shows what a row has, although a hundred newer rows exist', async () => {
  const { scope } = setup.demo.key;
  const old = await setup.api.createTag({ scope, name: 'the oldest', color: 'teal' });
  const tagged = { name: 'Tagged', slug: 'tagged', actions: ['read'], tagIds: [old.id] };
  await setup.api.createResource({ scope, ...tagged });
  for (let n = 0; n < 100; n++) await setup.api.createTag({ scope, name: `newer ${n}`, color: 'teal' });
  await page.goto(`${setup.service.base}${setup.project}/resources`);
  await link('Tagged').click();
  await page.getByRole('dialog', { name: 'Tagged' }).getByRole('button', { name: 'Edit' }).click();
  const tags = page.getByRole('group', { name: 'Tags' });
  await tags.getByLabel('the oldest').waitFor();
  await tags.getByText('Up to 100 are listed.').waitFor();
  // Above the others.
  expect(await tags.getByRole('checkbox').first().isChecked()).toBe(true);
  expect(await tags.getByLabel('the oldest').isChecked()).toBe(true);
  await page.keyboard.press('Escape');
});

test('a page reads the projects of its own owner only', async () => {
  const { accounts } = await setup.api.me({});
  const scope = { tenant: 'account' as const, id: accounts[0]?.id ?? '' };
  for (const name of ['North', 'South', 'East']) await setup.api.createOrganization({ scope, name });
  const asked: string[] = [];
  const note = (request: Request): void => void asked.push(new URL(request.url()).pathname);
  page.on('request', note);
  await page.goto(`${setup.service.base}${setup.project}/tags`);
  await page.locator('tbody tr').first().waitFor();
  await page.waitForLoadState('networkidle');
  page.off('request', note);
  expect(asked.filter((path) => path === '/api/projects')).toHaveLength(1);
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: /East/ }).waitFor();
  await page.keyboard.press('Escape');
});
