import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { passwordCost } from '../../crypto/passwords/passwords.ts';
import { realDelay } from '../../runtime/time.ts';
import { startOwnApp, type TestApp } from '../../../test/support/app/app.ts';
import { storyTransports } from '../../../test/support/cases/breadth.ts';
import { unique, type Via } from '../../../test/support/app/client.ts';
import { remainderOfStep, STEP_MS } from './constant-time-answer.ts';

/** Timers may fire slightly early by the measuring clock. */
const EARLY_MS = 5;
/** Less than a hash with 19 MiB takes on any machine. */
const LEAST_HASH_MS = 10;

test.each([0, 1, STEP_MS - 1, STEP_MS])('work of %d ms ends with the first step', (elapsed) => {
  expect(elapsed + remainderOfStep(elapsed)).toBe(STEP_MS);
});

test('work that takes longer ends with a whole step too', () => {
  expect(STEP_MS + 1 + remainderOfStep(STEP_MS + 1)).toBe(2 * STEP_MS);
});

describe.each(storyTransports(import.meta))('over %s', (via) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startOwnApp({}, undefined, { delay: realDelay }, passwordCost);
  });
  afterAll(() => app.close());

  const wrong = { password: 'not the password of anybody' };
  const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  /** Several concurrent requests, so that some wait for their hash and for a lock. */
  const timesOf = (count: number, work: () => Promise<unknown>): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, () => timeOf(work)));

  test(
    'a refused sign-in waits a whole step after its hash, whether the address is known or not',
    { tags: 'race' },
    async () => {
      const { email } = await app.person();
      const login = (providerId: string) => () =>
        app.raw('login', { provider: 'email', providerId, providerData: wrong }, { via });
      for (const address of [email, `${unique()}@example.test`]) {
        const times = await timesOf(4, login(address));
        expect(Math.min(...times)).toBeGreaterThan(STEP_MS + LEAST_HASH_MS - EARLY_MS);
      }
    },
  );

  test('a request for a mail waits a whole step from its beginning', { tags: 'independent' }, async () => {
    const { email } = await app.person();
    const ask = (operation: 'requestPasswordReset' | 'resendVerification', address: string, by: Via) => () =>
      app.raw(operation, { email: address }, { via: by });
    for (const address of [email, `${unique()}@example.test`]) {
      for (const operation of ['requestPasswordReset', 'resendVerification'] as const) {
        const [time = 0] = await timesOf(1, ask(operation, address, via));
        expect(time).toBeGreaterThan(STEP_MS - EARLY_MS);
      }
    }
  });
});
