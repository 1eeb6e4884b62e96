import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * The violations of WCAG 2.2 AA and of good practice that axe finds on the page. `within`: only in that part of it, which
 * is quicker.
 */
export async function violations(page: Page, within?: string): Promise<string[]> {
  // The policy of the pages would block a script element. A document that stays has axe already.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const part = within === undefined ? 'document' : JSON.stringify(within);
  // To send the rules that passed too takes longer than the check.
  const violated: AxeResults['violations'] = await page.evaluate(
    `axe.run(${part}, { preload: false, resultTypes: ['violations'] }).then(({ violations }) => violations)`,
  );
  return violated.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
