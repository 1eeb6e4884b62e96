import type { Page, Request, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from '../../../server/test/browser/accessibility.ts';
import { isExhaustive } from '../../../server/test/browser/looks.ts';
import { photograph, type Watched } from '../../../server/test/browser/watched.ts';
import type { Scope } from '../../src/scopes/scope.ts';
import { setUpConsole, signedIn, visit, type ConsoleSetup } from '../support/console.ts';
import { ownViews, viewsOf, type View } from '../support/views.ts';

/**
 * Every page while it loads, without rows, after a failure, and without the right to see it. The pages come from the list
 * that the navigation has. Each state has one look, so that all states together cover both schemes, desk and phone.
 */
let setup: ConsoleSetup;
let scopes: readonly Scope[];

beforeAll(async () => {
  setup = await setUpConsole({ OPERATORS: 'demo@localhost' });
  const { api, demo } = setup;
  const account = { tenant: 'account' as const, id: demo.account };
  const { id } = await api.createOrganization({ scope: account, name: 'Blank & co' });
  const organization = { tenant: 'organization' as const, id };
  const project = await api.createProject({ scope: organization, name: 'Blank' });
  scopes = [
    account,
    organization,
    project.scope as Scope,
    { tenant: 'installation', id: '00000000-0000-0000-0000-000000000000' },
  ];
}, 180_000);
afterAll(() => setup?.close());

const desk = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } as const;
const phone = { viewport: { width: 320, height: 700 }, colorScheme: 'dark' } as const;

/** What the frame needs to know which pages there are; the rest belongs to a page. */
const isOfFrame = (url: string): boolean =>
  /\/api\/(?:auth\/refresh|me|me\/permissions)$/.test(new URL(url).pathname);

const states = ['loading', 'failed', 'empty', 'forbidden'] as const;

/** Opens every view and returns its faults. Axe checks each view in one of the states. */
async function tour(
  { page }: Watched,
  state: (typeof states)[number],
  views: readonly View[],
  faultsOf: (page: Page, view: View) => Promise<readonly string[]>,
): Promise<string[]> {
  const faults: string[] = [];
  for (const [index, view] of views.entries()) {
    await visit(page, view.path);
    const withAxe = isExhaustive || index % states.length === states.indexOf(state);
    const ofView = await faultsOf(page, view)
      .then(async (ofState) => [...ofState, ...(await looksOf(page, withAxe))])
      .catch((error: unknown) => [String(error)]);
    faults.push(...ofView.map((fault) => `${state} of ${view.path}: ${fault}`));
    await photograph(
      page,
      `console ${state} ${view.path.replaceAll(/[0-9a-f-]{36}/g, '')}`.replaceAll(/\W+/g, '-'),
    );
  }
  return faults;
}

async function looksOf(page: Page, withAxe: boolean): Promise<string[]> {
  const beyond = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  return [
    ...(withAxe ? await violations(page, '#content') : []),
    ...(beyond > 1 ? [`${beyond} px wider than the window`] : []),
  ];
}

/** They load nothing before something is chosen in them; `access/subjects.test.ts` has their states. */
const chosenFirst = new Set(['who-can', 'may-do']);
const allViews = (): readonly View[] => [
  ...scopes.flatMap(viewsOf).filter(({ name }) => !chosenFirst.has(name)),
  ...ownViews,
];
/** They show what the frame knows of the user, and have nothing to wait for. */
const knownByFrame = new Set(['/console/me/profile', '/console/me/data']);

test('while it loads, every page says so', async () => {
  const view = await signedIn(setup, '/console/', desk);
  const { page } = view;
  await page.locator('#content .cards').first().waitFor();
  const held: Route[] = [];
  const unanswered = new Set<Request>();
  page.on('request', (request) => isOfFrame(request.url()) && unanswered.add(request));
  page.on('requestfinished', (request) => unanswered.delete(request));
  page.on('requestfailed', (request) => unanswered.delete(request));
  await page.route('**/api/**', (route) =>
    isOfFrame(route.request().url()) ? route.fallback() : void held.push(route),
  );
  const views = allViews().filter(({ path }) => !knownByFrame.has(path));
  const faults = await tour(view, 'loading', views, async () => {
    const skeleton = page.locator('#content .skeleton:visible').first();
    await skeleton.waitFor({ timeout: 60_000 });
    // After the rights the page reads what they allow, and must say that it waits for this too.
    await expect.poll(() => unanswered.size).toBe(0);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const isSaid = await skeleton.waitFor({ timeout: 60_000 }).then(
      () => true,
      () => false,
    );
    if (!isSaid) return ['silent after the rights'];
    return (await skeleton.getAttribute('aria-label')) ? [] : ['no label'];
  });
  expect(faults).toEqual([]);
  await view.context.close();
});

test('after a failure, every page says what happened, and tries again', async () => {
  const view = await signedIn(setup, '/console/', phone);
  const { page } = view;
  await page.locator('#content .cards').first().waitFor();
  const requestId = '0199e0c1-0000-7000-8000-00000000beef';
  const fail = (route: Route) =>
    route.fulfill({
      status: 500,
      headers: { 'content-type': 'application/json', 'x-request-id': requestId },
      body: JSON.stringify({ error: 'The test has broken it.', code: 'INTERNAL', requestId }),
    });
  await page.route('**/api/**', (route) =>
    isOfFrame(route.request().url()) ? route.fallback() : fail(route),
  );
  const faultsOf = async (): Promise<readonly string[]> => {
    const box = page.locator('#content .box.bad').first();
    await box.waitFor({ timeout: 60_000 });
    const text = await box.innerText();
    const retry = box.getByRole('button', { name: 'Try again' });
    return [
      ...(text.includes('The test has broken it.') ? [] : [`no message in: ${text}`]),
      ...((await retry.count()) === 1 ? [] : ['nothing tries again']),
      ...(text.includes('Copy request id') ? [] : ['no request id']),
    ];
  };
  const views = allViews().filter(({ path }) => !knownByFrame.has(path));
  expect(await tour(view, 'failed', views, faultsOf)).toEqual([]);

  // A request that is in the route goes to the service when the route ends; an error of `fail`, too late, does not matter.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  // A page can have several parts that failed, each with its own button.
  const retry = page.getByRole('button', { name: 'Try again' });
  await expect
    .poll(async () => {
      // It may go away meanwhile.
      if ((await retry.count()) > 0)
        await retry
          .first()
          .click({ timeout: 30_000 })
          .catch(() => undefined);
      return page.locator('#content .box.bad').count();
    })
    .toBe(0);

  // What the frame knows too fails with the frame.
  await page.route(/\/api\/me$/, fail);
  for (const path of [...knownByFrame, '/console/']) {
    await page.goto(`${setup.service.base}${path}`);
    expect(await faultsOf().catch((error: unknown) => [String(error)]), path).toEqual([]);
    expect(await looksOf(page, true), path).toEqual([]);
  }
  await view.context.close();
});

/** Pages that have rows from the beginning, or are no lists. */
const neverEmpty = new Set(
  'overview roles members audit events signing-keys why profile security sessions data'.split(' '),
);

test('without rows, every list says what would be in it', async () => {
  const view = await signedIn(setup, `/console/${scopes[2]?.tenant}/${scopes[2]?.id}/overview`, phone);
  const { page } = view;
  // An operator is a user with an account, so the installation has rows of every kind.
  const [account, ...others] = scopes.filter(({ tenant }) => tenant !== 'installation');
  const views = [...others.flatMap(viewsOf), ...ownViews].filter(
    ({ name, path }) =>
      !neverEmpty.has(name) &&
      !chosenFirst.has(name) &&
      !/organization.[0-9a-f-]+.(?:projects|resources)/.test(path),
  );
  expect(account).toBeDefined();
  expect(views.length).toBeGreaterThan(10);
  const faults = await tour(view, 'empty', views, async () => {
    const heading = page.locator('#content .empty h2');
    await heading.waitFor({ timeout: 60_000 });
    return (await heading.innerText()).length > 15 ? [] : ['no words'];
  });
  expect(faults).toEqual([]);
  await view.context.close();
});

test('without the right, every page names it, and leads to why', async () => {
  const view = await signedIn(setup, '/console/', desk);
  const { page } = view;
  await page.locator('#content .cards').first().waitFor();
  // Of the rights that the service answers the page sees one alone.
  await page.route('**/api/me/permissions*', async (route) => {
    const response = await route.fetch();
    if (!response.ok()) return route.fulfill({ response });
    const body = (await response.json()) as { data: { permissions: { resource: string; action: string }[] } };
    body.data.permissions = body.data.permissions.filter(
      ({ resource, action }) => `${resource}:${action}` === 'Authorization:Explain',
    );
    await route.fulfill({ response, json: body });
  });
  const views = scopes
    .flatMap(viewsOf)
    .filter(({ needs }) => needs !== null && needs !== 'Authorization:Explain');
  const faults = await tour(view, 'forbidden', views, async (_page, { needs, path }) => {
    const empty = page.locator('#content .empty', { hasText: needs ?? '' });
    await empty.waitFor({ timeout: 60_000 });
    const link = empty.getByRole('link', { name: 'Why?' });
    const isWithoutWhy = /\/(?:account|installation)\//.test(path);
    return (await link.count()) === (isWithoutWhy ? 0 : 1) ? [] : ['no way to why'];
  });
  expect(faults).toEqual([]);
  await visit(page, `/console/${scopes[2]?.tenant}/${scopes[2]?.id}/events`);
  await page.locator('#content .empty', { hasText: 'Event:Query' }).waitFor();
  await page.getByRole('link', { name: 'Why?' }).last().click();
  await page.getByRole('heading', { name: 'Why?', level: 1 }).waitFor();
  expect(await page.getByLabel('Resource', { exact: true }).inputValue()).toBe('Event');
  // Ends before the context does: an answer that the handler still reads would end with it.
  await page.unrouteAll({ behavior: 'wait' });
  await view.context.close();
});
