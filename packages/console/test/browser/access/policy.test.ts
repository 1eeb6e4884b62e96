import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { setUpConsole, signedIn, type ConsoleSetup } from '../../support/console.ts';

/** A policy document is applied twice and changed by hand; the page shows it, and goes back to the first version. */
let setup: ConsoleSetup;
let at: {
  readonly id: string;
  readonly scope: { readonly tenant: 'organizationProject'; readonly id: string };
};
let roleId: string;

beforeAll(async () => {
  setup = await setUpConsole();
  const { api, demo } = setup;
  const { scope } = demo.key;
  at = { id: scope.id.split(':')[1] ?? '', scope };
  const { document } = await api.policy(at);
  const url = 'https://ledger.example.test/in';
  const webhooks = { ledger: { url, eventTypes: ['role.*'] } };
  const first = { ...document, webhooks };
  const { version } = await api.applyPolicy({ ...at, policy: first, message: 'As it was' });
  const roles = document['roles'] as Record<string, object>;
  const [name = ''] = Object.keys(roles);
  const changed = {
    ...document,
    roles: { ...roles, [name]: { ...roles[name], description: 'Of version 2' } },
  };
  const second = { ...at, policy: changed, ifVersion: version, allowDelete: true };
  await api.applyPolicy({ ...second, message: 'A clearer role' });
  const { items } = await api.roles({ scope, isSystem: false, search: name });
  roleId = items[0]?.id ?? '';
  await api.updateRole({ scope, id: roleId, description: 'By hand' });
}, 180_000);
afterAll(() => setup?.close());

test('versions, what they changed, and what was changed by hand', async () => {
  const { page, offences } = await signedIn(setup, `${setup.project}/policy`);
  await page
    .getByRole('link', { name: 'A clearer role' })
    .or(page.getByText('A clearer role'))
    .first()
    .waitFor();
  const drift = page.getByRole('table', { name: 'Changed by hand' });
  await drift.getByText('"By hand"').waitFor();
  expect(await violations(page, '#content')).toEqual([]);
  await page.getByRole('link', { name: '2', exact: true }).click();
  const version = page.getByRole('dialog', { name: '#2' });
  await version
    .getByRole('table', { name: 'What this version changed' })
    .getByText('"Of version 2"')
    .waitFor();
  await version.getByText('webhook, deleted').waitFor();
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  expect(offences).toEqual([]);
});

test('goes back to a version after a look at who is affected', async () => {
  const { page, offences } = await signedIn(setup, `${setup.project}/policy`, {
    viewport: { width: 360, height: 740 },
    colorScheme: 'dark',
  });
  await page.getByRole('link', { name: '1', exact: true }).click();
  await page
    .getByRole('dialog', { name: '#1' })
    .getByRole('button', { name: 'Go back to this version' })
    .click();
  const form = page.getByRole('dialog', { name: 'Go back to this version: 1' });
  await form.getByLabel('Why').fill('The first one was better');
  await form.getByRole('button', { name: 'Show what changes' }).click();
  await form
    .getByText('Nobody gains or loses a permission', { exact: false })
    .or(form.getByRole('region'))
    .first()
    .waitFor();
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await form.getByRole('button', { name: 'Go back to this version' }).click();
  // The webhook of the first version is made again, so its new secret is shown, and kept before the dialog closes.
  const secrets = page.getByRole('dialog', { name: 'Secrets of this version' });
  await secrets.getByText(/^webhook ledger: whsec_\S+$/).waitFor();
  expect(await violations(page, 'dialog[open]')).toEqual([]);
  await secrets.getByRole('button', { name: 'Download' }).click();
  await secrets.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('back to version 1', { exact: false }).first().waitFor();
  const { items } = await setup.api.policyVersions(at);
  expect(items[0]).toMatchObject({ number: 3, rollbackOf: 1, message: 'The first one was better' });
  expect((await setup.api.role({ scope: at.scope, id: roleId })).description).not.toBe('By hand');
  expect(offences).toEqual([]);
});
