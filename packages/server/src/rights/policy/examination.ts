import { isNeverMet, CONTRADICTION_STEPS } from '@doorward/decision/contradiction';
import { runTests, type TestResult } from '@doorward/decision/document/decide-test';
import { DocumentRights } from '@doorward/decision/document/document-rights';
import type { PolicyDocument } from '@doorward/decision/document/document';
import { Work } from '@doorward/decision/work';
import { scopeAttributes } from '../../access/grants/grants.ts';
import { createPauses } from '../../kernel/call/pauses.ts';
import type { RequestWork } from '../../kernel/request-work.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';

/** What a document shows by itself, whatever rows the project has now. */
export interface Examination {
  readonly tests: readonly TestResult[];
  readonly emptyRoles: readonly string[];
  /** Permissions whose condition contradicts itself. */
  readonly neverMet: readonly string[];
}

/**
 * Runs the tests of a document and looks for likely mistakes. A document may have a thousand tests of a hundred roles
 * each, so this happens outside of a transaction, and other requests run in between.
 *
 * @throws QUERY_TOO_COMPLEX
 */
export async function examine(
  document: PolicyDocument,
  scope: ResolvedScope,
  work: RequestWork,
  nouns: ReadonlySet<string>,
): Promise<Examination> {
  const pause = createPauses();
  const tests: TestResult[] = [];
  for (const result of runTests(document, scopeAttributes(scope), work, nouns)) {
    tests.push(result);
    await pause();
  }
  const rights = new DocumentRights(document, work);
  const emptyRoles: string[] = [];
  for (const role of Object.keys(document.roles)) {
    if (rights.isEmpty(role)) emptyRoles.push(role);
    await pause();
  }
  // This check has a budget of its own: if it runs out, only a warning is missing.
  const cases = new Work(CONTRADICTION_STEPS);
  const neverMet: string[] = [];
  for (const [key, { condition }] of Object.entries(document.permissions)) {
    if (isNeverMet(condition, cases)) neverMet.push(key);
    await pause();
  }
  return { tests, emptyRoles, neverMet };
}
