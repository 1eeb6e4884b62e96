/** Periodic work of this process (`JOBS_ENABLED`). `run` never rejects. */
interface Job {
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}

/** Returns jobs that run equally often. */
export const every = (everyMs: number, ...runs: readonly Job['run'][]): Job[] =>
  runs.map((run) => ({ everyMs, run }));

/**
 * Starts the timers of the jobs, unless jobs are disabled. The timers do not keep the process alive. Returns the
 * function that stops them.
 */
export function startJobs({ enabled }: { readonly enabled: boolean }, jobs: readonly Job[]): () => void {
  const timers = (enabled ? jobs : []).map(({ everyMs, run }) =>
    setInterval(() => void run(), everyMs).unref(),
  );
  return () => timers.forEach((timer) => clearInterval(timer));
}
