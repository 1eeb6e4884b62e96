/** What a page sends with its session: `fetch`, and the rights of the user. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Person } from '../../../server/test/support/app/client.ts';
import { bundle, startAppPages, type AppPages } from '../support/app-pages.ts';
import { clientScript, inPage, statesIn } from '../support/page-client.ts';
import { startAppInBrowser, type AppInBrowser } from '../support/signed-in-browser.ts';

let all: AppInBrowser;
let elsewhere: AppPages;
let user: Person;
let page: Page;

beforeAll(async () => {
  all = await startAppInBrowser(await bundle(clientScript));
  elsewhere = await startAppPages('');
  user = await all.boards.user();
  page = await all.signedIn(user);
});
afterAll(async () => {
  await elsewhere?.close();
  await all?.close();
});
beforeEach(() => {
  all.pages.calls.length = 0;
  elsewhere.calls.length = 0;
});

const fetched = (address: string, init = '{}') =>
  inPage(page, `doorward.fetch(${JSON.stringify(address)}, ${init}).then(({ status }) => status)`);

describe('fetch', () => {
  test('adds the token for a listed origin, to any kind of request', async () => {
    await fetched('/api/orders');
    await fetched('/api/orders', `{ method: 'POST', body: 'two', headers: { 'x-mine': '1' } }`);
    await inPage(page, `doorward.fetch(new Request('/api/orders')).then(() => 0)`);
    await inPage(page, `doorward.fetch(new URL('/api/orders', location.href)).then(() => 0)`);
    expect(all.pages.calls.map(({ authorization }) => authorization?.slice(0, 9))).toEqual(
      Array.from({ length: 4 }, () => 'Bearer ey'),
    );
    expect(all.pages.calls.map(({ body }) => body)).toEqual(['', 'two', '', '']);
  });

  test('adds none for another origin, nor after a redirect to one', async () => {
    await fetched(`${elsewhere.origin}/api/orders`);
    const target = encodeURIComponent(`${elsewhere.origin}/api/redirected`);
    await fetched(`/api/redirect?to=${target}`);
    expect(all.pages.calls.map(({ authorization }) => authorization !== undefined)).toEqual([true]);
    expect(elsewhere.calls).toEqual([
      { path: '/api/orders', authorization: undefined, body: '' },
      { path: '/api/redirected', authorization: undefined, body: '' },
    ]);
  });

  test('keeps an authorization of the caller', async () => {
    await fetched('/api/orders', `{ headers: { authorization: 'Basic mine' } }`);
    expect(all.pages.calls.map(({ authorization }) => authorization)).toEqual(['Basic mine']);
  });

  test('hands on a refusal once: a young token is not replaced', async () => {
    const context = await all.browser.newContext({ locale: 'en-GB' });
    // However long the sign-in takes, the token gets no older.
    await context.clock.setFixedTime(new Date());
    const fresh = await all.signedIn(await all.boards.user(), context);
    all.pages.calls.length = 0;
    all.pages.answers.push(401);
    expect(await inPage(fresh, `doorward.fetch('/api/orders').then(({ status }) => status)`)).toBe(401);
    expect(all.pages.calls).toHaveLength(1);
    await fresh.context().close();
  });

  test('repeats a request that was refused with 401, with a new token and its body', async () => {
    const context = await all.browser.newContext({ locale: 'en-GB' });
    await context.clock.install();
    const old = await all.signedIn(await all.boards.user(), context);
    // Of the same second the service signs the same access token.
    all.boards.service.clock.advance(1000);
    await context.clock.fastForward('01:00');
    all.pages.calls.length = 0;
    all.pages.answers.push(401);
    const call = `doorward.fetch('/api/orders', { method: 'POST', body: 'once' }).then(({ status }) => status)`;
    expect(await inPage(old, call)).toBe(200);
    const [first, second] = all.pages.calls;
    expect([all.pages.calls.length, first?.body, second?.body]).toEqual([2, 'once', 'once']);
    expect(second?.authorization).toMatch(/^Bearer ey/);
    expect(second?.authorization).not.toBe(first?.authorization);
    await context.close();
  });
});

describe('rights', () => {
  const names = ['board:read', 'board:edit', 'board:share'];

  test('are those of the user, by either form of a name', async () => {
    expect(await statesIn(page, names)).toEqual(['yes', 'conditional', 'no']);
    expect(await inPage(page, `doorward.can({ resource: 'board', action: 'read' })`)).toBe(true);
    for (const name of ['board', 'board:read:all', ':read', 'board:'])
      expect(await inPage(page, `Promise.resolve().then(() => doorward.can('${name}'))`)).toMatchObject({
        code: 'TypeError',
      });
  });

  test('are known in the line after `await start()`, also in a tab that is hidden', async () => {
    const context = await all.browser.newContext({ locale: 'en-GB' });
    const first = await all.signedIn(await all.boards.user(), context);
    for (const state of ['visible', 'hidden']) {
      const tab = await context.newPage();
      await tab.addInitScript(`
        Object.defineProperty(document, 'visibilityState', { value: '${state}' });
        globalThis.rights = new Promise((resolve) => (globalThis.reportRights = resolve));`);
      await tab.goto(`${all.pages.origin}/`);
      expect(await inPage(tab, `rights`), state).toEqual([true, 'conditional', 'no']);
      await tab.close();
    }
    await first.context().close();
  });

  test('follow a change after a refusal, and after the focus', async () => {
    const other = await all.boards.user();
    const tab = await all.signedIn(other);
    expect(await statesIn(tab, names)).toEqual(['yes', 'conditional', 'no']);
    const changes = inPage(
      tab,
      `new Promise((resolve) => doorward.subscribe(() => resolve(doorward.state('board:read'))))`,
    );
    await all.boards.setRoles(other, []);
    all.pages.answers.push(403);
    await inPage(tab, `doorward.fetch('/api/orders').then(() => 0)`);
    expect(await changes).toBe('no');
    await all.boards.setRoles(other, [all.boards.roleId]);
    const focus = () =>
      inPage<string>(tab, `(dispatchEvent(new Event('focus')), doorward.state('board:read'))`);
    await expect.poll(focus).toBe('yes');
    await tab.context().close();
  });

  test('are requested with the version that is held, and questions of one moment together', async () => {
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
    const notModified = page.waitForResponse((response) => response.url().endsWith('/me/permissions'));
    await expect
      .poll(() => inPage(page, `(dispatchEvent(new Event('focus')), doorward.permissions.version !== null)`))
      .toBe(true);
    expect((await notModified).status()).toBe(304);
    expect(await statesIn(page, names)).toEqual(['yes', 'conditional', 'no']);
    sent.length = 0;
    const mine = `{ resource: { ownerId: index % 2 ? doorward.session.user.id : 'x' } }`;
    const questions = `Array.from({ length: 130 }, (_, index) => doorward.ask('board:edit', ${mine}))`;
    const answers = await inPage<{ authorized: boolean }[]>(page, `Promise.all(${questions})`);
    expect(answers.map(({ authorized }) => authorized)).toEqual(answers.map((_, index) => index % 2 === 1));
    expect(sent.filter((line) => line.startsWith('POST'))).toEqual([
      'POST /api/auth/is-authorized/batch',
      'POST /api/auth/is-authorized/batch',
    ]);
  });

  test('a question that the service refuses, or without a session, is an error', async () => {
    const answers = `Promise.allSettled([
      doorward.ask('board:edit', { nonsense: 1 }), doorward.ask('board:read')
    ]).then(([bad, good]) => [bad.reason.code, good.value.authorized])`;
    expect(await inPage(page, answers)).toEqual(['VALIDATION_ERROR', true]);
    const signedOut = await (await all.browser.newContext()).newPage();
    await signedOut.goto(`${all.pages.origin}/`);
    await inPage(signedOut, 'started');
    expect(await inPage(signedOut, `doorward.ask('board:edit')`)).toMatchObject({ code: 'SIGNED_OUT' });
    await signedOut.context().close();
  });
});
