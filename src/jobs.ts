/** Work that comes round by itself in this process (`JOBS_ENABLED`). Each of them never rejects. */
export interface Job {
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}

/** Starts their timers, which do not keep the process alive; answers what stops them. */
export function startJobs(jobs: readonly Job[]): () => void {
  const timers = jobs.map(({ everyMs, run }) => setInterval(() => void run(), everyMs).unref());
  return () => timers.forEach((timer) => clearInterval(timer));
}
