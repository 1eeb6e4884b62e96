/**
 * The REST explorer with demo data: a user starts the service with DEV_SEED, pastes their token and selects Execute. The
 * prefilled requests succeed without a change.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { call, callOrThrow, startService, type Service } from '../../../../scripts/service.ts';
import { operations } from '../../src/operations.ts';
import { demoDataDir } from '../../../console/test/support/demo-data.ts';
import { photograph, sharedBrowser, watched } from './watched.ts';

let dataDir: string;
let service: Service;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let offences: string[];

interface Demo {
  readonly email: string;
  readonly password: string;
  readonly key: { readonly scope: { readonly id: string } };
}
let demo: Demo;
let document: Document;

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly requestBody?: {
            readonly content: Readonly<Record<string, { readonly example?: unknown }>>;
          };
        };
      }
    >
  >;
}

beforeAll(async () => {
  dataDir = await demoDataDir(inject('demoArchive'));
  // Makes the examples in the OpenAPI document refer to the demo data.
  service = await startService({ dataDir, env: { DEV_SEED: 'true' } });
  await vi.waitFor(() => expect(service.output()).toMatch(/answers ALLOWED/), 60_000);
  demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
  document = (await (await fetch(`${service.base}/api-docs.json`)).json()) as Document;
  browser = await sharedBrowser();
  ({ context, page, offences } = await watched(browser, service.base, () => false));
  await page.goto(`${service.base}/api-docs`);
  await page.locator('.opblock').first().waitFor();
}, 180_000);

afterAll(async () => {
  await context?.close();
  await service?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Opens the operation and selects Execute without a change. */
async function execute(name: string): Promise<{ status: number; sent: string; answer: string }> {
  const op = operations.find((operation) => operation.name === name);
  await page.locator('.operation-filter-input').fill(op?.tag ?? '');
  const block = page.locator(`.opblock[id$="-${name}"]`);
  await block.waitFor();
  // Filtering renders the list again, and a click on an element of the previous list is lost.
  const opened = async () => {
    const shown = await block.getAttribute('class');
    if (!shown?.includes('is-open')) await block.locator('.opblock-summary-control').click();
    return shown;
  };
  await expect.poll(opened, { interval: 1000 }).toContain('is-open');
  // The page fills in the body after it has read the operation.
  if (op?.method === 'POST') {
    const body = block.locator('textarea.body-param__text');
    await expect.poll(() => body.inputValue()).toContain('{');
  }
  const [answered] = await Promise.all([
    page.waitForResponse((response) => new URL(response.url()).pathname === op?.path),
    block.locator('button.execute').click(),
  ]);
  await block.locator('.live-responses-table').waitFor();
  const request = answered.request();
  return {
    status: answered.status(),
    sent: request.postData() ?? request.url(),
    answer: await answered.text(),
  };
}

async function signIn(): Promise<string> {
  const { accessToken } = await callOrThrow<{ accessToken: string }>(`${service.base}/api/auth/login`, {
    body: { provider: 'email', providerId: demo.email, providerData: { password: demo.password } },
  });
  return accessToken;
}

async function authorize(): Promise<void> {
  const token = await signIn();
  await page.locator('button.authorize').first().click();
  const bearer = page.locator('.dialog-ux .auth-container', { hasText: 'bearer' });
  await bearer.locator('input').fill(token);
  await bearer.locator('button.authorize').click();
  await page.locator('.dialog-ux .btn-done').first().click();
}

describe('as prefilled', () => {
  test.each([
    ['register', 201],
    ['createRole', 201],
    ['isAuthorized', 200],
    ['roles', 200],
  ])('%s answers', async (name, status) => {
    const isPublic = name === 'register';
    if (!isPublic && (await page.locator('button.authorize.locked').count()) === 0) await authorize();
    const done = await execute(name);
    expect(done, done.answer).toMatchObject({ status });
    if (!isPublic) expect(decodeURIComponent(done.sent)).toContain(demo.key.scope.id);
    if (name === 'createRole') await photograph(page, 'explorer-created');
  });

  // The page prefills every body the way it prefills that of createRole.
  test.each([
    'createResource',
    'createPermission',
    'createGroup',
    'createTag',
    'createUser',
    'createProjectApp',
    'createApiKey',
    'createWebhookSubscription',
  ])('the example of %s in the document can be sent', async (name) => {
    const path = operations.find((operation) => operation.name === name)?.path ?? '';
    const { requestBody } = document.paths[path]?.post ?? {};
    const body = requestBody?.content['application/json']?.example;
    expect(JSON.stringify(body)).toContain(demo.key.scope.id);
    const { status, text } = await call(`${service.base}${path}`, { token: await signIn(), body });
    expect(status, text).toBe(201);
  });

  test('the page sends no request elsewhere and causes no error', () => {
    expect(offences).toEqual([]);
  });
});
