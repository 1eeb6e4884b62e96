const DAY_MS = 86_400_000;
/** From the year 0 to the end of 9999, which is written with four digits. */
const FIRST_MS = Date.UTC(2000, 0, 1) - 730_485 * DAY_MS;
const END_MS = Date.UTC(10_000, 0, 1);

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const threeDigits = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

let day = NaN;
let dayText = '';

/**
 * A time as `toISOString` writes it, for lists, which have hundreds of them: that was half of what it took to write their
 * JSON. Days come again, so the last one is remembered. What is no such time stays as it is.
 */
export function isoText(value: unknown): unknown {
  const ms = value instanceof Date ? value.getTime() : NaN;
  if (!(ms >= FIRST_MS && ms < END_MS)) return value;
  const days = Math.floor(ms / DAY_MS);
  if (days !== day) {
    day = days;
    dayText = new Date(ms).toISOString().slice(0, 11);
  }
  const rest = ms - days * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return `${dayText}${twoDigits[hours]}:${twoDigits[minutes - hours * 60]}:${twoDigits[seconds - minutes * 60]}.${threeDigits[rest - seconds * 1000]}Z`;
}
