import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { setUpConsole, signedIn, type ConsoleSetup } from '../../support/console.ts';

/** The domains of an organization: named in the console, with the record to publish, checked and deleted. */
let setup: ConsoleSetup;
beforeAll(async () => {
  // No name server listens there, so that every check ends without an answer.
  setup = await setUpConsole({ DNS_RESOLVERS: '127.0.0.1' });
}, 180_000);
afterAll(() => setup?.close());

test('a domain is named, its record copied, and checked', async () => {
  const { demo, service, api } = setup;
  const id = demo.key.scope.id.split(':')[0] ?? '';
  const view = await signedIn(setup, `/console/organization/${id}/domains`, {
    viewport: { width: 360, height: 760 },
    colorScheme: 'dark',
  });
  const { page } = view;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await page.getByText('There are no domains yet.').waitFor();
  expect(await violations(page, '#content')).toEqual([]);

  await button('Add a domain').first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Domain', { exact: true }).fill('co.uk');
  await button('Create').click();
  await form.getByText('This is not allowed here.').waitFor();
  await form.getByLabel('Domain', { exact: true }).fill('Console.Example.org');
  await button('Create').click();

  await page.getByRole('link', { name: 'console.example.org' }).click();
  const panel = page.getByRole('dialog', { name: 'console.example.org' });
  const scope = { tenant: 'organization' as const, id };
  const { items } = await api.organizationDomains({ scope });
  await panel.getByText('_doorward.console.example.org', { exact: true }).waitFor();
  await panel.getByText(items[0]?.record.value ?? '', { exact: true }).waitFor();
  expect(await violations(page, 'dialog[open]')).toEqual([]);

  await panel.getByRole('button', { name: 'Check now' }).click();
  const check = page.getByRole('dialog').last();
  await check.getByRole('button', { name: 'Check now' }).click();
  await check.getByText('did not answer').waitFor();
  expect((await api.organizationDomains({ scope })).items[0]?.status).toBe('pending');

  await page.goto(`${service.base}/console/organization/${id}/domains`);
  await page.getByRole('link', { name: 'console.example.org' }).click();
  await panel.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('another organization may verify it').waitFor();
  await page.getByRole('dialog').last().locator('button.bad').click();
  await page.getByText('There are no domains yet.').waitFor();
  await view.context.close();
});
