import { isGone, type Step } from './schedule.ts';
import type { Outcome } from './sender.ts';

/**
 * The health of a receiver, computed from the results of attempts (events §5). A subscription is disabled after five
 * days of failures, after ten exhausted deliveries in a row, or by a 410 response. Its owner is warned at half of the
 * five days or ten deliveries.
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
  /** The event that reports the change. */
  readonly event: 'webhook.failing' | 'webhook.disabled' | 'webhook.recovered' | null;
}

/** A receiver counts as slow if its response takes longer. */
export const SLOW_MS = 1000;
const MAX_FAILING_MS = 5 * 86_400_000;
const MAX_EXHAUSTED = 10;
const WARN_AT = 0.5;

/** The health of a subscription without failures. */
export const healthy = {
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  slow: false,
  warnedAt: null,
  exhaustedInARow: 0,
};

type ReceiverResult = Pick<Outcome, 'error' | 'statusCode' | 'attemptedAt' | 'latencyMs'>;

export function healthAfter(
  before: Health,
  outcome: ReceiverResult,
  status: Step['status'],
  now: Date,
): Change {
  const { health, event } = assess(before, outcome, status, now);
  return { health: { ...health, slow: outcome.latencyMs > SLOW_MS }, event };
}

function assess(before: Health, outcome: ReceiverResult, status: Step['status'], now: Date): Change {
  const { disabledReason } = before;
  if (status === 'delivered') {
    // A receiver that answered 410 stays disabled until its owner enables it: a late success does not enable it.
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
  const strain = Math.max(failedFor / MAX_FAILING_MS, exhaustedInARow / MAX_EXHAUSTED);
  if (strain >= 1) {
    return { health: { ...health, disabledReason: 'failing', disabledAt: now }, event: 'webhook.disabled' };
  }
  if (strain >= WARN_AT && before.warnedAt === null) {
    return { health: { ...health, warnedAt: now }, event: 'webhook.failing' };
  }
  return { health, event: null };
}
