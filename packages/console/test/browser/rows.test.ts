import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crowding, setUpConsole, signedIn, type ConsoleSetup } from '../support/console.ts';

/** Lists with many rows: they stay quick, and several rows can be chosen, changed and taken along. */
const ROWS = 10_000;
const LONGEST_MS = 100;
let setup: ConsoleSetup;
let page: Page;

beforeAll(async () => {
  setup = await setUpConsole({}, (database, { key: { scope } }) =>
    database.execute(sql`
      insert into tags (id, tenant_id, name, color, metadata, created_at, updated_at)
      select gen_random_uuid(), ${scope.id.split(':')[1]}::uuid, 'tag ' || lpad(n::text, 5, '0'), 'teal', '{}',
        now() - n * interval '1 second', now()
      from generate_series(1, ${ROWS}) n`),
  );
  ({ page } = await signedIn(setup, `${setup.project}/tags?sort=name`));
  await page.evaluate(`new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest ?? 0, duration);
  }).observe({ type: 'longtask' })`);
}, 180_000);
afterAll(() => setup?.close());

/** The longest task of the main thread while something happens, in milliseconds; 0: none of 50 or more. */
async function longestTask(act: () => Promise<unknown>): Promise<number> {
  await page.evaluate('window.longest = 0');
  await act();
  // The observer reports after a task: two frames later it has.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  return page.evaluate('window.longest');
}

/** The least of a few runs: others may use the processor during some, and the load average rises only seconds later. */
async function least(act: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  let allowed = LONGEST_MS;
  for (let run = 0; run < 20 && least > (run < 4 ? LONGEST_MS : allowed); run++) {
    if (run >= 4) await page.waitForTimeout(4000);
    least = Math.min(least, await longestTask(act));
    allowed = Math.max(allowed, LONGEST_MS * crowding());
  }
  expect(least).toBeLessThanOrEqual(allowed);
  return least;
}

test(
  'ten thousand rows are listed, read on, scrolled and searched without a pause',
  { timeout: 600_000 },
  async () => {
    await page.getByText('10,000 in total').waitFor();
    const rows = page.locator('tbody tr');
    let count = await rows.count();
    const readOn = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Show more' }).click();
      count += 50;
      await expect.poll(() => rows.count()).toBe(count);
    };
    while (count < 500) await readOn();
    const reading = await least(readOn);
    const scrolling = await least(() =>
      page.evaluate(`(async () => {
      for (let y = 0; y < document.body.scrollHeight; y += 800) {
        scrollTo(0, y);
        await new Promise(requestAnimationFrame);
      }
      scrollTo(0, 0);
    })()`),
    );
    const selecting = await least(async () => page.getByLabel('Select tag 00003').click());
    const searching = await least(async () => {
      await page.getByRole('searchbox').fill('tag 099');
      await page.getByText('100 in total').waitFor();
      await page.getByRole('searchbox').fill('');
      await page.getByText('10,000 in total').waitFor();
    });
    process.stdout.write(
      `console: longest task while reading on ${reading}, scrolling ${scrolling}, selecting ${selecting}, searching ${searching} ms\n`,
    );
  },
);

test('several rows are deleted with one call each, and each says how it ended', async () => {
  await page.goto(`${setup.service.base}${setup.project}/tags?sort=name`);
  const deleted: string[] = [];
  await page.route('**/api/tags/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.fallback();
    // A call that takes too long is sent again.
    const { pathname } = new URL(route.request().url());
    if (!deleted.includes(pathname)) deleted.push(pathname);
    if (deleted.indexOf(pathname) !== 1) return route.fallback();
    return route.fulfill({
      status: 409,
      contentType: 'application/json',
      body: JSON.stringify({ error: 'This one stays.', code: 'CONFLICT', requestId: 'x' }),
    });
  });
  for (const name of ['tag 00001', 'tag 00002', 'tag 00003']) await page.getByLabel(`Select ${name}`).check();
  const bar = page.getByRole('group', { name: '3 rows selected' });
  await bar.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete: 3 rows selected' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByText('tag 00001: Done').waitFor();
  await dialog.getByText('This one stays.').waitFor();
  await dialog.getByText('tag 00003: Done').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  expect(deleted).toHaveLength(3);
  // What failed stays selected.
  await page.getByRole('group', { name: '1 row selected' }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'tag 00001' }).count()).toBe(0);
  expect(await page.getByLabel('Select tag 00002').isChecked()).toBe(true);
  await page.unroute('**/api/tags/*');
});

test('columns are chosen, and the browser keeps the choice', async () => {
  await page.locator('.column-choice summary').click();
  await page.getByRole('group', { name: 'Columns' }).getByLabel('Colour').uncheck();
  const headings = page.locator('thead th');
  expect(await headings.allInnerTexts()).not.toContain('Colour');
  await page.reload();
  await page.locator('tbody tr').first().waitFor();
  expect(await headings.allInnerTexts()).not.toContain('Colour');
  await page.locator('.column-choice summary').click();
  await page.getByRole('group', { name: 'Columns' }).getByLabel('Colour').check();
  expect(await headings.allInnerTexts()).toContain('Colour');
});

test('a view is taken along as CSV, in which no text is a formula', async () => {
  const { scope } = setup.demo.key;
  const names = ['=1+1', '+1', '-1', '@sum', 'with "quotes", and a comma'];
  for (const name of names) await setup.api.createTag({ scope, name });
  await page.goto(`${setup.service.base}${setup.project}/tags?sort=-createdAt`);
  await page.getByRole('link', { name: '=1+1' }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download these rows as CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^Tag-[0-9a-f-]{36}\.csv$/);
  const lines = (await readFile(await file.path(), 'utf8')).split('\r\n');
  expect(lines[0]).toBe('id,Name,Colour,Changed');
  expect(lines).toHaveLength(1 + 50 + 1);
  const cells = lines.slice(1, 6).map((line) => line.slice(37));
  expect(cells.every((cell) => /,gray,\d{4}-\d\d-\d\dT/.test(cell))).toBe(true);
  const first = cells.map((cell) => cell.replace(/,gray,.*/, '')).sort();
  expect(first).toEqual([`'=1+1`, `'+1`, `'-1`, `'@sum`, `"with ""quotes"", and a comma"`].sort());
});
