import type { Outcome } from './sender.ts';

/** The next step of a delivery (events §5), computed from the result, the number of attempts and a random number. */
export type Step =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly waitMs: number }
  | { readonly status: 'exhausted' };

export interface AttemptState {
  readonly outcome: Pick<Outcome, 'error' | 'statusCode' | 'retryAfter' | 'attemptedAt'>;
  /** Number of attempts since the schedule began, including this one. */
  readonly step: number;
  /** The waits between attempts: for n waits there are n + 1 attempts. */
  readonly waitsSeconds: readonly number[];
  /** 0 ≤ random < 1 */
  readonly random: number;
}

const JITTER = 0.2;
/** Minimum wait for an overloaded receiver. */
const MIN_OVERLOADED_WAIT_MS = 60_000;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
const GONE = 410;

/** Whether the receiver responded 410: it wants no more events of any type. */
export const isGone = ({ statusCode }: Pick<Outcome, 'statusCode'>): boolean => statusCode === GONE;

export function nextStep({ outcome, step, waitsSeconds, random }: AttemptState): Step {
  if (outcome.error === null) return { status: 'delivered' };
  const seconds = waitsSeconds[step - 1];
  if (seconds === undefined || isGone(outcome)) return { status: 'exhausted' };
  const jittered = seconds * 1000 * (1 + JITTER * (2 * random - 1));
  const isOverloaded =
    outcome.error === 'timeout' || outcome.statusCode === 429 || outcome.statusCode === 503;
  // A retry is never earlier than scheduled: a receiver that sends a short Retry-After would otherwise use up its
  // attempts.
  const waitMs = Math.max(jittered, isOverloaded ? MIN_OVERLOADED_WAIT_MS : 0, retryAfterMs(outcome));
  return { status: 'pending', waitMs: Math.round(waitMs) };
}

/**
 * Returns the milliseconds of Retry-After, which is a number of seconds or an HTTP date (RFC 9110 §10.2.3); 0 for any
 * other text.
 */
function retryAfterMs({ retryAfter, attemptedAt }: AttemptState['outcome']): number {
  const text = retryAfter?.trim() ?? '';
  const wait = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : dateOf(text) - attemptedAt.getTime();
  return wait > 0 ? Math.min(wait, MAX_RETRY_AFTER_MS) : 0;
}

/**
 * Returns the time of an HTTP date. All its three forms are in GMT, though the asctime form does not state it. NaN for
 * any other text.
 */
const dateOf = (text: string): number =>
  /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text)
    ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
    : Number.NaN;
