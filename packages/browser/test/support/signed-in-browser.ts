import type { Browser, BrowserContext, Page } from 'playwright-core';
import { closeContexts, sharedBrowser } from '../../../server/test/browser/watched.ts';
import type { Person } from '../../../server/test/support/app/client.ts';
import { startAppPages, type AppPages } from './app-pages.ts';
import { startBoardApp, type BoardApp } from './board-app.ts';
import { inPage, startedIn } from './page-client.ts';

/** A browser, the service, and the pages of an app whose script starts a client. */
export interface AppInBrowser {
  readonly browser: Browser;
  readonly pages: AppPages;
  readonly boards: BoardApp;
  /** A page of the app in which this user is signed in, in a browser of its own unless a context is given. */
  signedIn(user: Person, context?: BrowserContext): Promise<Page>;
  close(): Promise<void>;
}

/** @param script of `bundle` */
export async function startAppInBrowser(script: string): Promise<AppInBrowser> {
  const pages = await startAppPages(script);
  const boards = await startBoardApp(pages.origin);
  const browser = await sharedBrowser();
  pages.config = {
    issuer: boards.issuer,
    clientId: boards.app.clientId,
    redirectUri: `${pages.origin}/callback`,
    scopes: ['board:read', 'board:edit'],
    origins: [pages.origin],
  };
  return {
    browser,
    pages,
    boards,
    async signedIn(user, context) {
      const page = await (context ?? (await browser.newContext({ locale: 'en-GB' }))).newPage();
      await page.goto(`${pages.origin}/`);
      await startedIn(page);
      await leave(page, boards.origin, 'doorward.signIn()');
      await boards.passHostedPages(page, user);
      await page.waitForURL(`${pages.origin}/`);
      await startedIn(page);
      return page;
    },
    async close() {
      await closeContexts();
      await boards.close();
      await pages.close();
    },
  };
}

/** Runs what leaves the page, which ends the script before it can answer. */
export async function leave(page: Page, origin: string, expression: string): Promise<void> {
  await Promise.all([page.waitForURL(`${origin}/**`), inPage(page, expression).catch(() => undefined)]);
}
