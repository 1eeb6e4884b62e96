/** One line of `doorward doctor`. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly message: string;
  /** How to correct it; absent if nothing needs to be done. */
  readonly fix?: string;
}

/** @example `1 day`, `2 days` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const ok = (name: string, message: string): Check => ({ name, status: 'ok', message });
export const skip = (name: string, message: string): Check => ({ name, status: 'skip', message });
export const warn = (name: string, message: string, fix: string): Check => ({
  name,
  status: 'warn',
  message,
  fix,
});
export const fail = (name: string, message: string, fix: string): Check => ({
  name,
  status: 'fail',
  message,
  fix,
});

/** Runs a check. If it throws, that counts as a failed check with the error as message, and other checks still run. */
export async function attempt(
  name: string,
  fix: string,
  work: () => Promise<Check | Check[]>,
): Promise<Check[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return [fail(name, `${message}${code === undefined || message.includes(code) ? '' : ` (${code})`}`, fix)];
  }
}
