/**
 * Loaded into a service with `--import`: tells how long its event loop was kept waiting since it was last asked. A line
 * of JSON on the error output for each SIGALRM, in
 * milliseconds. (At SIGUSR2 the service stops.)
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const histogram = monitorEventLoopDelay({ resolution: 5 });
histogram.enable();
process.on('SIGALRM', () => {
  const [p50, p99, max] = [histogram.percentile(50), histogram.percentile(99), histogram.max].map(
    (nanoseconds) => nanoseconds / 1e6,
  );
  process.stderr.write(`${JSON.stringify({ eventLoopDelay: { p50, p99, max } })}\n`);
  histogram.reset();
});
