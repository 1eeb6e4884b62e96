/**
 * Services that the test files of a worker use one after the other. Starting one takes half a second of processor time,
 * and a file needs no service of its own unless it changes what all tenants share.
 */
interface Idle<T> {
  readonly key: string;
  readonly app: T;
  readonly end: () => Promise<void>;
}

/** Each embedded database keeps about 100 MB of memory. */
const MOST = 4;

const idle: Idle<unknown>[] = [];

/** An idle service that was started with the same variables. */
export function takeIdle<T>(key: string): T | undefined {
  const index = idle.findIndex((candidate) => candidate.key === key);
  return index === -1 ? undefined : (idle.splice(index, 1)[0]?.app as T);
}

/** Keeps a service for the next file, and ends the one that has waited longest if there are too many. */
export async function keepIdle<T>(key: string, app: T, end: () => Promise<void>): Promise<void> {
  idle.push({ key, app, end });
  if (idle.length > MOST) await idle.shift()?.end();
}
