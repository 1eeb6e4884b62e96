import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

/** A browser whose pages are watched: whatever they do that they must not is an offence, which the test tells. */
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

export const screenshots = process.env['PAGES_SCREENSHOTS'] ?? mkdtempSync(join(tmpdir(), 'doorward-pages-'));

/** `CHROMIUM`: where it is, if not where Debian has it. */
export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: flags });

export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Requests elsewhere, errors, refusals by the policy. */
  readonly offences: string[];
  readonly requests: string[];
}

/** Opens an empty page that may talk to `origin`, one or several, only. `mayFail`: addresses whose refusals are part of the test. */
export async function watched(
  browser: Browser,
  origin: string | readonly string[],
  mayFail: (url: string) => boolean,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const offences: string[] = [];
  const requests: string[] = [];
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  // Also what a worker or a frame of the page asks for; nothing is let out, whatever the page's policy says.
  await context.route('**/*', async (route) => {
    const url = route.request().url();
    requests.push(url);
    if ([origin].flat().includes(new URL(url).origin)) return route.continue();
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
  // The probe with which zod asks whether it may compile is refused, silently, and meant to be.
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    if (event.blockedURI !== 'eval') console.error('refused', event.effectiveDirective, event.blockedURI, event.sourceFile);
  })`);
  return { context, page, offences, requests };
}

/** A picture of the page as it stands, once its transitions are over. */
export async function photograph(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}
