import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@doorward/node/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailedToken } from '../../../../../scripts/service.ts';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { clientOf, setUpConsole, signedIn, type ConsoleSetup } from '../../support/console.ts';

/** A project for a customer: offered by mail, accepted with the link, used, suspended and ended. */
let setup: ConsoleSetup;
const grace = { name: 'Grace', email: 'grace@example.com', password: 'a long enough password' };
let acme: string;
let customer: Client['api'];

beforeAll(async () => {
  setup = await setUpConsole();
  const url = setup.service.base;
  const api = clientOf(url);
  const method = { provider: 'email' as const, providerId: grace.email };
  const providerData = { password: grace.password };
  await api.register({ ...method, name: grace.name, providerData });
  await api.verifyEmail({ token: await mailedToken(setup.service.mailDir, grace.email) });
  const { accessToken: token } = await api.login({ ...method, providerData });
  customer = clientOf(url, token);
  const { account: made } = await customer.createMyAccount({ type: 'organization' });
  const account = { tenant: 'account' as const, id: made.id };
  acme = (await customer.createOrganization({ scope: account, name: 'Acme' })).id;
}, 180_000);
afterAll(() => setup?.close());

/** The link in the last mail to the address. */
function linkTo(address: string): string {
  const { mailDir } = setup.service;
  const mails = readdirSync(mailDir)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => readFileSync(join(mailDir, name), 'utf8').replaceAll('=\r\n', '').replaceAll('=3D', '='))
    .filter((mail) => mail.includes(address) && mail.includes('/hosted/project-grant'));
  return /https?:\/\/\S*\/hosted\/project-grant\?token=[\w-]+/.exec(mails.at(-1) ?? '')?.[0] ?? '';
}

test('a customer gets a project, and loses it', async () => {
  const owner = await signedIn(setup, `${setup.project}/customers`);
  const { page } = owner;
  await page.getByText('No customer uses this project yet.').waitFor();
  await page.getByRole('button', { name: 'New customer' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('Acme Ltd');
  await form.getByLabel('E-mail address').fill(grace.email);
  await form.getByRole('checkbox', { name: 'Invoice reader' }).check();
  await form.getByLabel('User limit').fill('5');
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('link', { name: 'Acme Ltd' }).waitFor();
  await page.locator('#content').getByText('offered').waitFor();
  await expect.poll(() => linkTo(grace.email)).toContain('/hosted/project-grant');

  const there = await signedIn(
    { ...setup, demo: { ...setup.demo, ...grace } },
    `/console/organization/${acme}/granted-projects`,
    { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
  );
  await there.page.getByRole('button', { name: 'Accept an offer' }).click();
  const offer = there.page.getByRole('dialog');
  await offer.getByLabel('Link of the mail').fill('nothing');
  await offer.getByRole('button', { name: 'Accept an offer', exact: true }).click();
  await offer.getByText('This link does not lead to an offer.').waitFor();
  await offer.getByLabel('Link of the mail').fill(linkTo(grace.email));
  await offer.getByRole('button', { name: 'Accept an offer', exact: true }).click();
  await there.page.getByRole('link', { name: 'Bookshop' }).click();
  const granted = there.page.getByRole('dialog', { name: 'Bookshop' });
  await granted.getByText('Invoice reader').waitFor();
  expect(await violations(there.page, 'dialog[open]')).toEqual([]);
  expect(await there.page.content()).not.toContain('Acme Ltd');
  await granted.getByRole('link', { name: 'Open the project' }).click();
  await there.page.getByRole('heading', { name: 'Bookshop', level: 1 }).waitFor();
  await expect.poll(() => there.page.title()).toContain('Bookshop');
  expect(there.offences).toEqual([]);

  const scope = {
    tenant: 'organizationProject' as const,
    id: `${acme}:${setup.demo.key.scope.id.split(':')[1]}`,
  };
  const { items } = await customer.roles({ scope, search: 'Invoice reader' });
  const self = await customer.me();
  await customer.createUser({ scope, userId: self.user.id, roleIds: [items[0]?.id ?? ''] } as never);

  await page.reload();
  await page.getByRole('link', { name: 'Acme Ltd' }).click();
  const panel = page.getByRole('dialog', { name: 'Acme Ltd' });
  await panel.getByText('1 / 5').waitFor();
  await panel.getByText('Grace', { exact: true }).waitFor();
  const act = async (label: string): Promise<void> => {
    await panel.getByRole('button', { name: label, exact: true }).click();
    const sure = page.getByRole('dialog', { name: `${label}: Acme Ltd` });
    await sure.getByRole('button', { name: label, exact: true }).click();
    await sure.waitFor({ state: 'detached' });
  };
  const mayAsk = () =>
    customer.roles({ scope }).then(
      () => 'allowed',
      ({ code }: { readonly code: string }) => code,
    );
  expect(await mayAsk()).toBe('allowed');
  await act('Suspend');
  expect(await mayAsk()).toBe('FORBIDDEN');
  await act('Resume');
  expect(await mayAsk()).toBe('allowed');
  await act('End');
  await panel.getByText('ended').first().waitFor();
  expect(await mayAsk()).toBe('FORBIDDEN');
  expect(owner.offences).toEqual([]);
  await owner.context.close();
  await there.context.close();
});

test('an offer is declined, and its owner does not learn by whom', async () => {
  const { scope } = setup.demo.key;
  const { items } = await setup.api.roles({ scope, search: 'Invoice reader' });
  const roleIds = [items[0]?.id ?? ''];
  const before = linkTo(grace.email);
  const { id } = await setup.api.createProjectGrant({ scope, email: grace.email, name: 'Again', roleIds });
  await expect.poll(() => linkTo(grace.email)).not.toBe(before);
  const { page, context } = await signedIn(
    { ...setup, demo: { ...setup.demo, ...grace } },
    `/console/organization/${acme}/granted-projects`,
  );
  await page.getByRole('button', { name: 'Decline an offer' }).click();
  const offer = page.getByRole('dialog');
  await offer.getByLabel('Link of the mail').fill(linkTo(grace.email));
  await offer.getByRole('button', { name: 'Decline an offer', exact: true }).click();
  await offer.waitFor({ state: 'detached' });
  expect(await setup.api.projectGrant({ scope, id })).toMatchObject({
    status: 'declined',
    organizationId: null,
  });
  await context.close();
});
