/** Runs the compiler on every program of the repository: npm run types. It stops at the first with errors. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureClient, root } from './generated-client.mjs';

/** The folder of each program, and the name of its cache. */
const programs = [
  ['.', 'tsc'],
  ['packages/browser', 'tsc-browser'],
  ['packages/console', 'tsc-console'],
  ['packages/react', 'tsc-react'],
  ['packages/react/test', 'tsc-react-test'],
];

try {
  await ensureClient();
} catch (error) {
  // The errors of the compiler say more about a service that can't be loaded, even with an outdated client.
  console.error(`${error.message}\nThe compiler runs with the client as it is.`);
  process.exitCode = 1;
}
const compiler = join(root, 'node_modules/@typescript/native/bin/tsc');
for (const [folder, cache] of programs) {
  const record = `node_modules/.cache/${cache}.tsbuildinfo`;
  const args = ['-p', folder, '--incremental', '--tsBuildInfoFile', record];
  const { status } = spawnSync(process.execPath, [compiler, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) {
    process.exitCode = status ?? 1;
    break;
  }
}
