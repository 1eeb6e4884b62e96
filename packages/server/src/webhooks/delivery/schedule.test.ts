import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextStep, type AttemptState } from './schedule.ts';

const waitsSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
const attemptedAt = new Date('2030-01-01T00:00:00.000Z');
const DAY_MS = 86_400_000;

type Failure = Partial<AttemptState['outcome']> & { readonly step?: number; readonly random?: number };
const after = ({ step = 1, random = 0.5, ...outcome }: Failure) =>
  nextStep({
    outcome: { error: 'status', statusCode: 500, retryAfter: null, attemptedAt, ...outcome },
    step,
    waitsSeconds,
    random,
  });
const waitAfter = (failure: Failure): number => {
  const step = after(failure);
  if (step.status !== 'pending') throw new Error(step.status);
  return step.waitMs;
};

const errors = fc.constantFrom(
  'timeout',
  'connection',
  'tls',
  'dns',
  'blocked',
  'redirect',
  'status' as const,
);
const codes = fc.option(fc.integer({ min: 300, max: 599 }).filter((code) => code !== 410));
const step = fc.integer({ min: 1, max: 9 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the schedule', () => {
  test('ends with success, with 410, and after the tenth attempt', () => {
    expect(after({ error: null, statusCode: 204 })).toEqual({ status: 'delivered' });
    expect(after({ error: null, statusCode: 200, step: 10 })).toEqual({ status: 'delivered' });
    expect(after({ statusCode: 410 })).toEqual({ status: 'exhausted' });
    expect(after({ step: 9 }).status).toBe('pending');
    expect(after({ step: 10 })).toEqual({ status: 'exhausted' });
    const once = { outcome: { error: 'dns', statusCode: null, retryAfter: null, attemptedAt } } as const;
    expect(nextStep({ ...once, step: 1, waitsSeconds: [], random: 0 })).toEqual({ status: 'exhausted' });
  });

  test('waits as configured, with a jitter of 20 %', () => {
    fc.assert(
      fc.property(errors, codes, step, random, (error, statusCode, at, dice) => {
        const wait = waitAfter({ error, statusCode, step: at, random: dice });
        const planned = (waitsSeconds[at - 1] ?? 0) * 1000;
        const calm = error === 'timeout' || statusCode === 429 || statusCode === 503 ? 60_000 : 0;
        expect(wait).toBeGreaterThanOrEqual(Math.max(planned * 0.8 - 1, calm));
        expect(wait).toBeLessThanOrEqual(Math.max(planned * 1.2 + 1, calm));
      }),
    );
    expect(waitAfter({ random: 0 })).toBe(4000);
    expect(waitAfter({ random: 0.999_999 })).toBe(6000);
    expect(waitAfter({ statusCode: 503 })).toBe(60_000);
    expect(waitAfter({ error: 'timeout', statusCode: null })).toBe(60_000);
  });

  test('follows Retry-After in seconds or as a date, but never earlier than scheduled and at most a day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 * 86_400 }), step, random, (seconds, at, dice) => {
        const plain = waitAfter({ step: at, random: dice });
        const expected = Math.max(plain, Math.min(seconds * 1000, DAY_MS));
        const date = new Date(attemptedAt.getTime() + seconds * 1000);
        for (const retryAfter of [String(seconds), ` ${seconds} `, date.toUTCString()]) {
          expect(waitAfter({ step: at, random: dice, retryAfter })).toBe(expected);
        }
      }),
    );
    expect(waitAfter({ retryAfter: 'Tuesday, 01-Jan-30 01:00:00 GMT' })).toBe(3_600_000);
    expect(waitAfter({ retryAfter: 'Tue Jan  1 01:00:00 2030' })).toBe(3_600_000);
    expect(waitAfter({ retryAfter: '99999999999999999999' })).toBe(5000);
  });

  test('ignores an invalid Retry-After', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const retryAfter = /\d/.test(text) ? `x${text}` : text;
        expect(waitAfter({ retryAfter })).toBe(5000);
      }),
    );
    for (const retryAfter of ['-5', '1e3', '0x10', 'Infinity', '2031-01-01T00:00:00Z', '5, 10', '']) {
      expect(waitAfter({ retryAfter })).toBe(5000);
    }
  });
});
