/** Exit codes of a run, for scripts (docs/cli.md). */
export const exitCodes = {
  done: 0,
  /** The command worked, and its result is negative: access refused, a check failed, or a log not proven. */
  negative: 1,
  usage: 2,
  notSignedIn: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  notReached: 7,
  /** `policy plan --detailed-exitcode` found changes. */
  changes: 8,
  interrupted: 130,
} as const;

export function exitCodeOfStatus(status: number): number {
  if (status === 401) return exitCodes.notSignedIn;
  if (status === 403) return exitCodes.forbidden;
  if (status === 404) return exitCodes.notFound;
  if (status === 409 || status === 422) return exitCodes.conflict;
  return status === 429 || status >= 500 ? exitCodes.notReached : exitCodes.usage;
}
