import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/app/app.ts';
import { pickEncoding } from './compression.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.server.inject({ url, headers });
const opened = { br: brotliDecompressSync, gzip: gunzipSync };

/** The addresses of the files that a page loads. */
async function filesOf(page: string): Promise<string[]> {
  const { body } = await get(page, { accept: 'text/html' });
  const base = /<base href="([^"]+)"/.exec(body)?.[1] ?? '';
  return [...body.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, file = '']) =>
    file.startsWith('/') ? file : base + file,
  );
}

describe.each(['br', 'gzip'] as const)('with %s', (encoding) => {
  it('documents and files are smaller, and the same', async () => {
    const [swagger, altair] = [await filesOf('/api-docs'), await filesOf('/graphql')];
    expect(swagger.length + altair.length).toBeGreaterThan(4);
    for (const url of ['/api-docs.json', '/hosted/page.css', ...swagger, ...altair.slice(0, 2)]) {
      const plain = await get(url);
      expect(plain.headers, url).not.toHaveProperty('content-encoding');
      for (let times = 0; times < 2; times++) {
        const packed = await get(url, { 'accept-encoding': encoding });
        expect(packed.statusCode, url).toBe(200);
        if (plain.rawPayload.length < 1024) continue;
        expect(packed.headers, url).toMatchObject({
          'content-encoding': encoding,
          'content-type': plain.headers['content-type'],
          'content-length': String(packed.rawPayload.length),
        });
        for (const { headers } of [plain, packed]) expect(headers.vary, url).toContain('Accept-Encoding');
        expect(packed.rawPayload.length).toBeLessThan(0.5 * plain.rawPayload.length);
        expect(opened[encoding](packed.rawPayload).equals(plain.rawPayload), url).toBe(true);
      }
    }
  });

  it('a browser that has it gets 304', async () => {
    const requested = { 'accept-encoding': encoding };
    const { headers } = await get('/api-docs.json', requested);
    const again = await get('/api-docs.json', { ...requested, 'if-none-match': String(headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
    const other = await get('/api-docs.json', { 'if-none-match': String(headers.etag) });
    expect(other.statusCode).toBe(200);
  });
});

it('answers of the API, and pages with secrets, are never compressed', async () => {
  const { token } = await app.person();
  const requested = { 'accept-encoding': 'gzip, br', authorization: `Bearer ${token}` };
  for (const url of [
    '/api/me',
    '/api/event-types',
    '/.well-known/jwks.json',
    '/hosted/verify-email',
    '/health',
  ]) {
    const { headers, statusCode } = await get(url, requested);
    expect(statusCode, url).toBe(200);
    expect(headers, url).not.toHaveProperty('content-encoding');
  }
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['GZIP;q=0.5', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.1, gzip;q=0.9', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=nonsense', undefined],
])('of "%s" it picks %s', (accepted, encoding) => {
  expect(pickEncoding(accepted)).toBe(encoding);
});
