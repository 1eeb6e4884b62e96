import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../test/support/app/app.ts';

/** The pages that a browser gets where a program gets JSON: the start page, unknown addresses and errors. */

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' });
});
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
  app.server.inject({ method, url, headers: { accept: BROWSER, ...headers } });
const linksIn = (body: string) => [...body.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href);

function expectPage({ headers, body }: Awaited<ReturnType<typeof get>>, language = 'en'): void {
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers['content-language']).toBe(language);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  expect(headers['vary']).toContain('Accept,');
  expect(headers).not.toHaveProperty('set-cookie');
  expect(body).toContain(`<html lang="${language}">`);
  expect(body).not.toMatch(/<script|0\.0\.0-test/);
}

describe('the start page', () => {
  it('links to what is served', async () => {
    const page = await get('/');
    expect(page.statusCode).toBe(200);
    expectPage(page);
    expect(linksIn(page.body)).toEqual(['/api-docs', '/graphql', '/health']);
    for (const link of linksIn(page.body)) expect((await get(String(link))).statusCode, link).toBe(200);
    expect((await get('/', {}, 'HEAD')).statusCode).toBe(200);
  });

  it('is not found for a program', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html;q=0.5, application/json', 'text/html;q=0']) {
      const answer = await get('/', { accept });
      expect([answer.statusCode, answer.json<{ code: string }>().code], accept).toEqual([404, 'NOT_FOUND']);
    }
    expect((await get('/', {}, 'POST')).statusCode).toBe(405);
  });

  it('does not link to what is switched off', async () => {
    const bare = await startApp({ GRAPHQL_EXPLORER: 'false', API_DOCS_ENABLED: 'false' }, app);
    const page = await bare.server.inject({ url: '/', headers: { accept: BROWSER } });
    expect(linksIn(page.body)).toEqual(['/health']);
    await bare.close();
  });
});

describe('an unknown address', () => {
  it.each(['/nothing', '/api/nothing', '/index.html', '/api/v1/roles', '/api/roles/%E0%A4%A', '/hosted/x'])(
    '%s is a page for a browser, and JSON for a program',
    async (url) => {
      const page = await get(url);
      expect(page.statusCode).toBe(404);
      expectPage(page);
      expect(page.body).not.toContain(url);
      const head = await get(url, {}, 'HEAD');
      expect([head.statusCode, head.body]).toEqual([404, '']);
      for (const answer of [await get(url, { accept: '*/*' }), await get(url, {}, 'POST')]) {
        expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([404, 'NOT_FOUND']);
      }
    },
  );

  it('has a page in four languages', async () => {
    for (const [language, title] of [
      ['de', 'Seite nicht gefunden'],
      ['es', 'Página no encontrada'],
      ['fr', 'Page introuvable'],
    ] as const) {
      const page = await get('/nothing', { 'accept-language': language });
      expectPage(page, language);
      expect(page.body).toContain(title);
      expectPage(await get('/', { 'accept-language': language }), language);
    }
  });

  it('of the API answers JSON, and so does another method', async () => {
    expect((await get('/api/roles')).json()).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await get('/api/auth/token')).json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });

  it.each([
    ['POST', '/api/nothing', 404, undefined],
    ['POST', '/nothing', 404, undefined],
    ['PUT', '/api/auth/project/token', 405, 'POST, OPTIONS'],
    ['POST', '/acc/1/prj/2/.well-known/openid-configuration', 405, 'GET, HEAD, OPTIONS'],
  ] as const)('is recognized before the body: %s %s', async (method, url, status, allow) => {
    for (const [type, payload] of [
      ['application/x-www-form-urlencoded', 'a=1'],
      ['text/plain', 'a'],
      ['application/json', '{'],
      ['application/json', JSON.stringify('x'.repeat(2_000_000))],
    ] as const) {
      const answer = await app.server.inject({ method, url, headers: { 'content-type': type }, payload });
      expect([type, answer.statusCode, answer.headers.allow]).toEqual([type, status, allow]);
    }
  });
});

it('a GitHub callback with an unknown state gets a page', async () => {
  const page = await get('/api/auth/github/callback?state=unknown&code=x');
  expect(page.statusCode).toBe(400);
  expectPage(page);
  expect(page.body).toContain('INVALID_TOKEN');
  const json = await get('/api/auth/github/callback?state=unknown&code=x', { accept: '*/*' });
  expect(json.json()).toMatchObject({ code: 'INVALID_TOKEN' });
});
