/**
 * Runs vitest, then reruns each failed file on its own. A file that passes the rerun is listed as flaky and doesn't
 * fail the step. Usage: node .ci/tests.mjs <step> <vitest arguments>. CI_REPORTS is the folder for the results.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** When more files than this fail, they usually share a cause that a rerun would only confirm. */
const TOO_MANY = 12;

const [part, ...args] = process.argv.slice(2);
const reports = process.env.CI_REPORTS;

/** Runs vitest and returns its exit code and the failed files. */
function vitest(name, ...more) {
  const report = join(reports, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync('npx', ['vitest', 'run', ...args, ...more, ...reporters], {
    stdio: 'inherit',
  });
  const { testResults = [] } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
  const failed = testResults
    .filter((file) => file.status === 'failed')
    .map(({ name }) => relative('.', name));
  return { status, failed };
}

const note = (file, line) => appendFileSync(join(reports, file), `${line}\n`);
const repeat = (file) => `npx vitest run ${[...args, file].join(' ')}`;

const first = vitest(part);
if (first.status === 0) process.exit(0);

const isHopeless = first.failed.length === 0 || first.failed.length > TOO_MANY;
let red = isHopeless ? 1 : 0;
for (const [index, file] of first.failed.entries()) {
  if (!isHopeless) {
    process.stdout.write(`\n${file} failed, and runs once more by itself\n`);
    if (vitest(`${part}-${index}`, file).status === 0) {
      note('flaky', repeat(file));
      continue;
    }
  }
  red = 1;
  note('failed', repeat(file));
}
process.exit(red);
