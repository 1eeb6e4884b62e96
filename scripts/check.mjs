/**
 * Everything that `npm run check` looks at, two parts at a time: most parts keep one processor busy. With `--cold` the
 * linter reads every file again: its cache does not see that a type in another file changed.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { ensureClient } from './generated-client.mjs';

if (process.argv.includes('--cold'))
  for (const part of ['server', 'others'])
    rmSync(`node_modules/.cache/eslint-${part}`, { recursive: true, force: true });

await ensureClient();
const eslint = 'eslint --cache --cache-location node_modules/.cache';
/** One iterator for both workers: each takes the next part. */
const parts = [
  // Together they are npm run lint: one process would need more memory than Node gives it.
  `${eslint}/eslint-server/ packages/server`,
  `${eslint}/eslint-others/ . --ignore-pattern packages/server/`,
  'npm run -s types',
  'node scripts/run.mjs scripts/reference.ts --check',
  'node scripts/run.mjs scripts/policy-rules.ts --check',
  'npm run -s unused',
  'prettier --check --cache --cache-location node_modules/.cache/prettier.json .',
].values();

async function work() {
  for (const command of parts) {
    const began = performance.now();
    const { code, output } = await run(command);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    process.stdout.write(`${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s: ${command}\n${output}`);
    if (code !== 0) process.exitCode = 1;
  }
}

function run(command) {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    child.on('close', (code) => resolve({ code, output }));
  });
}

await Promise.all([work(), work()]);
