import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailedToken } from '../../../../../scripts/service.ts';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { watched } from '../../../../server/test/browser/watched.ts';
import {
  clientSecret,
  startOpenidProvider,
  type OpenidDouble,
} from '../../../../server/test/support/sign-in/openid-provider.ts';
import {
  clientOf,
  refusals,
  setUpConsole,
  signedIn,
  signIn,
  type ConsoleSetup,
} from '../../support/console.ts';

/** The identity provider of an organization: connected in the console, tried, used to sign in, and insisted on. */
const domain = 'company.example.org';
const carol = { name: 'Carol', email: `carol@${domain}`, password: 'a long enough password' };
let setup: ConsoleSetup;
let provider: OpenidDouble;
let organization: string;
const scope = () => ({ tenant: 'organization' as const, id: organization });

beforeAll(async () => {
  provider = await startOpenidProvider();
  setup = await setUpConsole({ CONNECTIONS_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8' }, (database, { key }) => {
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
  const noAddress = form.getByText('Enter an address that begins with https://.');
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

test('people sign in through it, work in the organization, and others are led there', async () => {
  const { api, service } = setup;
  const { items: domains } = await api.organizationDomains({ scope: scope() });
  const { items: roles } = await api.roles({ scope: scope(), search: 'Organization Viewer' });
  const defaultRoleId = roles[0]?.id ?? '';
  const connection = await api.createOrganizationConnection({
    scope: scope(),
    name: 'Company',
    issuer: provider.issuer,
    clientId: String(provider.entry['clientId']),
    clientSecret,
    domainIds: domains.map(({ id }) => id),
    defaultRoleId,
    status: 'active',
  });
  const refused: string[] = [];
  const view = await watched(setup.browser, [service.base, provider.issuer], refusals, { locale: 'en-GB' });
  const { page } = view;
  page.on('response', (response) => {
    if (response.status() === 403 && response.url().includes('/api/me')) refused.push(response.url());
  });
  const through = async (address: string) => {
    provider.person = provider.newPerson({ email: address, name: 'Bob' });
    await page.locator('input[type=email]').fill(address);
    await page.locator('form[action="/api/auth/flow/identifier"] button').click();
    await page.locator(`a[href*="/connections/${connection.id}?"]`).click();
  };

  await page.goto(`${service.base}/console/organization/${organization}/members`);
  const way = page.getByRole('link', { name: 'Other ways to sign in, such as through your company' });
  await way.waitFor();
  expect(await violations(page, 'main')).toEqual([]);
  await way.click();
  await through(`bob@${domain}`);
  await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/organization/${organization}/members`);
  await page.getByRole('link', { name: 'Bob' }).waitFor();

  // Their own account and pages are closed, without a question on its own.
  await page.getByRole('link', { name: 'Doorward', exact: true }).click();
  await page.locator('#content .cards a[href*="/organization/"]').waitFor();
  expect(await page.getByText('My account').count()).toBe(0);
  expect(await page.locator('.bell').count()).toBe(0);
  await page.goto(`${service.base}/console/me/security`);
  await page.getByRole('heading', { name: 'You came through your organization' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(refused).toEqual([]);
  expect(view.offences).toEqual([]);
  await view.context.close();

  // A member with a password of their own is led there as soon as the organization insists.
  const open = clientOf(service.base);
  const method = { provider: 'email' as const, providerId: carol.email };
  const providerData = { password: carol.password };
  await open.register({ ...method, name: carol.name, providerData });
  await open.verifyEmail({ token: await mailedToken(service.mailDir, carol.email) });
  const { accessToken: token } = await open.login({ ...method, providerData });
  await api.inviteMember({ scope: scope(), email: carol.email, roleId: defaultRoleId });
  const invitation = await mailedToken(service.mailDir, carol.email);
  await clientOf(service.base, token).acceptInvitation({
    token: invitation,
  });
  await api.updateOrganizationConnection({ scope: scope(), id: connection.id, enforced: true });
  const other = await watched(setup.browser, service.base, refusals, { locale: 'en-GB' });
  await other.page.goto(`${service.base}/console/organization/${organization}/members`);
  await signIn(other.page, carol);
  const link = other.page.getByRole('link', { name: 'Sign in through your organization' });
  await link.waitFor();
  expect(await violations(other.page, '#content')).toEqual([]);
  await link.click();
  expect(await other.page.locator('input[type=email]').inputValue()).toBe(carol.email);
  await other.context.close();
});
