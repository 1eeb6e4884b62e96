/**
 * `DEV_SEED=true npm start` on fresh data with both cores busy, 20 times: `npm run bench:seed` (`-- --times=20`,
 * `--dir=<checkout>`). It reports how many starts printed their example request, and how long each took.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../scripts/service.ts';
import { milliseconds, quantilesOf } from './figures.ts';
import { printTable, readOptions, say } from './report.ts';
import { build, withPlace, makeBusy, spawnChild } from './service.ts';

const options = readOptions();
const TIMES = options.number('times', options.quick ? 4 : 20);
const PATIENCE_MS = 60_000;

/** Milliseconds until the request is printed; null when there is a warning instead, or nothing for a minute. */
const seedOnce = (): Promise<number | null> =>
  withPlace(options.dir, 'embedded', async ({ dir, dataDir }) => {
    const env = { DEV_SEED: 'true', HOST: '127.0.0.1', PORT: String(await freePort()), DATA_DIR: dataDir };
    const began = performance.now();
    const { child, output, ended } = spawnChild(
      process.execPath,
      ['scripts/run.mjs', 'packages/server/src/main.ts'],
      {
        dir,
        env,
      },
    );
    const isOver = () => child.exitCode !== null || /A request that answers|DEV_SEED:/.test(output());
    while (!isOver() && performance.now() - began < PATIENCE_MS) await sleep(20);
    const ms = performance.now() - began;
    const isPrinted = output().includes('A request that answers ALLOWED');
    if (!isPrinted) say(output().slice(-500));
    child.kill('SIGTERM');
    await ended;
    return isPrinted ? ms : null;
  });

await build(options.dir);
const end = makeBusy();
const times: (number | null)[] = [];
try {
  while (times.length < TIMES) {
    const ms = await seedOnce();
    times.push(ms);
    say(`  ${times.length}: ${ms === null ? 'no request' : milliseconds(ms)}`);
  }
} finally {
  await end();
}
const printed = times.filter((ms) => ms !== null);
const { p50, max } = quantilesOf(printed);
printTable('DEV_SEED=true npm start, fresh data, both cores busy:', [
  ['starts', 'printed a ready request', 'median', 'longest'],
  [String(times.length), String(printed.length), milliseconds(p50), milliseconds(max)],
]);
await options.write('seed', { times });
