/** A day: a timer for more than 24 days would run at once. */
const LONGEST_MS = 86_400_000;

/** `Retry-After` of an answer in milliseconds, at most a day; undefined if there is none, or it is malformed. */
export function retryAfterOf(headers: Headers, now: () => number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_MS);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now()), LONGEST_MS);
}

/**
 * Full jitter over 200 ms · 2^n, at most 5 s, so that after an outage clients do not all return at the same time.
 */
export const backoffMs = (repetition: number, random: () => number): number =>
  random() * Math.min(5000, 200 * 2 ** (repetition - 1));

/** Resolves after the time, or at once when the signal is aborted. @param background does not keep a process alive */
export function delay(milliseconds: number, signal?: AbortSignal, background = false): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    if (background) (timer as { unref?: () => void }).unref?.();
    signal?.addEventListener('abort', finish);
  });
}
