import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../server/test/browser/accessibility.ts';
import { colorSchemesOf } from '../../../server/test/browser/looks.ts';
import { photograph } from '../../../server/test/browser/watched.ts';
import type { Scope } from '../../src/scopes/scope.ts';
import { setUpConsole, signedIn, visit, type ConsoleSetup } from '../support/console.ts';
import { ownViews, viewsOf } from '../support/views.ts';

/**
 * Every page in the navigation of each kind of scope, with data: light on a desktop or dark on a phone, and in each
 * language. One tour collects the results for several tests, because loading pages takes the most time. Names that
 * users can enter contain HTML, which the pages must show as text.
 */
let setup: ConsoleSetup;
let seen: Seen;
/** The rows with HTML in their names, by the page that lists them. */
const attacked: [page: string, id: string][] = [];
const installation = { tenant: 'installation', id: '00000000-0000-0000-0000-000000000000' } as const;
const attack = '<img src=x onerror="window.hacked=1"><b>bold</b>';

beforeAll(async () => {
  setup = await setUpConsole({ OPERATORS: 'demo@localhost' });
  const { api, demo } = setup;
  const { scope } = demo.key;
  const made = async <R extends { readonly id: string }>(page: string, row: Promise<R>): Promise<R> => {
    attacked.push([page, (await row).id]);
    return row;
  };
  const resource = await made(
    'resources',
    api.createResource({ scope, name: attack, slug: 'odd', actions: ['read'] }),
  );
  const permission = await made(
    'permissions',
    api.createPermission({
      scope,
      name: attack,
      resourceId: resource.id,
      action: 'read',
      condition: { StringEquals: { 'resource.note': attack } },
    }),
  );
  const group = await made(
    'groups',
    api.createGroup({
      scope,
      name: attack,
      description: attack,
      metadata: { note: attack },
      permissionIds: [permission.id],
    }),
  );
  const role = await made(
    'roles',
    api.createRole({
      scope,
      name: attack,
      description: attack,
      metadata: { note: attack },
      groupIds: [group.id],
    }),
  );
  const tag = await made('tags', api.createTag({ scope, name: 'Pilot', color: '#336699' }));
  await api.updateTag({ scope, id: tag.id, name: attack });
  await made(
    'users',
    api.createUser({ scope, name: attack, roleIds: [role.id], metadata: { note: attack } }),
  );
  await made('api-keys', api.createApiKey({ scope, name: attack, description: attack, roleId: role.id }));
  await made(
    'apps',
    api.createProjectApp({ scope, name: attack, redirectUris: ['https://app.example/callback'] }),
  );
  await made(
    'webhooks',
    api.createWebhookSubscription({
      scope,
      url: 'https://hooks.example/doorward',
      eventTypes: ['role.*'],
      description: attack,
    }),
  );
  const organization = { tenant: 'organization' as const, id: scope.id.split(':')[0] ?? '' };
  await api.createProject({ scope: organization, name: attack, description: attack });
  await api.inviteMember({
    scope: organization,
    email: 'guest@example.com',
    roleId: (await api.roles({ scope: organization, search: 'Organization Viewer' })).items[0]?.id ?? '',
  });
  seen = await tour();
}, 900_000);
afterAll(() => setup?.close());

const looks = {
  light: { look: 'desk light', viewport: { width: 1280, height: 800 } },
  dark: { look: 'phone dark', viewport: { width: 360, height: 740 } },
} as const;

/** What stands around the data of every page: what a page is, what can be done with it, and the columns of its list. */
const AROUND_DATA = '#content h1, #content header p, #content header button, #content th, #pages a';
const languages = ['en', 'de', 'es', 'fr'] as const;
type Language = (typeof languages)[number];
type Words = Readonly<Record<Language, readonly string[]>>;

interface Seen {
  /** What is wrong with a page, in each look. */
  readonly faults: readonly string[];
  readonly offences: readonly string[];
  /** The texts around the data, by the address of the page. */
  readonly words: ReadonlyMap<string, Words>;
  readonly hacked: unknown;
}

/**
 * The faults of the page, in its looks. Header and navigation are the same on all pages of a scope, so a phone checks
 * them on the first page only, and a desktop on every page.
 */
async function faultsOf(page: Page, path: string, isFirst: boolean, turn: number): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of colorSchemesOf(turn)) {
    const { look, viewport } = looks[colorScheme];
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await photograph(page, nameOf(path, look));
    const part = isFirst || colorScheme === 'light' ? undefined : '#content';
    faults.push(...(await violations(page, part)).map((fault) => `${path} ${look}: ${fault}`));
    const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    if (beyond > 1) faults.push(`${path} ${look}: ${beyond} px wider than the window`);
  }
  await page.setViewportSize(looks.light.viewport);
  return faults;
}

const nameOf = (path: string, look: string): string =>
  `console ${look} ${path.replaceAll(/[0-9a-f-]{36}/g, '')}`.replaceAll(/\W+/g, '-');

/** The texts of the page in each language. Where some arrived after the first language was read, all are read again. */
async function wordsOf(page: Page): Promise<Words> {
  for (let attempt = 1; ; attempt++) {
    const words = await readWords(page);
    const counts = new Set(Object.values(words).map(({ length }) => length));
    if (counts.size === 1 || attempt === 10) return words;
  }
}

/** The texts as the menu of the user switches the language: the page stays, with its data. */
async function readWords(page: Page): Promise<Words> {
  const order = [...languages.slice(1), languages[0]];
  const words = await page.evaluate<Words>(`(async () => {
    const words = {};
    for (const language of ${JSON.stringify(order)}) {
      const select = document.querySelector('.user-menu select');
      select.value = language;
      select.dispatchEvent(new Event('change', { bubbles: true }));
      await new Promise((done) => setTimeout(done));
      words[document.documentElement.lang] = [...document.querySelectorAll('${AROUND_DATA}')]
        .map(({ textContent }) => textContent.trim())
        .filter(Boolean);
    }
    return words;
  })()`);
  expect(Object.keys(words)).toEqual(order);
  return words;
}

const linksIn = (page: Page, selector: string): Promise<readonly string[]> =>
  page.evaluate(
    `[...new Set([...document.querySelectorAll('${selector}')].map(({ pathname }) => pathname))]`,
  );

/** Waits until the page of an address shows its heading and its data. */
async function settled(page: Page): Promise<void> {
  await page.locator('#content h1').waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}

const scopesOf = (): readonly Scope[] => {
  const { scope } = setup.demo.key;
  const [id = ''] = scope.id.split(':');
  return [{ tenant: 'account', id: setup.demo.account }, { tenant: 'organization', id }, scope, installation];
};

/** Goes to every page by the link that leads to it, and looks at it. */
async function tour(): Promise<Seen> {
  const { page, context, offences } = await signedIn(setup, '/console/', { locale: 'en-GB' });
  const starts = [
    ['/console/', null],
    ...scopesOf().map(({ tenant, id }) => [`/console/${tenant}/${id}/overview`, '#pages a'] as const),
    // Pages that show more when something is chosen in them.
    [`${setup.project}/may-do/${(await setup.api.me()).user.id}`, null],
    [`${setup.project}/who-can?resource=Role&action=Query`, null],
    [`${setup.project}/why?resource=invoice&action=read`, null],
    ['/console/me/profile', '#content a[href*="/console/me/"]'],
  ] as const;
  const faults: string[] = [];
  const words = new Map<string, Words>();
  for (const [start, selector] of starts) {
    await page.goto(`${setup.service.base}${start}`);
    await settled(page);
    if (selector === '#pages a') await page.locator(selector).nth(2).waitFor();
    const paths = selector === null ? [start] : await linksIn(page, selector);
    for (const path of paths) {
      if (path !== start)
        await page.locator(`#pages a[href="${path}"], #content a[href="${path}"]`).first().click();
      await page.waitForURL((url) => `${url.pathname}${url.search}` === path);
      await settled(page);
      faults.push(...(await faultsOf(page, path, path === start, words.size)));
      words.set(path, await wordsOf(page));
    }
  }
  const hacked = await page.evaluate('window.hacked');
  await context.close();
  return { faults, offences, words, hacked };
}

test('every page has a heading, its data and no fault', () => {
  expect(seen.faults).toEqual([]);
  expect(seen.offences).toEqual([]);
  expect(seen.hacked).toBeUndefined();
  // A navigation that loses its pages would pass otherwise.
  const paths = [...seen.words.keys()].map((path) => path.split('?')[0]);
  const all = [...scopesOf().flatMap(viewsOf), ...ownViews].map(({ path }) => path.split('?')[0]);
  expect(all.filter((path) => !paths.includes(path))).toEqual([]);
  expect(paths.length).toBeGreaterThan(50);
});

/** Words that two languages share, and names that people gave. */
const shared = new Set(
  'Webhooks Apps Tags Domains Status Name Description Actions Action Permissions Condition Secret Sessions Notifications Invitations Installation Id Organisations Slug Roles Person Permission Demo Bookshop'.split(
    ' ',
  ),
).add('Lantern Books');

test('every page is in every language', () => {
  const faults: string[] = [];
  for (const [path, words] of seen.words) {
    const english = new Set(words.en);
    expect(english.size).toBeGreaterThan(0);
    for (const language of ['de', 'es', 'fr'] as const) {
      // The same page in other words.
      expect(words[language]).toHaveLength(words.en.length);
      const same = words[language].filter((text) => english.has(text) && !shared.has(text));
      faults.push(...same.map((text) => `${language} ${path}: ${text}`));
    }
  }
  expect(faults).toEqual([]);
});

test('a name, metadata and a condition with HTML are text in the panel and in the form of a row', async () => {
  const { page, context, offences } = await signedIn(setup, `${setup.project}/overview`);
  const unseen: string[] = [];
  for (const [name, id] of attacked) {
    await visit(page, `${setup.project}/${name}/${id}`);
    const dialog = page.getByRole('dialog').first();
    await dialog.locator('dt').first().waitFor();
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
    const panel = await dialog.innerText();
    if (!panel.includes(attack)) unseen.push(`${name}: ${panel}`);
    const edit = dialog.getByRole('button', { name: 'Edit', exact: true });
    if ((await edit.count()) === 0) continue;
    await edit.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor();
    const values = await page.evaluate<string[]>(
      `[...document.querySelectorAll('dialog[open] :is(input, textarea)')].map(({ value }) => value)`,
    );
    if (!values.some((value) => value.includes('onerror'))) unseen.push(`${name}, form: ${values.join()}`);
  }
  await visit(page, `${setup.project}/audit`);
  await page.getByRole('link', { name: 'updateTag' }).click();
  await page.getByRole('dialog').getByText(attack).waitFor();
  expect(unseen).toEqual([]);
  expect(attacked.length).toBeGreaterThan(8);
  expect(offences).toEqual([]);
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(await page.locator('#content img[src=x], dialog img[src=x]').count()).toBe(0);
  await context.close();
});
