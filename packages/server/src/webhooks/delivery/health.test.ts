import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { healthAfter, healthy, type Change, type Health } from './health.ts';

const DAY_MS = 86_400_000;
const began = new Date('2030-01-01T00:00:00.000Z');
const wellAndNew: Health = { ...healthy, lastDeliveredAt: null };
const on = (day: number): Date => new Date(began.getTime() + day * DAY_MS);

type End = 'delivered' | 'pending' | 'exhausted' | 'gone';
function after(before: Health, end: End, day: number): Change {
  const outcome = {
    error: end === 'delivered' ? null : ('status' as const),
    statusCode: { delivered: 204, pending: 500, exhausted: 500, gone: 410 }[end],
    attemptedAt: on(day),
    latencyMs: 10,
  };
  return healthAfter(before, outcome, end === 'gone' ? 'exhausted' : end, on(day));
}

/** Applies the results in order. Returns the last health and the reported events, each with its day. */
function live(ends: readonly (readonly [day: number, end: End])[]) {
  let health = wellAndNew;
  const reported: [number, string][] = [];
  for (const [day, end] of ends) {
    const change = after(health, end, day);
    health = change.health;
    if (change.event) reported.push([day, change.event]);
  }
  return { health, reported };
}

describe('a subscription', () => {
  test('is slow while its last answer took more than a second, whatever the status', () => {
    const outcome = { error: null, statusCode: 204, attemptedAt: began };
    const slow = healthAfter(wellAndNew, { ...outcome, latencyMs: 1001 }, 'delivered', began);
    expect(slow).toMatchObject({ health: { slow: true }, event: null });
    const quick = healthAfter(slow.health, { ...outcome, latencyMs: 1000 }, 'delivered', began);
    expect(quick).toMatchObject({ health: { slow: false }, event: null });
    const failed = { ...outcome, error: 'timeout', statusCode: null, latencyMs: 15_000 } as const;
    expect(healthAfter(quick.health, failed, 'pending', began)).toMatchObject({ health: { slow: true } });
  });

  test('is reported after two and a half days of failures, and disabled after five', () => {
    const days = [0, 1, 2, 2.4, 2.5, 3, 4, 4.9, 5, 6];
    const { health, reported } = live(days.map((day) => [day, 'pending']));
    expect(reported).toEqual([
      [2.5, 'webhook.failing'],
      [5, 'webhook.disabled'],
    ]);
    expect(health).toMatchObject({ disabledReason: 'failing', disabledAt: on(5), failingSince: began });
  });

  test('is reported after five exhausted deliveries in a row, and disabled after ten', () => {
    const { reported } = live(Array.from({ length: 12 }, (_, index) => [index / 100, 'exhausted']));
    expect(reported).toEqual([
      [0.04, 'webhook.failing'],
      [0.09, 'webhook.disabled'],
    ]);
  });

  test('starts counting again after one success, and may be reported again', () => {
    const { health, reported } = live([
      ...Array.from({ length: 9 }, () => [0, 'exhausted'] as const),
      [4, 'delivered'],
      ...Array.from({ length: 9 }, () => [4.5, 'exhausted'] as const),
    ]);
    expect(reported.map(([, event]) => event)).toEqual(['webhook.failing', 'webhook.failing']);
    expect(health).toMatchObject({ failingSince: on(4.5), exhaustedInARow: 9, lastDeliveredAt: on(4) });
  });

  test('whose receiver answers 410 is disabled at once, and a late success does not enable it', () => {
    const { health, reported } = live([
      [0, 'delivered'],
      [1, 'gone'],
      [1, 'gone'],
      [1, 'pending'],
      [2, 'delivered'],
    ]);
    expect(reported).toEqual([[1, 'webhook.disabled']]);
    expect(health).toMatchObject({ disabledReason: 'gone', disabledAt: on(1), lastDeliveredAt: on(2) });
  });

  test('that was disabled for failing recovers with the first success, or ends with 410', () => {
    const failing: (readonly [number, End])[] = Array.from({ length: 10 }, () => [0, 'exhausted']);
    const recovered = live([...failing, [1, 'exhausted'], [2, 'delivered'], [3, 'pending']]);
    expect(recovered.reported.at(-1)).toEqual([2, 'webhook.recovered']);
    expect(recovered.health).toEqual({ ...healthy, lastDeliveredAt: on(2), failingSince: on(3) });
    const gone = live([...failing, [1, 'gone'], [2, 'delivered']]);
    expect(gone.reported.at(-1)).toEqual([1, 'webhook.disabled']);
    expect(gone.health.disabledReason).toBe('gone');
  });

  test('recovers only after it was disabled', () => {
    const end = fc.constantFrom<End>(
      'delivered',
      'pending',
      'pending',
      'pending',
      'exhausted',
      'exhausted',
      'gone',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.double({ min: 0, max: 2, noNaN: true }), end)), (steps) => {
        let day = 0;
        const { health, reported } = live(steps.map(([later, what]) => [(day += later), what]));
        const open = reported.map(([, event]) => event).filter((event) => event !== 'webhook.failing');
        for (const [index, event] of open.entries()) {
          if (event === 'webhook.recovered') expect(open[index - 1]).toBe('webhook.disabled');
        }
        expect(health.disabledAt === null).toBe(health.disabledReason === null);
        expect(health.exhaustedInARow).toBeLessThanOrEqual(10);
      }),
    );
  });
});
