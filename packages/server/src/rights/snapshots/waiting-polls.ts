import { fail } from '../../errors.ts';

interface PollLimits {
  readonly credential: number;
  readonly owner: number;
  readonly process: number;
}

interface WaitingPolls {
  /** Counts a poll until the returned function is called. @throws RATE_LIMITED */
  enter(credential: string, ownerId: string): () => void;
}

/**
 * Limits how many polls wait at the same time. Each keeps a connection and checks the rights of its caller again. So
 * there is a limit per credential; per owner of projects, who can create any number of keys; and for this process, so
 * that connections are left for everything else.
 */
export function createWaitingPolls(limits: PollLimits): WaitingPolls {
  const counts = new Map<string, number>();
  const countOf = (key: string): number => counts.get(key) ?? 0;

  function leave(key: string): void {
    const left = countOf(key) - 1;
    if (left > 0) counts.set(key, left);
    else counts.delete(key);
  }

  return {
    enter(credential, ownerId) {
      const bounds = [
        { key: `credential ${credential}`, limit: limits.credential, of: 'a credential has' },
        { key: `owner ${ownerId}`, limit: limits.owner, of: 'the projects of an owner have' },
        { key: 'process', limit: limits.process, of: 'a process of the service has' },
      ];
      for (const { key, limit, of } of bounds)
        if (countOf(key) >= limit) throw tooMany(`${of} at most ${limit}`);
      for (const { key } of bounds) counts.set(key, countOf(key) + 1);
      return () => bounds.forEach(({ key }) => leave(key));
    },
  };
}

const tooMany = (bound: string) =>
  fail('RATE_LIMITED', {
    params: { seconds: 1 },
    headers: { 'Retry-After': '1' },
    fix: `Wait with one poll in each process: ${bound} waiting polls.`,
  });
