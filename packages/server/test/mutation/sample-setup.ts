import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';
import { activate, taken } from './active.ts';
import type { Covered } from './sample-files.ts';

/**
 * Runs before each test file of sample.ts. With MUTATION_FAULT it activates that fault; otherwise it notes, in
 * MUTATION_COVERAGE, which faults the file executes.
 */
declare global {
  /** The faults that the loading of the service executes: each test file depends on them. */
  var executedByLoading: ReadonlySet<number> | undefined;
}

const fault = Number(process.env['MUTATION_FAULT'] ?? 0);
activate(fault);
if (fault === 0) {
  // Loaded before the first file, which would otherwise be the only one that executes these.
  if (!globalThis.executedByLoading) {
    await import('../support/app/app.ts');
    globalThis.executedByLoading = taken();
  }
  taken();
  const began = performance.now();
  const loading = [...globalThis.executedByLoading];
  afterAll(() => {
    const test = relative(process.cwd(), expect.getState().testPath ?? '');
    const line: Covered = { test, ms: performance.now() - began, executed: [...taken()], loading };
    appendFileSync(process.env['MUTATION_COVERAGE'] ?? '', `${JSON.stringify(line)}\n`);
  });
}
