import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mutant } from './instrument.ts';
import { keyOf, readLines, root } from './plan.ts';
import { sampleOf, type FileCoverage } from './sample-files.ts';

/**
 * Tests random faults from the whole service: `npm run mutation:sample` (`-- --count=200`, `--seed=1`,
 * `--project=exhaustive`, and filters for the test paths).
 * Runs the suite once to learn which test files reach which fault; then, for each fault, runs those files until one fails.
 * Results are kept in dist/mutation-sample, and an interrupted run continues from them.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    project: { type: 'string', default: 'fast' },
  },
});
const directory = join(root, 'dist/mutation-sample', `${values.seed}-${values.count}-${values.project}`);
const coverage = join(directory, 'coverage.jsonl');
const results = join(directory, 'results.jsonl');
const samplePath = join(directory, 'sample.json');
/** How many of a fault's files run first, the nearest ones; most faults are killed there. */
const FIRST_FILES = 8;
/** A run that takes longer is killed, and counts as a failure. */
const LONGEST_MS = 15 * 60_000;

interface Result {
  readonly fault: string;
  readonly line: number;
  readonly state: 'killed' | 'survived' | 'not executed';
  readonly by?: string;
}

mkdirSync(directory, { recursive: true });
const sample = sampleOf(root, integer(values.count), integer(values.seed));
const content = JSON.stringify({ ...sample, tests: positionals });
if (!existsSync(samplePath) || readFileSync(samplePath, 'utf8') !== content) {
  // The sources or the test files differ from those of the last run.
  for (const path of [coverage, results]) rmSync(path, { force: true });
  writeFileSync(samplePath, content);
}

function integer(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${text} is not a number`);
  return Number(text);
}

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

/**
 * Runs test files up to the first failure.
 *
 * @returns the file that failed; '' if the run failed but no file did; undefined if all passed
 */
async function failureOf(files: readonly string[], fault: number, lane = 0): Promise<string | undefined> {
  const report = join(directory, `report-${lane}.json`);
  rmSync(report, { force: true });
  const config = 'packages/server/test/mutation/sample.vitest.ts';
  const child = spawn(
    'npx',
    ['vitest', 'run', '--config', config, '--project', values.project, '--bail=1', ...files],
    {
      cwd: root,
      detached: true,
      stdio: fault === 0 ? 'inherit' : 'ignore',
      env: {
        ...process.env,
        MUTATION_SAMPLE: samplePath,
        MUTATION_COVERAGE: coverage,
        MUTATION_REPORT: report,
        MUTATION_FAULT: String(fault),
      },
    },
  );
  // A fault may keep the tests from ending, so they run in a process group of their own.
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), LONGEST_MS);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  if (code === 0) return undefined;
  if (!existsSync(report)) return '';
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const failed = testResults.find(({ status }) => status === 'failed');
  return failed ? relative(root, failed.name) : '';
}

/** How many leading folders the two paths share. */
function nearness(a: string, b: string): number {
  const [left, right] = [dirname(a).split('/'), dirname(b).split('/')];
  const different = left.findIndex((name, at) => name !== right[at]);
  return different === -1 ? left.length : different;
}

if (!existsSync(coverage)) {
  const failed = await failureOf(positionals.length > 0 ? positionals : ['packages'], 0);
  if (failed !== undefined) {
    rmSync(coverage, { force: true });
    throw new Error(`the tests fail even without a fault: ${failed || 'no file is named'}`);
  }
}
const covered = readLines<FileCoverage>(coverage);
const reachedByLoading = new Set(covered.flatMap(({ loading }) => loading));

async function resultOf(fault: Mutant, lane: number): Promise<Result> {
  const reaching = covered.filter(
    ({ reached }) => reachedByLoading.has(fault.id) || reached.includes(fault.id),
  );
  const files = reaching
    .toSorted((a, b) => nearness(b.test, fault.file) - nearness(a.test, fault.file) || a.ms - b.ms)
    .map(({ test }) => test);
  const named = { fault: keyOf(fault), line: fault.line };
  if (files.length === 0) return { ...named, state: 'not executed' };
  for (const part of [files.slice(0, FIRST_FILES), files.slice(FIRST_FILES)]) {
    const by = part.length > 0 ? await failureOf(part, fault.id, lane) : undefined;
    if (by !== undefined) return { ...named, state: 'killed', by };
  }
  return { ...named, state: 'survived' };
}

const resultsByFault = new Map(readLines<Result>(results).map((result) => [result.fault, result]));
const open = sample.faults.filter((fault) => !resultsByFault.has(keyOf(fault))).values();
async function work(lane: number): Promise<void> {
  for (const fault of open) {
    const result = await resultOf(fault, lane);
    resultsByFault.set(result.fault, result);
    appendFileSync(results, `${JSON.stringify(result)}\n`);
    process.stdout.write(
      `${resultsByFault.size}/${sample.faults.length} ${result.state}: ${result.fault.split('\n')[0]}\n`,
    );
  }
}
await Promise.all([work(1), work(2)]);

for (const state of ['survived', 'not executed'] as const) {
  const those = [...resultsByFault.values()].filter((result) => result.state === state);
  process.stdout.write(
    `\n${state} (${those.length}):\n${those.map(({ fault, line }) => `  line ${line} of ${fault}\n`).join('')}`,
  );
}
const killed = [...resultsByFault.values()].filter(({ state }) => state === 'killed').length;
process.stdout.write(`\nkilled: ${killed} of ${resultsByFault.size}\n`);
