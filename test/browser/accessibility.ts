import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds against WCAG 2.2 AA and good practice on the page as it stands: nothing, if all is well. */
export async function violations(page: Page): Promise<string[]> {
  // Not as a script element: the policies of our pages would refuse that, and rightly.
  await page.evaluate(axe.source);
  const results: AxeResults = await page.evaluate('axe.run({ preload: false })');
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
