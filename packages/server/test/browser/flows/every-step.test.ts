/**
 * A double click, the way back through the history, and a second tab: at each step of each flow the person gets on, in a real
 * browser. double-submit.test.ts looks at the same steps over HTTP, for what they leave behind.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedBrowser, watched } from '../watched.ts';
import { press, startOf, startWorld, steps, type Step, type World } from './steps.ts';

let world: World;
let browser: Browser;
beforeAll(async () => {
  world = await startWorld();
  browser = await sharedBrowser();
});
afterAll(() => world?.close());

const names = Object.keys(steps);

/** The page of a step, in a browser of its own. */
async function reached(name: string) {
  // The answer to a step that came too late is a page with a status of 400, which leads on.
  const { context, page, offences } = await watched(
    browser,
    [world.origin, world.home, world.github.url],
    (url) => url.startsWith(world.origin) || url.includes('favicon'),
    { locale: 'en' },
  );
  context.setDefaultTimeout(10_000);
  // A page from which a browser can go back to the step.
  await page.goto(world.home);
  const step = await steps[name]?.(world, page);
  if (!step) throw new Error(name);
  const over = async () => {
    await context.close();
    expect(offences).toEqual([]);
  };
  return { context, page, step, over };
}

/** What a person reads, with the address. */
const shown = async (page: Page): Promise<string> =>
  `${page.url()}\n${await page.locator('body').innerText()}`;

async function send(page: Page, step: Step): Promise<void> {
  await step.fill?.(page);
  await press(page, step.button).click();
}

/** Where a person stands who went back or came late: after the step, at it, or before a link that leads on; else what they read. */
async function placeOf(page: Page, step: Step): Promise<string> {
  const text = await shown(page);
  if (step.after.test(text)) return 'after the step';
  if (await press(page, step.button).isVisible()) return 'at the step';
  const links = page.locator('a.button:visible');
  const addresses = await Promise.all((await links.all()).map((link) => link.getAttribute('href')));
  return addresses.some((address) => /^(https:\/\/boards\.example\/|\/)/.test(address ?? ''))
    ? 'led on'
    : text;
}

async function getsOn(page: Page, step: Step): Promise<void> {
  const place = () => placeOf(page, step).catch((error: Error) => error.message);
  await expect.poll(place, { timeout: 10_000 }).toMatch(/^(after the step|at the step|led on)$/);
  if ((await place()) !== 'at the step') return;
  await send(page, step);
  await expect.poll(place, { timeout: 10_000 }).toMatch(/^(after the step|led on)$/);
}

describe('A double click leads on, and so does the way back through the history', () => {
  test.each(names)('%s', async (name) => {
    const { page, step, over } = await reached(name);
    await step.fill?.(page);
    await press(page, step.button).dblclick({ noWaitAfter: true });
    await expect.poll(() => shown(page).catch(() => '')).toMatch(step.after);
    await page.goto(world.home);
    await page.goBack();
    await getsOn(page, step);
    await page.goBack();
    // A page whose script sent the step has one entry in the history.
    if (!page.url().startsWith(world.home)) await getsOn(page, step);
    await over();
  });
});

describe('A second tab leads on, beside a sign-in to another app', () => {
  test.each(names)('%s', async (name) => {
    const { context, page, step, over } = await reached(name);
    const same = await context.newPage();
    await same.goto(page.url());
    const other = await context.newPage();
    await other.goto(startOf(world, world.charts));
    await send(page, step);
    await expect.poll(() => shown(page).catch(() => '')).toMatch(step.after);
    await getsOn(same, step);
    await over();
  });
});
