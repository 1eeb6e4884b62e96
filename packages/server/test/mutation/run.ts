import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { instrumented, keyOf, readLines, root, stages, type Line, type Stage } from './plan.ts';

/**
 * Mutation testing of what reads the database in packages/server/src/access: `npm run mutation:database`. Starts the
 * tests with all mutants in the code and watches them, since a mutant may make them hang; then says how many were
 * killed, and which were not. Fails below 90 %.
 *
 * MUTATION_JOURNAL names a file to go on with, instead of a new one.
 */
const LEAST = 0.9;
/** Longer than the slowest test may take, with its hooks. */
const SILENCE_MS = 120_000;

const directory = join(root, 'dist');
mkdirSync(directory, { recursive: true });
const given = process.env['MUTATION_JOURNAL'];
const journal = given ?? join(directory, 'mutation.jsonl');
if (!given) rmSync(journal, { force: true });

const files = instrumented();
/** Until every file of tests is finished: a run that hangs is ended, and what it hung on is killed by that. */
async function finish(stage: Stage): Promise<void> {
  const isFinished = () => {
    const finished = new Set(
      readLines(journal).flatMap((line) => (line.kind === 'finished' ? [line.test] : [])),
    );
    return stages[stage].every((test) => finished.has(test));
  };
  for (let without = 0; !isFinished();) {
    const before = readLines(journal).length;
    const code = await run(stage);
    const lines = readLines(journal);
    const last = lines.at(-1);
    // Tried twice, and each time the end of the process: it is killed by that.
    if (last?.kind === 'tried' && lines.filter((line) => isSame(line, last)).length > 1) noteEnd(last);
    without = readLines(journal).length > before ? 0 : without + 1;
    if (without > 1) throw new Error(`the tests end with ${code} and come no further`);
  }
}

type Tried = Extract<Line, { readonly kind: 'tried' }>;
const isSame = (line: Line, { mutant, test }: Tried): boolean =>
  line.kind === 'tried' && line.mutant === mutant && line.test === test;

function noteEnd({ mutant, test }: Tried): void {
  const line: Line = {
    kind: 'killed',
    mutant,
    test,
    by: 'time',
    why: 'it does not end, or ends the process',
  };
  appendFileSync(journal, `${JSON.stringify(line)}\n`);
}

async function run(stage: Stage): Promise<number | null> {
  const child = spawn(
    'npx',
    ['vitest', 'run', '--config', 'packages/server/test/mutation/vitest.config.ts'],
    {
      cwd: root,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        MUTATION_JOURNAL: journal,
        MUTATION_STAGE: stage,
        CONDITION_CASES: '1000',
        NO_COLOR: '1',
      },
    },
  );
  const began = Date.now();
  const watch = setInterval(() => {
    const seen = existsSync(journal) ? statSync(journal).mtimeMs : 0;
    if (Date.now() - Math.max(seen, began) < SILENCE_MS || !child.pid) return;
    const last = readLines(journal).at(-1);
    if (last?.kind === 'tried') noteEnd(last);
    process.kill(-child.pid, 'SIGKILL');
  }, 1000);
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  clearInterval(watch);
  return code;
}

for (const stage of ['pure', 'onDatabase'] as const) await finish(stage);

const lines = readLines(journal);
const killed = new Set(lines.flatMap((line) => (line.kind === 'killed' ? [line.mutant] : [])));
const covered = new Set(lines.flatMap((line) => (line.kind === 'covered' ? line.mutants : [])));

const percent = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)} %`;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 87)}…` : line;
};

for (const [file, instrumented] of files) {
  const alive = instrumented.mutants.filter((mutant) => !killed.has(keyOf(mutant)));
  for (const mutant of alive) {
    const { id, line, original, replacement } = mutant;
    const state = covered.has(keyOf(mutant)) ? 'survived' : 'no test comes by it';
    say(
      `${file}:${line}  #${id}  ${shortened(original)}  →  ${shortened(replacement) || '(nothing)'}  ${state}`,
    );
  }
}
say('');
let all = 0;
let dead = 0;
for (const [file, instrumented] of files) {
  const count = instrumented.mutants.filter((mutant) => killed.has(keyOf(mutant))).length;
  say(
    `${percent(count, instrumented.mutants.length).padStart(8)}  ${String(count).padStart(4)} of ${instrumented.mutants.length}  ${file}`,
  );
  all += instrumented.mutants.length;
  dead += count;
}
say(`\nkilled ${dead} of ${all}: ${percent(dead, all)}`);
const leftOut = new Map<string, number>();
for (const file of files.values())
  for (const [reason, count] of file.leftOut) leftOut.set(reason, (leftOut.get(reason) ?? 0) + count);
for (const [reason, count] of leftOut) say(`left out ${count}: ${reason}`);
process.exitCode = dead / all < LEAST ? 1 : 0;
