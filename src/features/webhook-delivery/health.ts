import { isGone, type Step } from './schedule.ts';
import type { Outcome } from './sender.ts';

/**
 * How a receiver is doing, from what came of the attempts (events §5): a pure function. A subscription that has failed
 * for five days, or of which ten deliveries in a row were given up, is disabled; at half of either its owner is warned.
 */
export interface Health {
  readonly disabledReason: 'gone' | 'failing' | null;
  readonly disabledAt: Date | null;
  readonly failingSince: Date | null;
  readonly slow: boolean;
  readonly warnedAt: Date | null;
  readonly exhaustedInARow: number;
  readonly lastDeliveredAt: Date | null;
}

export interface Change {
  readonly health: Health;
  /** What the world is to hear of it. */
  readonly event: 'webhook.failing' | 'webhook.disabled' | 'webhook.recovered' | null;
}

/** Whoever takes longer for an answer is slow. */
export const SLOW_MS = 1000;
const LONGEST_FAILING_MS = 5 * 86_400_000;
const MOST_EXHAUSTED = 10;
const WARN_AT = 0.5;

/** Of a subscription whose receiver has not failed. */
export const healthy = {
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  slow: false,
  warnedAt: null,
  exhaustedInARow: 0,
};

type Heard = Pick<Outcome, 'error' | 'statusCode' | 'attemptedAt' | 'latencyMs'>;

export function healthAfter(before: Health, outcome: Heard, status: Step['status'], now: Date): Change {
  const { health, event } = judged(before, outcome, status, now);
  return { health: { ...health, slow: outcome.latencyMs > SLOW_MS }, event };
}

function judged(before: Health, outcome: Heard, status: Step['status'], now: Date): Change {
  const { disabledReason } = before;
  if (status === 'delivered') {
    // Whoever said that it wants nothing more must be asked anew by its owner, not by an answer that came late.
    if (disabledReason === 'gone') return { health: { ...before, lastDeliveredAt: now }, event: null };
    return {
      health: { ...healthy, lastDeliveredAt: now },
      event: disabledReason === 'failing' ? 'webhook.recovered' : null,
    };
  }
  if (isGone(outcome)) {
    if (disabledReason === 'gone') return { health: before, event: null };
    return { health: { ...before, disabledReason: 'gone', disabledAt: now }, event: 'webhook.disabled' };
  }
  if (disabledReason !== null) return { health: before, event: null };

  const failingSince = before.failingSince ?? outcome.attemptedAt;
  const exhaustedInARow = before.exhaustedInARow + (status === 'exhausted' ? 1 : 0);
  const health = { ...before, failingSince, exhaustedInARow };
  const failedFor = now.getTime() - failingSince.getTime();
  const strain = Math.max(failedFor / LONGEST_FAILING_MS, exhaustedInARow / MOST_EXHAUSTED);
  if (strain >= 1) {
    return { health: { ...health, disabledReason: 'failing', disabledAt: now }, event: 'webhook.disabled' };
  }
  if (strain >= WARN_AT && before.warnedAt === null) {
    return { health: { ...health, warnedAt: now }, event: 'webhook.failing' };
  }
  return { health, event: null };
}
