import { expect, it } from 'vitest';
import type { DoorwardError } from '../../errors.ts';
import { createWaitingPolls } from './waiting-polls.ts';

/** How many polls may wait: of a credential, of an owner, and in the process (packages §8.1). */
const fixOf = (enter: () => unknown): string | undefined => {
  try {
    enter();
    return undefined;
  } catch (error) {
    const { code, extras } = error as DoorwardError;
    expect([code, extras.headers]).toEqual(['RATE_LIMITED', { 'Retry-After': '1' }]);
    return extras.fix;
  }
};

it('are bounded for each credential, each owner and the process', () => {
  const polls = createWaitingPolls({ credential: 2, owner: 3, process: 4 });
  const enter = (credential: string, owner: string) => polls.enter(credential, owner);
  enter('a', 'first');
  const end = enter('a', 'first');
  expect(fixOf(() => enter('a', 'first'))).toContain('a credential has at most 2 waiting polls');
  enter('b', 'first');
  expect(fixOf(() => enter('c', 'first'))).toContain('the projects of an owner have at most 3 waiting polls');
  enter('c', 'second');
  expect(fixOf(() => enter('d', 'third'))).toContain('a process of the service has at most 4 waiting polls');
  end();
  expect(fixOf(() => enter('a', 'first'))).toBeUndefined();
  expect(fixOf(() => enter('d', 'third'))).toContain('a process');
});

it('that were refused are not counted', () => {
  const polls = createWaitingPolls({ credential: 1, owner: 10, process: 10 });
  const end = polls.enter('a', 'owner');
  for (let count = 0; count < 20; count++)
    expect(fixOf(() => polls.enter('a', 'owner'))).toContain('credential');
  end();
  for (let count = 0; count < 10; count++) polls.enter(`key ${count}`, 'owner');
});
