import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../server/test/browser/accessibility.ts';
import { clientOf, setUpConsole, signedIn, type ConsoleSetup } from '../support/console.ts';

/** Service users and their keys: made in the console, used by a program, and ended in the console. */
let setup: ConsoleSetup;
beforeAll(async () => {
  setup = await setUpConsole();
}, 180_000);
afterAll(() => setup?.close());

const organizationOf = ({ demo }: ConsoleSetup) => ({
  tenant: 'organization' as const,
  id: demo.key.scope.id.split(':')[0] ?? '',
});
const accountOf = ({ demo }: ConsoleSetup) => ({ tenant: 'account' as const, id: demo.account });

test.each([
  ['an organization', organizationOf, 'Organization Viewer', ['Organization Owner']],
  ['an account', accountOf, 'Account Onboarding', []],
] as const)('a program of %s', async (_where, scopeOf, role, hidden) => {
  const scope = scopeOf(setup);
  const view = await signedIn(setup, `/console/${scope.tenant}/${scope.id}/service-users`, {
    viewport: { width: 360, height: 760 },
    colorScheme: 'dark',
  });
  const { page } = view;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const form = page.getByRole('dialog');
  await page.getByText('There are no service users yet.').waitFor();

  await button('New service user').first().click();
  await form.getByLabel('Name', { exact: true }).fill('Onboarding script');
  await form.getByLabel(role).check();
  for (const name of hidden) expect(await form.getByLabel(name).count()).toBe(0);
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await button('Show what changes').click();
  const impact = page.getByRole('region', { name: 'What this changes' });
  await impact.getByText('The new user').first().waitFor();
  await button('Create').click();
  await page.getByRole('link', { name: 'Onboarding script' }).click();
  const panel = page.getByRole('dialog', { name: 'Onboarding script' });
  await panel.getByText(role).waitFor();
  expect(await violations(page, 'dialog[open]')).toEqual([]);

  await panel.getByRole('button', { name: 'New key' }).click();
  await form.getByLabel('Name', { exact: true }).fill('Nightly');
  await form.last().getByRole('button', { name: 'New key', exact: true }).click();
  const secretDialog = page.getByRole('dialog', { name: 'Your API key' });
  await secretDialog.getByText('Nightly', { exact: true }).waitFor();
  const secret = (await secretDialog.locator('pre').textContent()) ?? '';
  const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(secret)?.[1] ?? '';
  const [tenant, id = ''] = valueOf('DOORWARD_SCOPE').split(':');
  expect({ tenant, id }).toEqual(scope);
  const credentials = {
    clientId: valueOf('DOORWARD_CLIENT_ID'),
    clientSecret: valueOf('DOORWARD_CLIENT_SECRET'),
    scope,
  };
  const api = clientOf(setup.service.base);
  const { accessToken: token } = await api.exchangeApiKey(credentials);
  const program = clientOf(setup.service.base, token);
  expect((await program.projects({ scope })).items).toBeInstanceOf(Array);

  await view.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await button('Copy').click();
  await button('I have stored it').click();
  await page.goto(`${setup.service.base}/console/${scope.tenant}/${scope.id}/api-keys`);
  await page.getByRole('link', { name: 'Nightly' }).waitFor();
  await page.locator('#content').getByText('Onboarding script').first().waitFor();
  expect(await violations(page, '#content')).toEqual([]);
  if (scope.tenant === 'organization') {
    await page.goto(`${setup.service.base}/console/${scope.tenant}/${scope.id}/members`);
    await page.locator('#content').getByText('(service user)').waitFor();
  }

  await page.goto(`${setup.service.base}/console/${scope.tenant}/${scope.id}/service-users`);
  await page.getByRole('link', { name: 'Onboarding script' }).click();
  await panel.getByRole('button', { name: 'Delete' }).click();
  const removal = page.getByRole('dialog').last();
  await removal.getByText('its keys end at once').waitFor();
  await removal.locator('button.bad').click();
  await removal.locator('button.bad').filter({ hasText: 'Delete' }).click();
  await page.getByText('There are no service users yet.').waitFor();
  await expect(api.exchangeApiKey(credentials)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  await view.context.close();
});

test('a key of an organization, for a service user that is chosen in its form', async () => {
  const scope = organizationOf(setup);
  const roles = await setup.api.roles({ scope, search: 'Organization Viewer' });
  const roleIds = [roles.items[0]?.id ?? ''];
  await setup.api.createUser({ scope, kind: 'service', name: 'Mirror', roleIds });
  const view = await signedIn(setup, `/console/${scope.tenant}/${scope.id}/api-keys`);
  const { page } = view;
  await page.getByText('Make a service user first').waitFor();
  await page.getByRole('button', { name: 'New key' }).first().click();
  const form = page.getByRole('dialog');
  expect(await form.getByText('Acts as').count()).toBe(0);
  // Without a service user there is no key: the form says so before it sends anything.
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  await form.getByText('This is needed.').first().waitFor();
  await form.getByLabel('Name', { exact: true }).fill('Mirroring');
  await form.getByLabel('Mirror').check();
  await form.getByRole('button', { name: 'Create', exact: true }).click();
  expect(await page.getByRole('dialog', { name: 'Your API key' }).locator('pre').textContent()).toContain(
    `DOORWARD_SCOPE=organization:${scope.id}`,
  );
  await view.context.close();
});
