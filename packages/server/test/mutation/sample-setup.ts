import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';
import { activate, taken } from './active.ts';
import { root } from './plan.ts';
import type { FileCoverage } from './sample-files.ts';

/*
 * Runs before each test file that sample.ts starts. With MUTATION_FAULTS it activates those faults; otherwise it records,
 * in MUTATION_COVERAGE, which faults the file reaches.
 */

declare global {
  /** Faults reached by loading the service, and so relevant to every test file. */
  var reachedByLoading: ReadonlySet<number> | undefined;
}

const faults = process.env['MUTATION_FAULTS'] ?? '';
activate(...faults.split(' ').filter(Boolean).map(Number));
if (faults === '') {
  // The service is loaded only once per worker; otherwise only the first file would count as reaching these.
  if (!globalThis.reachedByLoading) {
    await import('../support/app/app.ts');
    globalThis.reachedByLoading = taken();
  }
  // Discards what was recorded so far.
  taken();
  const began = performance.now();
  const loading = [...globalThis.reachedByLoading];
  afterAll(() => {
    const test = relative(root, expect.getState().testPath ?? '');
    const line: FileCoverage = { test, ms: performance.now() - began, reached: [...taken()], loading };
    appendFileSync(process.env['MUTATION_COVERAGE'] ?? '', `${JSON.stringify(line)}\n`);
  });
}
