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
const LONGEST_MS = 30 * 60_000;

interface Result {
  readonly fault: string;
  readonly line: number;
  /** `undecided`: the nearest files pass, and the others have not run yet. */
  readonly state: 'killed' | 'survived' | 'not executed' | 'undecided';
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
 * Runs test files with the faults.
 *
 * @param bail whether to stop at the first failure. Such a run is small, so it has one worker: each worker loads the
 *   whole service.
 * @returns the files that fail; '' if the run fails but no file does
 */
async function failuresOf(
  files: readonly string[],
  faults: readonly Mutant[],
  bail = false,
  lane = 0,
): Promise<readonly string[]> {
  const report = join(directory, `report-${lane}.json`);
  rmSync(report, { force: true });
  const config = 'packages/server/test/mutation/sample.vitest.ts';
  const child = spawn(
    'npx',
    [
      'vitest',
      'run',
      '--config',
      config,
      '--project',
      values.project,
      ...(bail ? ['--bail=1'] : []),
      ...files,
    ],
    {
      cwd: root,
      detached: true,
      stdio: faults.length === 0 ? 'inherit' : 'ignore',
      env: {
        ...process.env,
        MUTATION_SAMPLE: samplePath,
        MUTATION_COVERAGE: coverage,
        MUTATION_REPORT: report,
        ...(bail && faults.length > 0 && { MUTATION_WORKERS: '1' }),
        MUTATION_FAULTS: faults.map(({ id }) => id).join(' '),
      },
    },
  );
  // A fault may keep the tests from ending, so they run in a process group of their own.
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), LONGEST_MS);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  if (code === 0) return [];
  if (!existsSync(report)) return [''];
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const failed = testResults.filter(({ status }) => status === 'failed');
  return failed.length > 0 ? failed.map(({ name }) => relative(root, name)) : [''];
}

/** How many leading folders the two paths share. */
function nearness(a: string, b: string): number {
  const [left, right] = [dirname(a).split('/'), dirname(b).split('/')];
  const different = left.findIndex((name, at) => name !== right[at]);
  return different === -1 ? left.length : different;
}

if (!existsSync(coverage)) {
  const failed = await failuresOf(positionals.length > 0 ? positionals : ['packages'], [], true);
  if (failed.length > 0) {
    rmSync(coverage, { force: true });
    throw new Error(`the tests fail even without a fault: ${failed[0] || 'no file is named'}`);
  }
}
const covered = readLines<FileCoverage>(coverage);
const reachedByLoading = new Set(covered.flatMap(({ loading }) => loading));
const reaches = ({ reached }: FileCoverage, { id }: Mutant): boolean =>
  reachedByLoading.has(id) || reached.includes(id);

const resultsByFault = new Map(readLines<Result>(results).map((result) => [result.fault, result]));
const stateOf = (fault: Mutant): Result['state'] | undefined => resultsByFault.get(keyOf(fault))?.state;
function note(fault: Mutant, result: Pick<Result, 'state' | 'by'>): void {
  const line: Result = { fault: keyOf(fault), line: fault.line, ...result };
  resultsByFault.set(line.fault, line);
  appendFileSync(results, `${JSON.stringify(line)}\n`);
  process.stdout.write(
    `${resultsByFault.size}/${sample.faults.length} ${line.state}: ${line.fault.split('\n')[0]}\n`,
  );
}

/** Runs the nearest files of each fault. */
const fresh = sample.faults.filter((fault) => stateOf(fault) === undefined).values();
async function runNearest(lane: number): Promise<void> {
  for (const fault of fresh) {
    const files = covered
      .filter((file) => reaches(file, fault))
      .toSorted((a, b) => nearness(b.test, fault.file) - nearness(a.test, fault.file) || a.ms - b.ms)
      .map(({ test }) => test);
    const nearest = files.slice(0, FIRST_FILES);
    const [by] = nearest.length > 0 ? await failuresOf(nearest, [fault], true, lane) : [];
    if (files.length === 0) note(fault, { state: 'not executed' });
    else if (by !== undefined) note(fault, { state: 'killed', by });
    else note(fault, { state: files.length > FIRST_FILES ? 'undecided' : 'survived' });
  }
}
await Promise.all([runNearest(1), runNearest(2), runNearest(3)]);

/** Which of the faults makes the file fail; undefined if none does by itself. */
async function killerIn(file: string, suspects: readonly Mutant[]): Promise<Mutant | undefined> {
  const fails = async (faults: readonly Mutant[]): Promise<boolean> =>
    faults.length > 0 && (await failuresOf([file], faults, true)).length > 0;
  let rest = suspects;
  while (rest.length > 1) {
    const half = rest.slice(0, rest.length >> 1);
    rest = (await fails(half)) ? half : rest.slice(half.length);
  }
  return (await fails(rest)) ? rest[0] : undefined;
}

/**
 * Runs the other files once with all the undecided faults together, because most of these survive, and each would take
 * a whole run of the suite. Then finds the fault behind each file that fails.
 */
async function runOthers(undecided: readonly Mutant[]): Promise<void> {
  const open = new Set(undecided);
  let files = covered.filter((file) => undecided.some((fault) => reaches(file, fault)));
  while (open.size > 0) {
    const failed = await failuresOf(
      files.map(({ test }) => test),
      [...open],
    );
    if (failed.includes('') && open.size > 1) {
      // The suite doesn't even start, so no file is named.
      const all = [...open];
      await runOthers(all.slice(0, all.length >> 1));
      return runOthers(all.slice(all.length >> 1));
    }
    files = files.filter(({ test }) => failed.includes(test)).toSorted((a, b) => a.ms - b.ms);
    const quickest = files.shift();
    const killer = quickest
      ? await killerIn(
          quickest.test,
          [...open].filter((fault) => reaches(quickest, fault)),
        )
      : [...open].find(() => failed.includes(''));
    if (killer) {
      open.delete(killer);
      note(killer, { state: 'killed', by: quickest?.test ?? '' });
      if (quickest) files.push(quickest);
    }
    if (files.length === 0) break;
  }
  for (const fault of open) note(fault, { state: 'survived' });
}
await runOthers(sample.faults.filter((fault) => stateOf(fault) === 'undecided'));

for (const state of ['survived', 'not executed'] as const) {
  const those = [...resultsByFault.values()].filter((result) => result.state === state);
  process.stdout.write(
    `\n${state} (${those.length}):\n${those.map(({ fault, line }) => `  line ${line} of ${fault}\n`).join('')}`,
  );
}
const killed = [...resultsByFault.values()].filter(({ state }) => state === 'killed').length;
process.stdout.write(`\nkilled: ${killed} of ${resultsByFault.size}\n`);
