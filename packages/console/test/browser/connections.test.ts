import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../server/test/browser/accessibility.ts';
import {
  clientSecret,
  startOpenidProvider,
  type OpenidDouble,
} from '../../../server/test/support/openid-provider.ts';
import { setUpConsole, signedIn, type ConsoleSetup } from '../support/console.ts';

/** The identity provider of an organization: connected in the console, tried, changed and deleted. */
const domain = 'company.example.org';
let setup: ConsoleSetup;
let provider: OpenidDouble;
let organization: string;
const scope = () => ({ tenant: 'organization' as const, id: organization });

beforeAll(async () => {
  provider = await startOpenidProvider();
  setup = await setUpConsole({ FEDERATION_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8' }, (database, { key }) => {
    organization = key.scope.id.split(':')[0] ?? '';
    return database.execute(sql`insert into organization_domains (id, tenant_id, domain, status, token, verified_at)
      values (${randomUUID()}::uuid, ${organization}::uuid, ${domain}, 'verified', 'seen', now())`);
  });
}, 180_000);
afterAll(async () => {
  await setup?.close();
  await provider?.close();
});

test('a connection is made, tested, changed and deleted', async () => {
  const { api, service } = setup;
  const view = await signedIn(setup, `/console/organization/${organization}/connections`, {
    viewport: { width: 360, height: 760 },
    colorScheme: 'dark',
  });
  const { page } = view;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const form = page.getByRole('dialog').last();
  const field = (name: string) => form.getByLabel(name, { exact: true });
  await page.getByText('There are no connections yet.').waitFor();
  expect(await violations(page, '#content')).toEqual([]);

  await button('Add a connection').first().click();
  await field('Name').fill('Company');
  await field('Issuer').fill('no address');
  await field('Client id').fill(String(provider.entry['clientId']));
  await field('Client secret').fill(clientSecret);
  expect(await field('Client secret').getAttribute('type')).toBe('password');
  await form.getByRole('checkbox', { name: domain }).check();
  await form.getByText('verified', { exact: true }).waitFor();
  await form.getByRole('radio', { name: 'Organization Viewer' }).check();
  expect(await form.getByRole('radio', { name: 'Organization Owner' }).count()).toBe(0);
  expect(await form.getByRole('checkbox', { name: /^Only through this provider/ }).count()).toBe(0);
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await button('Create').click();
  const noAddress = form.getByText('This is an address that begins with https://.');
  await noAddress.waitFor();
  await field('Issuer').fill('http://company.example.org');
  await button('Create').click();
  await noAddress.waitFor({ state: 'detached' });
  await form
    .locator('.field', { has: page.getByLabel('Issuer', { exact: true }) })
    .locator('.problem')
    .waitFor();
  await field('Issuer').fill(provider.issuer);
  await button('Create').click();

  await page.getByRole('link', { name: 'Company' }).click();
  const panel = page.getByRole('dialog', { name: 'Company' });
  const { items } = await api.organizationConnections({ scope: scope() });
  const made = items[0];
  await panel.getByText(`${service.base}${made?.callbackPath}`, { exact: true }).waitFor();
  await panel.getByText(`${domain} (verified)`).waitFor();
  expect(await violations(page, 'dialog[open]')).toEqual([]);

  await panel.getByRole('button', { name: 'Test', exact: true }).click();
  await panel.getByText('The provider answers as it should.').waitFor();
  provider.faults.set('/jwks', { status: 500 });
  await panel.getByRole('button', { name: 'Test', exact: true }).click();
  await panel.getByText('The keys of the provider could not be read.').waitFor();
  provider.faults.clear();

  await panel.getByRole('button', { name: 'Edit' }).click();
  expect(await field('Client secret').inputValue()).toBe('');
  const enforced = form.getByRole('checkbox', { name: /^Only through this provider/ });
  await enforced.check();
  await button('Save').click();
  // No person has signed in through it, so it could lock out all of them.
  await form.locator('.switch .problem').waitFor();
  await enforced.uncheck();
  await field('Name').fill('The company');
  await button('Save').click();
  await page.getByRole('dialog', { name: 'The company' }).waitFor();

  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('They stay members').waitFor();
  await page.getByRole('dialog').last().locator('button.bad').click();
  await page.getByText('There are no connections yet.').waitFor();
  await view.context.close();
});
