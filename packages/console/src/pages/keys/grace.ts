import type { Choice } from '../../entities/declarations/form-field.ts';
import { language } from '../../i18n/language.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** The grace period of an old secret that is chosen by default: a day, as in the service. */
export const defaultGrace = String(DAY);

/** Choices for a grace period, with its seconds as id. The first one ends the old secret immediately. */
export const graceChoices = (atOnce: string, ...days: readonly number[]): readonly Choice[] => [
  { id: '0', name: atOnce },
  { id: String(HOUR), name: amount(1, 'hour') },
  ...days.map((count) => ({ id: String(count * DAY), name: amount(count, 'day') })),
];

/** Formats a period in the language of the console, such as `7 days`. */
const amount = (count: number, unit: 'hour' | 'day'): string =>
  new Intl.NumberFormat(language(), { style: 'unit', unit, unitDisplay: 'long' }).format(count);

/** Whether a time is in the future, such as the end of an old secret. */
export const isAhead = (iso: string | null): boolean => iso !== null && new Date(iso).getTime() > Date.now();
