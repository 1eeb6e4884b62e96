/** The session of a page: shared by tabs, renewed by one of them, ended for all. */
import type { BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Person } from '../../../server/test/support/app/client.ts';
import { bundle } from '../support/app-pages.ts';
import { clientScript, expectStatus, inPage, sessionIn, startedIn } from '../support/page-client.ts';
import { startAppInBrowser, type AppInBrowser } from '../support/signed-in-browser.ts';

let all: AppInBrowser;
let user: Person;
let context: BrowserContext;
let page: Page;
/** Requests for new tokens by a refresh token. */
let renewals: string[];
/** Those that were answered: one that takes too long is sent again. */
let answeredRenewals: string[];

beforeAll(async () => {
  all = await startAppInBrowser(await bundle(clientScript));
});
afterAll(() => all?.close());
beforeEach(async () => {
  user = await all.boards.user();
  const [sent, answered]: [string[], string[]] = [[], []];
  [renewals, answeredRenewals] = [sent, answered];
  context = await all.browser.newContext({ locale: 'en-GB' });
  for (const [event, list] of [
    ['request', sent],
    ['requestfinished', answered],
  ] as const)
    context.on(event as 'request', (request) => {
      const body = request.postData() ?? '';
      if (asksForToken(request) && body.includes('grant_type=refresh_token')) list.push(body);
    });
  await context.clock.install();
  page = await all.signedIn(user, context);
});
afterEach(() => context.close());

async function openTab(): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(`${all.pages.origin}/`);
  await startedIn(tab);
  return tab;
}
/** A tab that has joined the session: where the other tabs are busy, they answer after it has started. */
async function joinedTab(): Promise<Page> {
  const tab = await openTab();
  await expectStatus(tab, 'signedIn');
  return tab;
}
const asksForToken = (request: Request): boolean => request.url().endsWith('/project/token');
const expiryIn = async (tab: Page) => (await sessionIn(tab)).expiresAt ?? 0;
/** The token that the page adds to a request. */
async function tokenOf(tab: Page): Promise<string | undefined> {
  await inPage(tab, `doorward.fetch('/api/x').then(({ status }) => status)`);
  return all.pages.calls.at(-1)?.authorization;
}
/** The sessions of the user with apps, as the service has them. */
const sessionsAtService = async () =>
  (await all.boards.service.must('myUserSessions', { kind: 'projectApp' }, { token: user.token })).items;

/** A script in which a lock is free only half a second after its work is done. */
const releaseLocksLate = `{
  const request = navigator.locks.request.bind(navigator.locks);
  navigator.locks.request = (name, work) =>
    request(name, async () => {
      const result = await work();
      await new Promise((resolve) => setTimeout(resolve, 500));
      return result;
    });
}`;

/** In a busy browser a lock can be free before the tokens of its holder arrive, and a second tab renews too: not here. */
async function openWithLateLocks(): Promise<void> {
  await page.close();
  await context.addInitScript(releaseLocksLate);
  page = await all.signedIn(user, context);
}

/** Is done when all who waited for the lock have had it. */
const lockIsFree = `navigator.locks
  .query()
  .then(({ held }) => held.length && navigator.locks.request(held[0].name, () => undefined))`;

describe('tabs', () => {
  test('share the session, and have its tokens renewed together', async () => {
    const tabs = [page, await joinedTab(), await joinedTab(), await joinedTab()];
    expect(new Set(await Promise.all(tabs.map(expiryIn))).size).toBe(1);
    for (const round of [1, 2]) {
      const before = await expiryIn(page);
      await context.clock.fastForward('12:30');
      for (const tab of tabs) await expect.poll(() => expiryIn(tab)).toBeGreaterThan(before);
      expect(renewals.length).toBeGreaterThanOrEqual(round);
      const differentTokens = async (): Promise<number> => {
        const tokens = new Set<string | undefined>();
        for (const tab of tabs) tokens.add(await tokenOf(tab));
        return tokens.size;
      };
      await expect.poll(differentTokens).toBe(1);
    }
    expect(await sessionsAtService()).toHaveLength(1);
  });

  test('renew once, also when the tokens come before the lock is free', async () => {
    await openWithLateLocks();
    const second = await joinedTab();
    const before = await expiryIn(page);
    await context.clock.fastForward('12:30');
    for (const tab of [page, second]) await expect.poll(() => expiryIn(tab)).toBeGreaterThan(before);
    await second.evaluate(lockIsFree);
    await expect.poll(() => answeredRenewals.length).toBe(1);
  });

  test('keep the session when the tab of the sign-in closes', async () => {
    const second = await joinedTab();
    const [before, token] = [await expiryIn(second), await tokenOf(second)];
    await page.close();
    // Of the same second the service signs the same access token.
    all.boards.service.clock.advance(1000);
    await context.clock.fastForward('12:30');
    await expect.poll(() => expiryIn(second)).toBeGreaterThan(before);
    await expect.poll(() => answeredRenewals.length).toBe(1);
    expect(await tokenOf(second)).toMatch(/^Bearer ey/);
    expect(await tokenOf(second)).not.toBe(token);
  });

  test('take over a later sign-in of one of them, and a reload joins it', async () => {
    const second = await openTab();
    await page.close();
    await second.reload();
    await startedIn(second);
    expect((await sessionIn(second)).status).toBe('signedOut');
    page = await all.signedIn(user, context);
    await expectStatus(second, 'signedIn');
    await page.reload();
    await startedIn(page);
    await expectStatus(page, 'signedIn');
    expect((await sessionIn(page)).user?.email).toBe(user.email);
    expect(renewals).toEqual([]);
  });

  test('of another app of the same origin get nothing', async () => {
    const { config } = all.pages;
    all.pages.config = { ...config, clientId: 'another' };
    const other = await openTab();
    all.pages.config = config;
    expect((await sessionIn(other)).status).toBe('signedOut');
  });

  test('end the session together, and at the service', async () => {
    const second = await joinedTab();
    const former = await tokenOf(second);
    expect(await sessionsAtService()).toHaveLength(1);
    expect(await inPage(page, 'doorward.signOut()')).toBeUndefined();
    await expectStatus(second, 'signedOut');
    expect(await sessionIn(page)).toEqual({ status: 'signedOut' });
    expect(await sessionsAtService()).toEqual([]);
    expect([former !== undefined, await tokenOf(page), await tokenOf(second)]).toEqual([
      true,
      undefined,
      undefined,
    ]);
    expect(await inPage(page, `['board:read', 'board:share'].map(doorward.state)`)).toEqual([
      'unknown',
      'unknown',
    ]);
    expect((await openTab().then(sessionIn)).status).toBe('signedOut');
  });
});

describe('a renewal', () => {
  test('whose answer was lost is repeated, and keeps the session', async () => {
    await context.route(
      '**/project/token',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    const before = await expiryIn(page);
    await context.clock.fastForward('12:30');
    await expect.poll(() => expiryIn(page)).toBeGreaterThan(before);
    expect(renewals.length).toBeGreaterThanOrEqual(2);
    expect(new Set(renewals).size).toBe(1);
    expect(await sessionsAtService()).toHaveLength(1);
  });

  test('waits while the service does not answer, and the session stays', async () => {
    let isDown = true;
    await context.route('**/project/token', (route) => (isDown ? route.abort() : route.fallback()));
    await context.clock.fastForward('14:58');
    await expect.poll(() => renewals.length).toBeGreaterThan(0);
    expect((await sessionIn(page)).status).toBe('signedIn');
    // A call that needs a token is refused, and not sent without one.
    all.pages.calls.length = 0;
    expect(await inPage(page, `doorward.fetch('/api/x')`)).toMatchObject({ code: 'UNREACHABLE' });
    expect(all.pages.calls).toEqual([]);
    isDown = false;
    await expect.poll(() => tokenOf(page)).toMatch(/^Bearer ey/);
  });

  test('that is under way does not outlive a sign-out', async () => {
    const second = await joinedTab();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await context.route('**/project/token', async (route) => {
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    // The page gives up a request that takes too long.
    const answered = Promise.any([
      context.waitForEvent('requestfinished', asksForToken),
      context.waitForEvent('requestfailed', asksForToken),
    ]);
    await context.clock.fastForward('12:30');
    await expect.poll(() => renewals.length).toBeGreaterThan(0);
    await inPage(page, 'doorward.signOut()');
    release();
    await answered;
    await expectStatus(second, 'signedOut');
    expect((await openTab().then(sessionIn)).status).toBe('signedOut');
    expect(await sessionsAtService()).toEqual([]);
  });

  test('of a session that was revoked ends it in every tab', async () => {
    const second = await joinedTab();
    for (const { id } of await sessionsAtService())
      await all.boards.service.must('revokeMyUserSession', { id }, { token: user.token });
    await inPage(page, `dispatchEvent(new Event('focus'))`);
    await expect.poll(async () => (await sessionIn(page)).status).toBe('signedOut');
    await expectStatus(second, 'signedOut');
  });
});
