/** The components in a real browser, with the session and the rights of a user of the service. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Person } from '../../../server/test/support/app/client.ts';
import { bundle } from '../../../browser/test/support/app-pages.ts';
import { inPage } from '../../../browser/test/support/page-client.ts';
import { startAppInBrowser, type AppInBrowser } from '../../../browser/test/support/signed-in-browser.ts';

/** Every text that the page has shown is in `shown`, for texts that must not appear even for a moment. */
const script = `
  import { createBrowserClient } from '@doorward/browser';
  import { Can, DoorwardProvider, SignedIn, SignedOut, useCan, useSession } from '@doorward/react';
  import { StrictMode, useState } from 'react';
  import { createRoot } from 'react-dom/client';

  const doorward = (globalThis.doorward = createBrowserClient(globalThis.config));
  const shown = (globalThis.shown = new Set());
  globalThis.started = doorward.start().catch(({ code }) => code);

  function Board({ name, ownerId }) {
    const { allowed, pending, error } = useCan('board:edit', { resource: { ownerId } });
    return <p id={name}>{pending ? 'pending' : error ? 'error ' + error.code : allowed ? 'allowed' : 'refused'}</p>;
  }
  function Boards() {
    const { user } = useSession();
    const [owner, setOwner] = useState(user.id);
    globalThis.setOwner = setOwner;
    return <>
      <h1>{user.email}</h1>
      <p id="read"><Can permission="board:read" pending="wait" fallback="no">reader</Can></p>
      <p id="edit"><Can permission="board:edit" fallback="no">editor of everything</Can></p>
      <p id="share"><Can permission="board:share" fallback="no">sharer</Can></p>
      <p id="own"><Can permission="board:edit" context={{ resource: { ownerId: owner } }} pending="wait" fallback="no">
        editor of {owner}
      </Can></p>
      <Board name="mine" ownerId={user.id} /><Board name="theirs" ownerId="x" />
    </>;
  }
  new MutationObserver(() => shown.add(document.body.innerText)).observe(document.body, {
    childList: true, subtree: true, characterData: true,
  });
  createRoot(document.getElementById('root')).render(
    <StrictMode>
      <DoorwardProvider client={doorward}>
        <SignedIn pending={<i>wait</i>}><Boards /></SignedIn>
        <SignedOut><button onClick={() => doorward.signIn()}>Sign in</button></SignedOut>
      </DoorwardProvider>
    </StrictMode>,
  );
`;

let all: AppInBrowser;
let user: Person;
let page: Page;
let isBlocked: boolean;

beforeAll(async () => {
  all = await startAppInBrowser(await bundle(script));
});
afterAll(() => all?.close());
beforeEach(async () => {
  user = await all.boards.user();
  const context = await all.browser.newContext({ locale: 'en-GB' });
  isBlocked = false;
  await context.route('**/auth/is-authorized/batch', (route) =>
    isBlocked ? route.abort() : route.fallback(),
  );
  page = await all.signedIn(user, context);
  return () => context.close();
});

const text = (id: string) => page.locator(`#${id}`).innerText();
const expectText = (id: string, value: string) => expect.poll(() => text(id)).toBe(value);
const shownTexts = async () => (await inPage<string[]>(page, '[...shown]')).join('\n');

describe('for a signed-in user', () => {
  test('each component shows what the user may', async () => {
    await expectText('read', 'reader');
    await expectText('own', `editor of ${user.userId}`);
    await expectText('mine', 'allowed');
    await expectText('theirs', 'refused');
    expect([await text('edit'), await text('share')]).toEqual(['no', 'no']);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('heading').innerText()).toBe(user.email);
    expect(await shownTexts()).not.toMatch(/editor of everything|sharer/);
  });

  test('the children wait for the answer to another context', async () => {
    await expectText('own', `editor of ${user.userId}`);
    await inPage(page, `setOwner('x')`);
    await expectText('own', 'no');
    // The answer to the former context was not shown with the new one.
    expect(await shownTexts()).not.toContain('editor of x');
  });

  test('an error shows no children', async () => {
    await expectText('own', `editor of ${user.userId}`);
    isBlocked = true;
    await inPage(page, `setOwner('y')`);
    await expectText('own', 'no');
    expect(await shownTexts()).not.toContain('editor of y');
  });

  test('rights that are taken disappear', async () => {
    await expectText('read', 'reader');
    await all.boards.setRoles(user, []);
    const read = () =>
      inPage<string>(page, `(dispatchEvent(new Event('focus')), document.querySelector('#read').innerText)`);
    await expect.poll(read).toBe('no');
    await expectText('own', 'no');
    await expectText('mine', 'refused');
  });

  test('signing out replaces everything', async () => {
    await expectText('read', 'reader');
    await inPage(page, 'doorward.signOut()');
    await expect.poll(() => page.locator('main').innerText()).toBe('Sign in');
  });
});

test('rights that cannot be loaded show no children', async () => {
  await page.context().route('**/me/permissions', (route) => route.abort());
  const other = await page.context().newPage();
  await other.goto(`${all.pages.origin}/`);
  await expect.poll(() => other.locator('#read').innerText()).toBe('no');
  await expect.poll(() => other.locator('#mine').innerText()).toBe('error UNREACHABLE');
  expect((await inPage<string[]>(other, '[...shown]')).join('\n')).not.toMatch(/reader|editor/);
});
