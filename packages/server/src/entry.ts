import { oldNodeFault } from './runtime/node-version.ts';

/**
 * What runs as dist/main.js. An old Node fails while it links main.ts, because libraries import what it lacks, so this file
 * looks at the version first and imports nothing else before.
 */
const fault = oldNodeFault(process.version);
if (fault === null) await import('./main.ts');
else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}
