/** The code of the read-mes of both packages, in a browser with the service: only addresses and the resource differ. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { bundle } from '../support/app-pages.ts';
import { inPage } from '../support/page-client.ts';
import { startAppInBrowser, type AppInBrowser } from '../support/signed-in-browser.ts';

let all: AppInBrowser | undefined;
afterEach(() => all?.close());

async function codeOf(name: string): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '../../..', name, 'README.md'), 'utf8');
  const code = /^```jsx?\n([\s\S]*?)^```/m.exec(text)?.[1] ?? '';
  return code
    .replace(/issuer: .*,/, 'issuer: config.issuer,')
    .replace(/clientId: .*,/, 'clientId: config.clientId,')
    .replace(/redirectUri: .*,/, 'redirectUri: config.redirectUri,')
    .replaceAll('order:', 'board:');
}

test('of @doorward/browser', async () => {
  const code = await codeOf('browser');
  all = await startAppInBrowser(
    await bundle(
      `const show = (orders) => (globalThis.orders = orders); ${code}; globalThis.decision = { authorized };`,
    ),
  );
  const user = await all.boards.user();
  const page = await (await all.browser.newContext({ locale: 'en-GB' })).newPage();
  // Its first run leaves for the hosted pages at once.
  await page.goto(`${all.pages.origin}/list`);
  await page.waitForURL(`${all.boards.origin}/**`);
  await all.boards.passHostedPages(page, user);
  await page.waitForURL(`${all.pages.origin}/list`);
  await expect.poll(() => inPage(page, 'globalThis.decision')).toEqual({ authorized: false });
  expect(all.pages.calls.map(({ path, authorization }) => [path, authorization?.slice(0, 9)])).toEqual([
    ['/api/orders', 'Bearer ey'],
  ]);
});

test('of @doorward/react', async () => {
  const code = await codeOf('react');
  all = await startAppInBrowser(
    await bundle(`import { createRoot } from 'react-dom/client'; ${code}
      createRoot(document.getElementById('root')).render(<App />);`),
  );
  const user = await all.boards.user();
  const page = await (await all.browser.newContext({ locale: 'en-GB' })).newPage();
  await page.goto(`${all.pages.origin}/list`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await all.boards.passHostedPages(page, user);
  await page.waitForURL(`${all.pages.origin}/list`);
  await page.getByText('Read only').waitFor();
  expect(await page.locator('main').innerText()).toMatch(/^Order of \S+\s+Read only$/);
  expect(await page.getByRole('button').count()).toBe(0);
});
