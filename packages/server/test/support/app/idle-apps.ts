/**
 * A pool of services that the test files of a worker reuse. Starting a service takes half a second of CPU time, and a
 * file doesn't need its own unless it changes state that all tenants share.
 */
interface Idle<T> {
  readonly key: string;
  readonly app: T;
  readonly end: () => Promise<void>;
}

/** Each embedded database takes about 100 MB of memory. */
const MOST = 2;

const idle: Idle<unknown>[] = [];

/** Removes and returns an idle service that was started with the same variables. */
export function takeIdle<T>(key: string): T | undefined {
  const index = idle.findIndex((candidate) => candidate.key === key);
  return index === -1 ? undefined : (idle.splice(index, 1)[0]?.app as T);
}

/** Returns a service to the pool. If the pool is full, ends the service that has been idle longest. */
export async function keepIdle<T>(key: string, app: T, end: () => Promise<void>): Promise<void> {
  idle.push({ key, app, end });
  if (idle.length > MOST) await idle.shift()?.end();
}
