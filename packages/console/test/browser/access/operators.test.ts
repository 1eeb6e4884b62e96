import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailedToken } from '../../../../../scripts/service.ts';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { clientOf, setUpConsole, signedIn, type ConsoleSetup } from '../../support/console.ts';

/** What an operator of the installation sees and does: each act has its reason, and the user gets a notice. */
let setup: ConsoleSetup;
const scope = { tenant: 'installation', id: '00000000-0000-0000-0000-000000000000' } as const;
const vera = { name: 'Vera', email: 'vera@example.com', password: 'a long enough password' };
const reason = 'Ticket 4711: asked for it on the phone';

beforeAll(async () => {
  setup = await setUpConsole({ OPERATORS: 'demo@localhost' });
  const api = clientOf(setup.service.base);
  await api.register({
    provider: 'email',
    providerId: vera.email,
    name: vera.name,
    providerData: { password: vera.password },
  } as never);
  await api.verifyEmail({ token: await mailedToken(setup.service.mailDir, vera.email) });
}, 180_000);
afterAll(() => setup?.close());

const open = (page: string, who = setup.demo) =>
  signedIn({ ...setup, demo: who }, `/console/installation/${scope.id}/${page}`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens Vera, and does something to her with a reason. */
async function act(page: Page, label: string): Promise<void> {
  await page.getByRole('dialog', { name: 'Vera' }).getByRole('button', { name: label, exact: true }).click();
  const form = page.getByRole('dialog', { name: `${label}: Vera` });
  await form.getByRole('button', { name: label, exact: true }).click();
  await form.getByText('This is needed.').waitFor();
  await form.getByLabel('Reason').fill('short');
  await form.getByRole('button', { name: label, exact: true }).click();
  await form.getByText('Write 10 to 500 characters.').waitFor();
  await form.getByLabel('Reason').fill(reason);
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await form.getByRole('button', { name: label, exact: true }).click();
  await form.waitFor({ state: 'detached' });
}

test('a user is found, suspended and reactivated, with a reason that the audit log keeps', async () => {
  const { page, context, offences } = await open('users');
  await page.getByRole('searchbox').fill('vera@example.com');
  await page.getByRole('link', { name: 'Vera' }).click();
  await page.getByText('E-mail: vera@example.com').waitFor();
  await act(page, 'Suspend');
  await page.getByRole('dialog', { name: 'Vera' }).getByText('suspended').waitFor();
  const signIn = () =>
    clientOf(setup.service.base).login({
      provider: 'email',
      providerId: vera.email,
      providerData: { password: vera.password },
    });
  await expect(signIn()).rejects.toMatchObject({ status: 401 });
  await act(page, 'Reactivate');
  await page.getByRole('dialog', { name: 'Vera' }).getByText('active', { exact: true }).waitFor();
  expect(await signIn()).toHaveProperty('accessToken');

  await page.goto(`${setup.service.base}/console/installation/${scope.id}/audit`);
  await page.getByRole('link', { name: 'suspendUser' }).click();
  await page.getByRole('dialog').locator('details summary').click();
  await page.getByText(reason).waitFor();
  expect(offences).toEqual([]);
  await context.close();
});

test('an operator is made and removed; that of the configuration stays', async () => {
  const { page, context } = await open('operators');
  await page.getByText('the configuration').waitFor();
  await button(page, 'New operator').click();
  const form = page.getByRole('dialog', { name: 'New operator' });
  await form.getByLabel('E-mail address').fill(vera.email);
  await form.getByLabel('Installation Support').check();
  await form.getByLabel('Reason').fill(reason);
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('link', { name: 'Vera' }).waitFor();
  expect(await violations(page, '#content')).toEqual([]);

  // Support sees the users, and is not offered what it may not do.
  const support = await open('users', { ...setup.demo, ...vera });
  await support.page.getByRole('link', { name: 'Demo' }).click();
  const panel = support.page.getByRole('dialog', { name: 'Demo' });
  await panel.getByRole('button', { name: 'End sessions' }).waitFor();
  expect(await panel.getByRole('button', { name: 'Suspend' }).count()).toBe(0);
  expect(await support.page.locator('#pages').getByText('Audit log').count()).toBe(0);
  await support.context.close();

  await page.getByRole('link', { name: 'Vera' }).click();
  await act(page, 'Remove');
  await page.goto(`${setup.service.base}/console/installation/${scope.id}/operators`);
  await page.getByText('the configuration').waitFor();
  expect(await page.getByRole('link', { name: 'Vera' }).count()).toBe(0);
  await context.close();
});

test('who is no operator is shown nothing of it', async () => {
  const { page, context } = await open('users', { ...setup.demo, ...vera });
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  expect(await page.locator('#content').textContent()).not.toContain('demo@localhost');
  await page.goto(`${setup.service.base}/console/`);
  await page.locator('#content .cards').first().waitFor();
  expect(await page.locator('#content').getByText('Installation').count()).toBe(0);
  await context.close();
});

test('an organization is suspended and reactivated, with a reason', async () => {
  const { page, context, offences } = await open('organizations');
  const row = page.locator('#content tbody a').first();
  const name = (await row.textContent()) ?? '';
  await row.click();
  const panel = page.getByRole('dialog', { name, exact: true });
  for (const [label, status] of [
    ['Suspend', 'suspended'],
    ['Reactivate', 'active'],
  ] as const) {
    await panel.getByRole('button', { name: label, exact: true }).click();
    const form = page.getByRole('dialog', { name: `${label}: ${name}` });
    await form.getByLabel('Reason').fill(reason);
    await form.getByRole('button', { name: label, exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await panel.getByText(status, { exact: true }).waitFor();
  }
  expect(offences).toEqual([]);
  await context.close();
});

test('the audit log of the installation is downloaded', async () => {
  const { page, context } = await open('audit');
  await page.getByRole('link', { name: 'suspendOrganization' }).first().waitFor();
  const downloading = page.waitForEvent('download');
  await button(page, 'ndjson').click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe(`audit-installation-${scope.id}.ndjson`);
  expect(await readFile(await download.path(), 'utf8')).toContain('"operation":"suspendOrganization"');
  await context.close();
});

test('acting for a user is shown in every tab, and ended', async () => {
  const { page, context, offences } = await open('users');
  await page.getByRole('link', { name: 'Vera' }).click();
  await act(page, 'Act for them');
  const secret = page.locator('dialog[open]').last();
  const token = await secret.getByText(/^eyJ/).textContent();
  await page.keyboard.press('Escape');
  await page.goto(`${setup.service.base}/console/installation/${scope.id}/overview`);
  const banner = page.locator('.banner').filter({ hasText: 'Your token acts for Vera' });
  await banner.waitFor();
  expect(await violations(page, '.banner')).toEqual([]);
  const me = () =>
    fetch(`${setup.service.base}/api/me`, { headers: { authorization: `Bearer ${token}` } }).then(
      ({ status }) => status,
    );
  expect(await me()).toBe(200);
  await banner.getByRole('button', { name: 'End' }).click();
  await banner.waitFor({ state: 'detached' });
  expect(await me()).toBe(401);
  expect(offences).toEqual([]);
  await context.close();
});
