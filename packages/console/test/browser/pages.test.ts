import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../server/test/browser/accessibility.ts';
import { photograph } from '../../../server/test/browser/watched.ts';
import type { Scope } from '../../src/scopes/scope.ts';
import { setUpConsole, signedIn, visit, type ConsoleSetup } from '../support/console.ts';
import { ownViews, viewsOf, type View } from '../support/views.ts';

/**
 * Every page of the console with data: what the navigation of each kind of scope leads to, in both schemes, on a desk and
 * on a phone. A name with HTML in every place where a user may write one is shown as text.
 */
let setup: ConsoleSetup;
const installation = { tenant: 'installation', id: '00000000-0000-0000-0000-000000000000' } as const;
const attack = '<img src=x onerror="window.hacked=1"><b>bold</b>';

beforeAll(async () => {
  setup = await setUpConsole({ OPERATORS: 'demo@localhost' });
  const { api, demo } = setup;
  const { scope } = demo.key;
  const resource = await api.createResource({ scope, name: attack, slug: 'odd', actions: ['read'] });
  const permission = await api.createPermission({
    scope,
    name: attack,
    resourceId: resource.id,
    action: 'read',
    condition: { StringEquals: { 'resource.note': attack } },
  });
  const group = await api.createGroup({ scope, name: attack, permissionIds: [permission.id] });
  const role = await api.createRole({ scope, name: attack, groupIds: [group.id] });
  await api.createTag({ scope, name: attack, color: '#336699' });
  await api.createUser({ scope, name: attack, roleIds: [role.id], metadata: { note: attack } });
  await api.createApiKey({ scope, name: attack, description: attack, roleId: role.id });
  await api.createProjectApp({ scope, name: attack, redirectUris: ['https://app.example/callback'] });
  await api.createWebhookSubscription({
    scope,
    url: 'https://hooks.example/doorward',
    eventTypes: ['role.*'],
    description: attack,
  });
  const organization = { tenant: 'organization' as const, id: scope.id.split(':')[0] ?? '' };
  await api.createProject({ scope: organization, name: attack, description: attack });
  await api.inviteMember({
    scope: organization,
    email: 'guest@example.com',
    roleId: (await api.roles({ scope: organization, search: 'Organization Viewer' })).items[0]?.id ?? '',
  });
}, 180_000);
afterAll(() => setup?.close());

const looks = {
  'desk light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'phone dark': { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
} as const;

const linksIn = (page: Page, selector: string): Promise<readonly string[]> =>
  page.evaluate(
    `[...new Set([...document.querySelectorAll('${selector}')].map(({ pathname }) => pathname))]`,
  );

/** Waits until the page of an address shows its heading and its data. */
async function settled(page: Page): Promise<void> {
  await page.locator('#content h1').waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

/** What is wrong with the page, in each look. */
async function faultsOf(page: Page, path: string): Promise<string[]> {
  const faults: string[] = [];
  for (const [look, { viewport, colorScheme }] of Object.entries(looks)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    if (process.env['PAGES_SCREENSHOTS'] !== undefined) await photograph(page, nameOf(path, look));
    faults.push(...(await violations(page)).map((fault) => `${path} ${look}: ${fault}`));
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (beyond > 1) faults.push(`${path} ${look}: ${beyond} px wider than the window`);
  }
  await page.setViewportSize(looks['desk light'].viewport);
  return faults;
}

const nameOf = (path: string, look: string): string =>
  `console ${look} ${path.replaceAll(/[0-9a-f-]{36}/g, '')}`.replaceAll(/\W+/g, '-');

test('every page has a heading, its data and no fault, in every look', { timeout: 600_000 }, async () => {
  const { page, context, offences } = await signedIn(setup);
  const [organizationId = ''] = setup.demo.key.scope.id.split(':');
  const starts = [
    ['/console/', '#nothing'],
    [`/console/account/${setup.demo.account}/overview`, '#pages a'],
    [`/console/organization/${organizationId}/overview`, '#pages a'],
    [`${setup.project}/overview`, '#pages a'],
    [`/console/installation/${installation.id}/overview`, '#pages a'],
    // Pages that show more when something is chosen in them.
    [`${setup.project}/may-do/${(await setup.api.me()).user.id}`, '#nothing'],
    [`${setup.project}/who-can?resource=Role&action=Query`, '#nothing'],
    ['/console/me/profile', '#content a[href*="/console/me/"]'],
  ] as const;
  const faults: string[] = [];
  let count = 0;
  for (const [start, selector] of starts) {
    await page.goto(`${setup.service.base}${start}`);
    await settled(page);
    if (selector === '#pages a') await page.locator(selector).nth(2).waitFor();
    const paths = selector === '#nothing' ? [start] : await linksIn(page, selector);
    for (const path of paths) {
      if (path !== start) await page.locator(`a[href="${path}"]`).first().click();
      await page.waitForURL((url) => `${url.pathname}${url.search}` === path);
      await settled(page);
      faults.push(...(await faultsOf(page, path)));
      count++;
    }
  }
  expect(faults).toEqual([]);
  expect(offences).toEqual([]);
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  // A navigation that loses its pages would pass otherwise.
  expect(count).toBeGreaterThan(50);
  await context.close();
});

const scopesOf = (): readonly Scope[] => {
  const { scope } = setup.demo.key;
  const [id = ''] = scope.id.split(':');
  return [{ tenant: 'account', id: setup.demo.account }, { tenant: 'organization', id }, scope, installation];
};
const allViews = (): readonly View[] => [...scopesOf().flatMap(viewsOf), ...ownViews];

/** What stands around the data of every page: what a page is, what can be done with it, and the columns of its list. */
const AROUND_DATA = '#content h1, #content header p, #content header button, #content th, #pages a';

/** The texts of every page. */
async function wordsIn(locale: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const { page, context } = await signedIn(setup, '/console/', { locale });
  await page.locator('#content .cards').first().waitFor();
  expect(await page.evaluate('document.documentElement.lang')).toBe(locale);
  const words = new Map<string, readonly string[]>();
  for (const { path } of allViews()) {
    await visit(page, path);
    // Until the page is there, the former one stays, with its link marked.
    const [pathname] = path.split('?');
    await page.waitForFunction(
      `document.querySelector('a[aria-current=page]')?.pathname === ${JSON.stringify(pathname)}`,
    );
    await settled(page);
    const texts = await page.locator(AROUND_DATA).allTextContents();
    words.set(
      path,
      texts.map((text) => text.trim()).filter((text) => text !== ''),
    );
  }
  await context.close();
  return words;
}

/** Words that two languages share, and names that people gave. */
const shared = new Set(
  'Webhooks Apps Tags Status Name Description Actions Action Permissions Condition Secret Sessions Notifications Invitations Installation Id Organisations Slug Roles Demo Bookshop'.split(
    ' ',
  ),
).add('Lantern Books');

test('every page is in every language', { timeout: 300_000 }, async () => {
  const english = await wordsIn('en');
  expect(english.size).toBeGreaterThan(40);
  const faults: string[] = [];
  const total = (words: ReadonlyMap<string, readonly string[]>): number => [...words.values()].flat().length;
  for (const language of ['de', 'es', 'fr']) {
    const translated = await wordsIn(language);
    // A list may come a moment after its page: some columns can be missing, and not most of them.
    expect(total(translated)).toBeGreaterThan(total(english) * 0.8);
    for (const [path, words] of translated) {
      const before = new Set(english.get(path));
      const same = words.filter((text) => before.has(text) && !shared.has(text));
      faults.push(...same.map((text) => `${language} ${path}: ${text}`));
    }
  }
  expect(faults).toEqual([]);
});
