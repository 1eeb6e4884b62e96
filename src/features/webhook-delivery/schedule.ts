import type { Outcome } from './sender.ts';

/**
 * When a delivery is tried again (events §5): a pure function of what came of the attempt, how often it was tried, and
 * a throw of the dice.
 */
export type Step =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly waitMs: number }
  | { readonly status: 'exhausted' };

export interface Tried {
  readonly outcome: Pick<Outcome, 'error' | 'statusCode' | 'retryAfter' | 'attemptedAt'>;
  /** Attempts since the schedule began, this one included. */
  readonly step: number;
  /** Between the attempts: n waits are n + 1 attempts. */
  readonly waitsSeconds: readonly number[];
  /** 0 ≤ random < 1 */
  readonly random: number;
}

const JITTER = 0.2;
/** For a receiver that is overwhelmed. */
const CALM_MS = 60_000;
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;
const GONE = 410;

/** A receiver that says so wants nothing more, of this or any other event. */
export const isGone = ({ statusCode }: Pick<Outcome, 'statusCode'>): boolean => statusCode === GONE;

export function nextStep({ outcome, step, waitsSeconds, random }: Tried): Step {
  if (outcome.error === null) return { status: 'delivered' };
  const seconds = waitsSeconds[step - 1];
  if (seconds === undefined || isGone(outcome)) return { status: 'exhausted' };
  const jittered = seconds * 1000 * (1 + JITTER * (2 * random - 1));
  const overwhelmed = outcome.error === 'timeout' || outcome.statusCode === 429 || outcome.statusCode === 503;
  // Never sooner than the schedule says: a receiver that asks for it at once would use up its attempts.
  const waitMs = Math.max(jittered, overwhelmed ? CALM_MS : 0, retryAfterMs(outcome));
  return { status: 'pending', waitMs: Math.round(waitMs) };
}

/** Seconds or an HTTP date (RFC 9110 §10.2.3); 0 for what is neither. */
function retryAfterMs({ retryAfter, attemptedAt }: Tried['outcome']): number {
  const text = retryAfter?.trim() ?? '';
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : dateOf(text) - attemptedAt.getTime();
  return wait > 0 ? Math.min(wait, LONGEST_RETRY_AFTER_MS) : 0;
}

/** All three forms of an HTTP date are in GMT; the one of C's asctime does not say so. NaN for what is none. */
const dateOf = (text: string): number =>
  /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text)
    ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
    : Number.NaN;
