import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The script of a page that starts a client, and leaves it to the test. */
export const clientScript = `
  import { createBrowserClient } from '@doorward/browser';
  globalThis.doorward = createBrowserClient(globalThis.config);
  globalThis.started = doorward.start().then(
    ({ returnTo }) => {
      const rights = [doorward.can('board:read'), doorward.state('board:edit'), doorward.state('board:share')];
      globalThis.reportRights?.(rights);
      return { returnTo: returnTo ?? null };
    },
    ({ code, fix }) => ({ code, fix }),
  );
`;

/** What the page answers; a rejected promise answers the code of its error. */
export const inPage = <T>(page: Page, expression: string): Promise<T> =>
  page.evaluate<T>(
    `(async () => (${expression}))().catch((error) => ({ code: error.code ?? error.name, message: error.message }))`,
  );

export const startedIn = (page: Page): Promise<unknown> =>
  page.waitForFunction('globalThis.started').then(() => inPage(page, 'started'));

interface ShownSession {
  readonly status: string;
  readonly user?: { readonly id: string; readonly name: string; readonly email?: string };
  readonly expiresAt?: number;
  readonly error?: { readonly code: string };
}
export const sessionIn = (page: Page): Promise<ShownSession> =>
  inPage(
    page,
    '({ ...doorward.session, ...(doorward.session.error && { error: { code: doorward.session.error.code } }) })',
  );

export const expectStatus = (page: Page, status: string): Promise<void> =>
  expect.poll(async () => (await sessionIn(page)).status).toBe(status);

/** Waits until the permissions are loaded, and returns the state of each. */
export async function statesIn(page: Page, permissions: readonly string[]): Promise<string[]> {
  await expect.poll(() => inPage(page, 'doorward.permissions.version !== null')).toBe(true);
  return inPage(page, `${JSON.stringify(permissions)}.map((name) => doorward.state(name))`);
}
