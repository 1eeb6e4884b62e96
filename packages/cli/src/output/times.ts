const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Formats a time relative to now: `3 days ago`, `in 2 hours`. Returns other texts unchanged. */
export function relativeTime(value: unknown, now: number): string {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) return typeof value === 'string' ? value : '';
  const seconds = (time - now) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  if (unit === 'second' && Math.abs(seconds) < 45) return 'now';
  const count = Math.max(1, Math.floor(Math.abs(seconds) / size));
  const text = `${count} ${unit}${count === 1 ? '' : 's'}`;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}
