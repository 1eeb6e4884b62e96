/** Everything that `npm run check` looks at, two parts at a time: most parts keep one processor busy. */
import { spawn } from 'node:child_process';
import { ensureClient } from './generated-client.mjs';

await ensureClient();

/** One iterator for both workers: each takes the next part. */
const parts = [
  'npm run -s lint',
  'npm run -s types',
  'node scripts/run.mjs scripts/reference.ts --check',
  'node scripts/run.mjs scripts/command-line.ts --check',
  'node scripts/run.mjs scripts/structure.ts --check',
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
