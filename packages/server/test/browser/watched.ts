import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The folder for screenshots. If unset, `photograph` takes none, because they cost more than most checks of a page. */
export const screenshots = process.env['PAGES_SCREENSHOTS'];

/** The same engine without desktop windows, which make opening a page four times as expensive. */
const withoutWindows = '/usr/bin/chromium-headless-shell';

/** Starts Chromium from the path in `CHROMIUM`, or from the Debian packages. */
export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath:
      process.env['CHROMIUM'] ?? (existsSync(withoutWindows) ? withoutWindows : '/usr/bin/chromium'),
    args: flags,
  });

let shared: Promise<Browser> | undefined;

/** The browser of this worker, which closes with it. Each test opens its own context, with its own cookies. */
export const sharedBrowser = (): Promise<Browser> => (shared ??= launch());

/** Closes the contexts that a test file left open, so that their pages don't slow down the next file. */
export async function closeContexts(): Promise<void> {
  for (const context of (await shared)?.contexts() ?? []) await context.close();
}

/** A page whose requests and errors are recorded. */
export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Requests to other origins, errors, and violations of the policy. */
  readonly offences: string[];
  readonly requests: string[];
}

/** Opens an empty page that may only send requests to `origin`. `mayFail`: addresses whose errors the test expects. */
export async function watched(
  browser: Browser,
  origin: string | readonly string[],
  mayFail: (url: string) => boolean,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const offences: string[] = [];
  const requests: string[] = [];
  const context = await browser.newContext({
    viewport: { width: 1360, height: 900 },
    // No test has to wait for an animation.
    reducedMotion: 'reduce',
    ...options,
  });
  // Also blocks requests of workers and frames, whatever the policy of the page allows.
  await context.route('**/*', async (route) => {
    const url = route.request().url();
    requests.push(url);
    // Not `continue`: when a page removes its own route, Playwright continues the requests in it, and twice is an error.
    if ([origin].flat().includes(new URL(url).origin)) return route.fallback();
    offences.push(`request to ${url}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on('websocket', (socket) => offences.push(`web socket to ${socket.url()}`));
  page.on('pageerror', (error) => offences.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !mayFail(message.location().url))
      offences.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && !mayFail(response.url()))
      offences.push(`${response.status()} of ${response.url()}`);
  });
  // Zod probes whether it may use eval; the policy blocks that, as intended.
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    if (event.blockedURI !== 'eval') console.error('refused', event.effectiveDirective, event.blockedURI, event.sourceFile);
  })`);
  return { context, page, offences, requests };
}

/** Takes a screenshot of the page, after its transitions, if `PAGES_SCREENSHOTS` is set. */
export async function photograph(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  await page.screenshot({ path: join(screenshots, `${name}.png`), animations: 'disabled' });
}
