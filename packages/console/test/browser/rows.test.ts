import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedIn, type ConsoleSetup } from '../support/console.ts';
import { setUpWithTags } from '../support/many-tags.ts';

/** Long lists: several rows can be selected, changed and exported. `pauses.exhaustive.test.ts` measures their speed. */
let setup: ConsoleSetup;
let page: Page;

beforeAll(async () => {
  setup = await setUpWithTags(10_000);
  ({ page } = await signedIn(setup, `${setup.project}/tags?sort=name`));
}, 180_000);
afterAll(() => setup?.close());

test('ten thousand rows are listed, read on, selected and searched', async () => {
  await page.getByText('10,000 in total').waitFor();
  const rows = page.locator('tbody tr');
  for (const count of [100, 150]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows.count()).toBe(count);
  }
  await page.getByLabel('Select tag 00003').click();
  expect(await page.getByLabel('Select tag 00003').isChecked()).toBe(true);
  await page.getByRole('searchbox').fill('tag 099');
  await page.getByText('100 in total').waitFor();
  await page.getByRole('searchbox').fill('');
  await page.getByText('10,000 in total').waitFor();
});

test('a search that was cleared comes back with the button of the browser', async () => {
  const search = page.getByRole('searchbox');
  await search.fill('tag 099');
  await page.getByText('100 in total').waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Tags' }).click();
  await page.getByText('10,000 in total').waitFor();
  await page.goBack();
  await page.getByText('100 in total').waitFor();
  expect(await search.inputValue()).toBe('tag 099');
});

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
