import { language } from './language.ts';

/* Formats dates, times, numbers and plurals in the language of the console. */

export const formatDateTime = (iso: string): string =>
  new Intl.DateTimeFormat(language(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

export const formatNumber = (value: number): string => new Intl.NumberFormat(language()).format(value);

const steps = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
] as const;

/** Formats a time relative to now: `3 hours ago`, `in 2 days`. */
export function formatRelative(iso: string, now = Date.now()): string {
  let amount = (new Date(iso).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' });
  for (const [unit, size] of steps) {
    if (Math.abs(amount) < size) return format.format(Math.round(amount), unit);
    amount /= size;
  }
  return format.format(Math.round(amount), 'year');
}

/** Returns the singular or plural text for a number. `#` in the text is replaced with the number. */
export function plural(count: number, forms: { readonly one: string; readonly other: string }): string {
  const form = new Intl.PluralRules(language()).select(count) === 'one' ? forms.one : forms.other;
  return form.replace('#', formatNumber(count));
}
