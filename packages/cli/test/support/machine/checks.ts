import { doorward } from '../run/doorward.ts';
import type { How } from '../run/how.ts';
import type { Ended } from '../run/recorded-output.ts';

/** A check in the output of `doorward doctor --json`. */
interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly message: string;
  readonly fix?: string;
}

export async function checksOf(
  args: readonly string[],
  how: How,
  run: (args: readonly string[], how: How) => Promise<Ended> = doorward,
): Promise<{ readonly code: number | null; readonly checks: readonly Check[] }> {
  const { code, stdout, stderr } = await run(['doctor', '--json', ...args], how);
  if (stdout === '') throw new Error(stderr);
  return { code, checks: (JSON.parse(stdout) as { checks: Check[] }).checks };
}

export const named = (checks: readonly Check[], name: string): Check | undefined =>
  checks.find((check) => check.name === name);
