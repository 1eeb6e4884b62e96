/** A day. `setTimeout` fires immediately for delays of more than 24 days. */
const LONGEST_MS = 86_400_000;

/** Reads `Retry-After` as milliseconds, at most a day; undefined if the header is missing or malformed. */
export function retryAfterOf(headers: Headers, now: () => number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_MS);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now()), LONGEST_MS);
}

/**
 * A random wait, so that clients do not all return at the same time after an outage: up to 200 ms before the first
 * repetition. The limit doubles with each repetition, up to 5 s.
 */
export const backoffMs = (repetition: number, random: () => number): number =>
  random() * Math.min(5000, 200 * 2 ** (repetition - 1));

/**
 * Resolves after the time, or immediately when the signal is aborted. With `background` the timer does not keep the
 * process alive.
 */
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
