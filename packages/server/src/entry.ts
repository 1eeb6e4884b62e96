import { oldNodeFault } from './runtime/node-version.ts';

/*
 * Runs as dist/main.js. An old Node fails while it links main.ts, because libraries import APIs that it lacks. So this
 * file checks the version before it imports anything else.
 */

const fault = oldNodeFault(process.version);
if (fault === null) await import('./main.ts');
else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}
