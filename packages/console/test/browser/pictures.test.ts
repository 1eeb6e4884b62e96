import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { photograph, screenshots } from '../../../server/test/browser/watched.ts';
import { setUpConsole, signedIn, type ConsoleSetup } from '../support/console.ts';

/** The pictures of docs/console.md, which `npm run pictures` takes. */
const areWanted = screenshots !== undefined;
const LARGEST = 150_000;
let setup: ConsoleSetup;

beforeAll(async () => {
  if (!areWanted) return;
  setup = await setUpConsole();
  const { api, demo } = setup;
  const { scope } = demo.key;
  const [reader] = (await api.roles({ scope, search: 'Invoice reader' })).items;
  const roleIds = reader ? [reader.id] : [];
  for (const name of ['Ada Lovelace', 'Grace Hopper']) await api.createUser({ scope, name, roleIds });
  await api.createUser({ scope, name: 'Barbara Liskov' });
  const [resource] = (await api.resources({ scope, search: 'invoice' })).items;
  if (!resource) return;
  await api.createPermission({
    scope,
    name: 'Change own invoices',
    resourceId: resource.id,
    action: resource.actions.find((action) => action !== 'read') ?? 'read',
    condition: { Equals: { 'resource.ownerId': { $ref: 'user.id' } } } as never,
  });
}, 180_000);
afterAll(() => setup?.close());

interface Picture {
  readonly name: string;
  readonly path: string;
  readonly look?: BrowserContextOptions;
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const desk = { viewport: { width: 1120, height: 720 } };
const pictures: readonly Picture[] = [
  { name: 'console-overview', path: 'overview' },
  {
    name: 'console-role',
    path: 'roles',
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Invoice reader' }).click();
      await page.getByRole('button', { name: 'Edit' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('Invoice reading').uncheck();
      await page.getByRole('button', { name: 'Show what changes' }).click();
      const impact = page.getByRole('region', { name: 'What this changes' });
      await impact.getByText('Grace Hopper').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'console-why',
    path: 'why?resource=invoice&action=read',
    prepare: async (page) => {
      await page.getByLabel('Barbara Liskov').check();
      await page.getByRole('button', { name: 'Ask' }).click();
      await page.locator('.verdict.no').waitFor();
      await page.getByText('What would allow it').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'console-audit',
    path: 'audit',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Verify these entries' }).click();
      await page.getByText('Proven: entries').scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'console-phone',
    path: 'users',
    look: { viewport: { width: 360, height: 720 } },
  },
  { name: 'console-dark', path: 'users', look: { ...desk, colorScheme: 'dark' } },
];

test.runIf(areWanted).each(pictures)('$name is taken, and small', async ({ name, path, look, prepare }) => {
  const { page, context } = await signedIn(setup, `${setup.project}/${path}`, { ...desk, ...look });
  await page.locator('#content h1').waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
  await prepare?.(page);
  await photograph(page, name);
  await context.close();
  expect((await stat(join(screenshots ?? '', `${name}.png`))).size).toBeLessThan(LARGEST);
});
