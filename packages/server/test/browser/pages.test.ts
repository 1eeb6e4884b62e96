/**
 * The REST documentation and the GraphQL explorer in a real browser: what they show and store, and that they send
 * requests only to this service. `PAGES_SCREENSHOTS` names a folder for screenshots.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp } from '../support/app/app.ts';
import { photograph as photographed, sharedBrowser, watched } from './watched.ts';

interface Pages {
  origin: string;
  /** A protected GET of the document without parameters, by its operationId and path. */
  operation: { id: string; tag: string; path: string };
  /** An access token. The pages must send it; the operation may reject it. */
  token: string;
  close: () => Promise<void>;
}

/** Starts the service on a free port, with a user who is signed in. */
async function startPages(): Promise<Pages> {
  const app = await startApp();
  const origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
  const { token } = await app.person({ name: 'Ada' });
  return { origin, operation: { id: 'me', tag: 'Me', path: '/api/me' }, token, close: () => app.close() };
}

let pages: Pages;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let offences: string[];
let requests: string[];

/** The operation that the tests call may answer 401. */
const mayFail = (url: string) =>
  url.startsWith(pages.origin) && new URL(url).pathname === pages.operation.path;

beforeAll(async () => {
  pages = await startPages();
  browser = await sharedBrowser();
});

afterAll(async () => {
  await pages?.close();
});

beforeEach(async () => {
  ({ context, page, offences, requests } = await watched(browser, pages.origin, mayFail));
});

afterEach(async () => {
  await context.close();
  expect(offences).toEqual([]);
});

const photograph = (name: string): Promise<void> => photographed(page, name);

describe('the REST documentation', () => {
  const dialog = () => page.locator('.dialog-ux .modal-ux');
  /** The dialog also offers the client of an app. */
  const bearer = () => dialog().locator('.auth-container', { hasText: 'bearer' });

  async function open(query = ''): Promise<void> {
    await page.goto(`${pages.origin}/api-docs${query}`);
    await page.locator('.opblock').first().waitFor();
  }

  /** Filters for the operation, because the page only contains the operations that are visible. */
  async function findOperation() {
    const { id, tag } = pages.operation;
    await page.locator('.operation-filter-input').fill(tag);
    const block = page.locator(`#operations-${tag}-${id}`);
    await block.waitFor();
    return block;
  }

  /** Filters and opens the operation. While the page still filters, a click has no effect. */
  async function openOperation() {
    const block = await findOperation();
    const opened = async () => {
      const shown = await block.getAttribute('class');
      // After a reload it is already open, because the address contains it (deep linking).
      if (!shown?.includes('is-open')) await block.locator('.opblock-summary-control').click();
      return shown;
    };
    await expect.poll(opened, { interval: 1000 }).toContain('is-open');
    return block;
  }

  /** Executes the operation in the page and returns the Authorization header that the server got. */
  async function tryOut(): Promise<string | undefined> {
    const { path } = pages.operation;
    const block = await openOperation();
    const [answered] = await Promise.all([
      page.waitForResponse((response) => new URL(response.url()).pathname === path),
      block.locator('button.execute').click(),
    ]);
    const headers = await answered.request().allHeaders();
    await block.locator('.live-responses-table').waitFor();
    return headers['authorization'];
  }

  test('shows the operations', async () => {
    await open();
    expect(await page.title()).toBe('Doorward API');
    await photograph('api-docs');
    const operation = await openOperation();
    await operation.locator('button.execute').waitFor();
    await photograph('api-docs-operation');
    await page.emulateMedia({ colorScheme: 'dark' });
    await photograph('api-docs-dark');
    await page.setViewportSize({ width: 400, height: 800 });
    await page.evaluate('scrollTo(0, 0)');
    await photograph('api-docs-narrow');
  });

  test('keeps a pasted token across reloads until the logout in the dialog', async () => {
    await open();
    await page.locator('button.authorize').first().click();
    await bearer().locator('input').fill(pages.token);
    await photograph('api-docs-authorize');
    await bearer().locator('button.authorize').click();
    await bearer().locator('.btn-done').click();
    expect(await tryOut()).toBe(`Bearer ${pages.token}`);
    await photograph('api-docs-answer');

    await page.reload();
    await page.locator('.opblock').first().waitFor();
    expect(await tryOut()).toBe(`Bearer ${pages.token}`);

    await page.locator('button.authorize').first().click();
    await bearer()
      .getByRole('button', { name: /remove authorization|logout/i })
      .click();
    await bearer().locator('.btn-done').click();
    await page.reload();
    await page.locator('.opblock').first().waitFor();
    expect(await page.locator('button.authorize.locked').count()).toBe(0);
    expect(await tryOut()).toBeUndefined();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(pages.token);
  });

  test('ignores what a link adds to its address', async () => {
    const evil = encodeURIComponent('https://evil.example/x.json');
    await open(
      `?url=${evil}&configUrl=${evil}&urls.primaryName=x&oauth2RedirectUrl=${evil}&validatorUrl=${evil}`,
    );
    expect(await page.locator('.info .title').innerText()).toContain('Doorward');
    expect(requests.filter((url) => url === `${pages.origin}/api-docs.json`)).toHaveLength(1);
  });
});

describe('the GraphQL explorer', () => {
  /** Sends the query in the editor and returns the Authorization header that the server got. */
  async function send(): Promise<string | undefined> {
    const [answer] = await Promise.all([
      page.waitForResponse((response) => Boolean(response.request().postData()?.includes('user {'))),
      page.locator('.send-request__button').first().click(),
    ]);
    expect(new URL(answer.url()).pathname).toBe('/graphql');
    return (await answer.request().allHeaders())['authorization'];
  }

  test('renders its editor, reads the schema, and sends a query, with a token once one is pasted', async () => {
    await page.goto(`${pages.origin}/graphql`);
    expect(await page.title()).toBe('Doorward GraphQL');
    const editor = page.locator('app-query-editor .cm-content').first();
    await editor.waitFor();
    await expect.poll(() => editor.innerText()).toContain('me {');
    // The page also sends requests after it has loaded.
    await page.waitForLoadState('networkidle');
    await photograph('graphql');
    expect(await send()).toBeUndefined();

    await page.getByRole('tab', { name: 'Auth' }).click();
    await page
      .locator('app-authorization-editor input[type=text], app-authorization-editor .cm-content')
      .last()
      .fill(pages.token);
    await page.locator('[track-id=show_docs]').click();
    await photograph('graphql-token');
    expect(await send()).toBe(`Bearer ${pages.token}`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await photograph('graphql-dark');
  });
});

describe('what the pages are sent with', () => {
  const assetsOf = (html: string) =>
    [...html.matchAll(/(?:src|href)="(\/api-docs\/[^"]+)"/g)].map(([, path]) => path ?? '');

  test('own policies and caches, whatever the hooks of the application say', async () => {
    const { server: app, close } = await startApp();
    const docs = await app.inject('/api-docs?url=x');
    expect(docs.headers['content-security-policy']).toContain("script-src 'self';");
    expect(docs.headers['content-security-policy']).not.toContain("style-src 'self' 'unsafe-inline'");
    expect(docs.headers).toMatchObject({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
    expect(docs.body).not.toMatch(/<script>|<style>| on\w+=|url=x/);
    const paths = assetsOf(docs.body);
    expect(paths).toHaveLength(4);
    for (const path of paths) {
      const file = await app.inject(path);
      expect([path, file.statusCode, file.headers['cache-control']]).toEqual([
        path,
        200,
        path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      ]);
      const again = await app.inject({ url: path, headers: { 'if-none-match': String(file.headers.etag) } });
      expect([path, again.statusCode, again.body]).toEqual([path, 304, '']);
    }
    const folder = paths.find((path) => path.endsWith('.css'))?.replace(/[^/]+$/, '') ?? '';
    for (const other of ['package.json', 'index.html', 'swagger-initializer.js', '..%2fpackage.json', '']) {
      const refused = await app.inject(folder + other);
      expect([other, refused.statusCode, refused.headers['cache-control']]).toEqual([other, 404, 'no-store']);
    }
    await close();
  });

  test('the document with its ETag, also when the pages are switched off', async () => {
    const { server: app, close } = await startApp({ API_DOCS_ENABLED: 'false', GRAPHQL_EXPLORER: 'false' });
    for (const path of ['/api-docs', '/api-docs/init.js', '/graphql/assets/init.js']) {
      expect([path, (await app.inject(path)).statusCode]).toEqual([path, 404]);
    }
    const document = await app.inject('/api-docs.json');
    expect(document.json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Doorward API' } });
    expect(document.headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'application/json; charset=utf-8',
    });
    const again = await app.inject({
      url: '/api-docs.json',
      headers: { 'if-none-match': String(document.headers.etag) },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    await close();
  });
});
