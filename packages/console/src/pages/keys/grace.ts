import type { Choice } from '../../entities/declarations/form-field.ts';
import { language } from '../../i18n/language.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** How long an old secret still works. A day is what the service takes if nothing is said. */
export const defaultGrace = String(DAY);

/** Choices of a grace period, by its seconds; the first one ends the old secret at once. */
export const graceChoices = (atOnce: string, ...days: readonly number[]): readonly Choice[] => [
  { id: '0', name: atOnce },
  { id: String(HOUR), name: amount(1, 'hour') },
  ...days.map((count) => ({ id: String(count * DAY), name: amount(count, 'day') })),
];

/** `7 days`, in the language of the console. */
const amount = (count: number, unit: 'hour' | 'day'): string =>
  new Intl.NumberFormat(language(), { style: 'unit', unit, unitDisplay: 'long' }).format(count);

/** Whether an old secret still works. */
export const isAhead = (iso: string | null): boolean => iso !== null && new Date(iso).getTime() > Date.now();
