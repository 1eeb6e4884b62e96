import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailedToken } from '../../../../../scripts/service.ts';
import { violations } from '../../../../server/test/browser/accessibility.ts';
import { clientOf, goTo, setUpConsole, signedIn, type ConsoleSetup } from '../../support/console.ts';

/** What a user may do, and who may do something: with answers of the real service, also those that take several pages. */
let setup: ConsoleSetup;
let clara: string;
let dora: string;
const CLERKS = 60;
const WIDTH = 100;
/** More users with such a role than a page of the service decides about. */
const WIDE_USERS = 24;

beforeAll(async () => {
  setup = await setUpConsole();
  const { api, demo } = setup;
  const { scope } = demo.key;
  const resource = await api.createResource({
    scope,
    name: 'Report',
    slug: 'report',
    actions: ['read', 'sign', 'file'],
  });
  const permission = (action: string, name: string, condition: Record<string, unknown> | null) =>
    api.createPermission({ scope, resourceId: resource.id, action, name, condition }).then(({ id }) => id);
  const group = await api.createGroup({
    scope,
    name: 'Reports',
    permissionIds: [
      await permission('read', 'Read reports', null),
      await permission('sign', 'Sign reports', { Equals: { 'resource.ownerId': '{{user.id}}' } }),
    ],
  });
  const clerk = await api.createRole({ scope, name: 'Clerk', groupIds: [group.id] });
  const user = (name: string, roleId: string) =>
    api.createUser({ scope, name, roleIds: [roleId] }).then(({ id }) => id);
  clara = await user('Clara', clerk.id);
  for (let n = 1; n < CLERKS; n++) await user(`Clerk ${n}`, clerk.id);
  dora = await user('Dora', clerk.id);
  await api.updateUser({ scope, id: dora, status: 'disabled' });

  const permissionIds: string[] = [];
  for (let n = 0; n < WIDTH; n++)
    permissionIds.push(
      await permission('file', `File ${n}`, {
        Or: Array.from({ length: 40 }, (_, at) => ({
          StringEquals: { 'group.metadata.key': `key ${n} ${at}` },
        })),
      }),
    );
  const groupIds: string[] = [];
  for (let n = 0; n < WIDTH; n++)
    groupIds.push((await api.createGroup({ scope, name: `Files ${n}`, permissionIds })).id);
  const wide = await api.createRole({ scope, name: 'Files', groupIds });
  for (let n = 0; n < WIDE_USERS; n++) await user(`Filer ${n}`, wide.id);
}, 300_000);
afterAll(() => setup?.close());

/** The page without faults of access, on a desk in light and on a phone in dark. */
async function expectAccessible(page: Page): Promise<void> {
  const sizes = [
    [{ width: 1280, height: 800 }, 'light'],
    [{ width: 360, height: 740 }, 'dark'],
  ] as const;
  for (const [size, colorScheme] of sizes) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThan(2);
  }
  await page.setViewportSize(sizes[0][0]);
}

const rowsOf = (page: Page) => page.locator('#content tbody tr');

test('the panel of a user leads to what they may do, and from there to the reason', async () => {
  const { page, context, offences, requests } = await signedIn(setup, `${setup.project}/users/${clara}`);
  await page.getByRole('dialog').getByRole('link', { name: 'What they may do' }).click();
  await page.getByRole('heading', { name: 'What they may do: Clara', level: 1 }).waitFor();
  const row = rowsOf(page).filter({ hasText: 'report' });
  expect(await row.allTextContents()).toEqual([expect.stringMatching(/read.*sign · under a condition/)]);
  const pages = page.getByRole('list', { name: 'Pages that they see here' });
  expect(await pages.getByRole('listitem').allTextContents()).toEqual(['Overview']);
  await page.getByText('Pages that they do not see').click();
  await page.getByText('Users lacks User:Query').waitFor();
  await expectAccessible(page);
  await row.getByRole('link', { name: 'read' }).click();
  await page.getByText('Clara may do this:').waitFor();
  // No token of the user is made: nothing was sent that changes anything.
  expect(requests.filter((url) => /\/auth\/(?:token|login)/.test(url)).length).toBeLessThanOrEqual(1);
  expect(offences).toEqual([]);
  await context.close();
});

test('the pages that a user sees are those of their own navigation', async () => {
  const { api, demo } = setup;
  const { page, context } = await signedIn(setup, `${setup.project}/overview`);
  await page.locator('#pages a').nth(5).waitFor();
  const own = await page.locator('#pages a').allTextContents();
  const { user } = await api.me();
  await page.goto(
    `${setup.service.base}/console/${demo.key.scope.tenant}/${demo.key.scope.id}/may-do/${user.id}`,
  );
  const pages = page.getByRole('list', { name: 'Pages that they see here' });
  await pages.getByRole('listitem').first().waitFor();
  expect(await pages.getByRole('listitem').allTextContents()).toEqual(own);
  await context.close();
});

test('a user is chosen with the keyboard, also a member of the organization', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/overview`);
  await page.locator('#pages a').nth(5).waitFor();
  await goTo(page, 'v', 'What they may do');
  // The owner of the organization is no user of the project.
  await page.getByLabel('Demo', { exact: true }).waitFor();
  const search = page.getByRole('searchbox', { name: 'Search: Person' });
  await search.focus();
  await page.keyboard.type('Clara');
  const choice = page.getByLabel('Clara', { exact: true });
  await page.getByLabel('Clerk 1', { exact: true }).waitFor({ state: 'detached' });
  await choice.focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What they may do: Clara', level: 1 }).waitFor();
  await context.close();
});

test('who may do nothing, and who is not here, is said', async () => {
  const { page, context } = await signedIn(setup, `${setup.project}/may-do/${dora}`);
  await page.getByRole('heading', { name: 'This person may do nothing here.' }).waitFor();
  await expectAccessible(page);
  for (const id of ['00000000-0000-4000-8000-000000000000', 'no-id']) {
    await page.goto(`${setup.service.base}${setup.project}/may-do/${id}`);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  }
  await expectAccessible(page);
  await context.close();
});

test('who can: all people after the second page, and the attributes decide', async () => {
  const { page, context, offences } = await signedIn(setup, `${setup.project}/who-can`);
  await page.getByLabel('Resource', { exact: true }).selectOption('report');
  await page.getByLabel('Action').selectOption('read');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('Not complete: 50 people so far. Others may follow.').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText(`Complete: ${CLERKS} people.`).waitFor();
  expect(await rowsOf(page).count()).toBe(CLERKS);
  expect(await rowsOf(page).filter({ hasText: 'Dora' }).count()).toBe(0);
  expect(new URL(page.url()).search).toBe('?resource=report&action=read');

  await page.getByLabel('Action').selectOption('sign');
  await page.getByLabel(/^Attributes/).fill(JSON.stringify({ ownerId: clara }));
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('Complete: 1 person.').waitFor();
  expect(await rowsOf(page).allTextContents()).toEqual([
    expect.stringMatching(/Clara.*because a condition is met.*Sign reports/),
  ]);
  expect(page.url()).not.toContain(clara);
  await page.getByRole('link', { name: 'Clara', exact: true }).click();
  await page.getByRole('heading', { name: 'What they may do: Clara', level: 1 }).waitFor();
  expect(offences).toEqual([]);
  await context.close();
});

test('who can: goes on by itself while the service has not looked at everyone', async () => {
  const question = 'resource=report&action=file';
  const { page, context, requests } = await signedIn(setup, `${setup.project}/who-can?${question}`);
  await page.getByText('Nobody may do this. The list is complete.').waitFor({ timeout: 60_000 });
  expect(requests.filter((url) => url.endsWith('/api/auth/who-can')).length).toBeGreaterThanOrEqual(2);
  await context.close();
});

test('who can: says what is missing before it sends anything', async () => {
  const { page, context, requests } = await signedIn(setup, `${setup.project}/who-can`);
  await page.getByLabel('Resource', { exact: true }).selectOption('report');
  await page.getByLabel(/^Attributes/).fill('[1]');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('This needs to be a JSON object in braces.').waitFor();
  expect(await page.getByLabel('Action').getAttribute('aria-invalid')).toBe('true');
  expect(requests.filter((url) => url.endsWith('/api/auth/who-can'))).toEqual([]);
  await expectAccessible(page);
  await context.close();
});

test.each([
  ['de', 'Was jemand darf: Clara', `Nicht vollständig: bisher 50 Personen. Weitere können folgen.`],
  ['es', 'Qué puede hacer: Clara', 'No está completa: 50 personas hasta ahora. Pueden seguir otras.'],
  ['fr', 'Ce qu’elle peut faire: Clara', 'Incomplète : 50 personnes jusqu’ici. D’autres peuvent suivre.'],
])('both pages are in %s', async (locale, heading, completeness) => {
  const { page, context } = await signedIn(setup, `${setup.project}/may-do/${clara}`, { locale });
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
  await page.goto(`${setup.service.base}${setup.project}/who-can?resource=report&action=read`);
  await page.getByText(completeness).waitFor();
  await expectAccessible(page);
  await context.close();
});

test('a viewer is neither offered these pages nor shown them', async () => {
  const { api, demo, service } = setup;
  const scope = { tenant: 'organization' as const, id: demo.key.scope.id.split(':')[0] ?? '' };
  const { items } = await api.roles({ scope, search: 'Organization Viewer' });
  const viewer = { email: 'viewer@example.com', password: 'a long enough password' };
  await api.inviteMember({ scope, email: viewer.email, roleId: items[0]?.id ?? '' });
  const token = await mailedToken(service.mailDir, viewer.email);
  const registration = { name: 'Vera', password: viewer.password };
  await clientOf(service.base).acceptInvitation({ token, registration });
  const { page, context } = await signedIn(
    { ...setup, demo: { ...demo, ...viewer } },
    `${setup.project}/may-do/${clara}`,
  );
  const missing = page.getByText('You lack the permission Authorization:Check');
  await missing.waitFor();
  await page.locator('#pages a').nth(5).waitFor();
  expect(await page.locator('#pages a').allTextContents()).not.toContain('What they may do');
  await expectAccessible(page);
  await page.goto(`${service.base}${setup.project}/who-can?resource=report&action=read`);
  await missing.waitFor();
  expect(await page.locator('#pages a').allTextContents()).not.toContain('Who can?');
  await context.close();
});
