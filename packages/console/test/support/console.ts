import { readFile, rm } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@doorward/node/client';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { startService, type Service } from '../../../../scripts/service.ts';
import { closeContexts, sharedBrowser, watched, type Watched } from '../../../server/test/browser/watched.ts';
import { openEmbedded } from '../../../server/src/db/connection/open.ts';
import type { Executor } from '../../../server/src/kernel/scoped-db.ts';
import { slowness } from '../../../server/test/support/app/slowness.ts';
import { demoDataDir } from './demo-data.ts';

/** The built service with its console, the demo data, and a browser. */
export interface ConsoleSetup {
  readonly service: Service;
  readonly browser: Browser;
  readonly demo: Demo;
  /** Where the console shows the project of the demo data. */
  readonly project: string;
  /** The API with a session of the demo user. */
  readonly api: Client['api'];
  readonly close: () => Promise<void>;
}

export interface Demo {
  readonly email: string;
  readonly password: string;
  readonly account: string;
  readonly key: { readonly scope: { readonly tenant: 'organizationProject'; readonly id: string } };
}

/** `fill` may write into the database, while no service uses it. */
export async function setUpConsole(
  env: Record<string, string> = {},
  fill?: (database: Executor, demo: Demo) => Promise<unknown>,
): Promise<ConsoleSetup> {
  const dataDir = await demoDataDir(inject('demoArchive'));
  const demo = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as Demo;
  if (fill) {
    const database = await openEmbedded(dataDir);
    await fill(database.pool, demo);
    await database.close();
  }
  const service = await startService({
    dataDir,
    env: {
      SECURITY_RATE_LIMIT_AUTH_MAX: '100000',
      SECURITY_RATE_LIMIT_GENERAL_MAX: '1000000',
      ...env,
    },
  });
  const browser = await sharedBrowser();
  return {
    service,
    browser,
    demo,
    project: `/console/${demo.key.scope.tenant}/${demo.key.scope.id}`,
    api: await apiOf(service.base, demo),
    async close() {
      await closeContexts();
      await service.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The API, for what a test does outside the browser, with limits for a slow machine. */
export const clientOf = (url: string, token?: string): Client['api'] =>
  createClient({
    ...{ url, allowHttp: true, timeoutMs: 60_000, deadlineMs: 60_000 },
    ...(token === undefined ? {} : { token }),
  }).api;

type Credentials = Pick<Demo, 'email' | 'password'>;

async function apiOf(url: string, { email, password }: Credentials): Promise<Client['api']> {
  const { accessToken } = await clientOf(url).login({
    provider: 'email',
    providerId: email,
    providerData: { password },
  });
  return clientOf(url, accessToken);
}

/** How much longer everything takes on this machine, and because other programs use it too; at least 1. */
export const crowding = (): number => slowness() * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** Without a session the first renewal is refused, and so may be what a test does. */
export const refusals = (url: string): boolean => url.includes('/api/');

/** A page of the console, signed in as the demo user. */
export async function signedIn(
  { browser, service, demo }: Pick<ConsoleSetup, 'browser' | 'service' | 'demo'>,
  path = '/console/',
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const view = await watched(browser, service.base, refusals, { locale: 'en-GB', ...options });
  // The cookie of a session, as a sign-in in another tab leaves it.
  await view.context.request.post(`${service.base}/api/auth/login`, {
    data: { provider: 'email', providerId: demo.email, providerData: { password: demo.password } },
    failOnStatusCode: true,
  });
  await view.page.goto(`${service.base}${path}`);
  const content = view.page.locator('#content');
  await content.or(view.page.locator('form.sign-in')).first().waitFor();
  // On a busy machine the first renewal can exceed its five seconds: then the page shows the sign-in.
  if (!(await content.isVisible())) await view.page.reload();
  await content.waitFor();
  return view;
}

/** Presses `g` and a letter, again if more time than the console allows lay between the two. */
export const goTo = (page: Page, letter: string, title: string): Promise<void> =>
  expect
    .poll(
      async () => {
        await page.keyboard.type(`g${letter}`);
        return page.getByRole('heading', { name: title, level: 1 }).isVisible();
      },
      { interval: 1000 },
    )
    .toBe(true);

/** Goes to another address as a link does: the document stays, with all that was read. */
export const visit = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);

/** Fills the form of the sign-in, whatever the language of the page. */
export async function signIn(page: Page, { email, password }: Credentials): Promise<void> {
  const form = page.locator('form.sign-in');
  await form.locator('input[type=email]').fill(email);
  await form.locator('input[type=password]').fill(password);
  await form.locator('button[type=submit]').click();
}

/** What the pages of a context keep in the browser, apart from cookies that scripts cannot read. */
export const stored = (context: BrowserContext): Promise<string> =>
  Promise.all(
    context.pages().map((page) =>
      page.evaluate<string>(`(async () => JSON.stringify([
        { ...localStorage }, { ...sessionStorage }, document.cookie, location.href,
        await indexedDB.databases(), await caches.keys(),
      ]))()`),
    ),
  ).then((texts) => texts.join('\n'));
