import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** The folder of the screenshots. */
export const screenshots = process.env['PAGES_SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'doorward-pages-'));

/** Starts Chromium from the path in `CHROMIUM`, or from where Debian installs it. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: flags });

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
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
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

/** Takes a screenshot of the page with its transitions ended. */
export async function photograph(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(screenshots, `${name}.png`), animations: 'disabled' });
}
