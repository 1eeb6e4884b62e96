import type { ReactNode } from 'react';
import type { FormField, Values } from '../../entities/declarations/form-field.ts';
import type { ColourTexts } from './branding-texts.ts';

/** Returns a typed color in lower case, as the service requires, or null if it isn't a complete color. */
export const colourOf = (typed: unknown): string | null =>
  typeof typed === 'string' && /^#[0-9a-f]{6}$/i.test(typed.trim()) ? typed.trim().toLowerCase() : null;

/** A form field for the color of pages and mails, with a preview below. */
export const colourField = (
  label: string,
  t: ColourTexts,
  initial: string | null | undefined,
  below: (values: Values) => ReactNode,
): FormField => ({
  kind: 'text',
  name: 'primaryColor',
  label,
  hint: t.colorHint,
  isNullable: true,
  check: (typed) => (typed === null || colourOf(typed) !== null ? null : t.colorProblem),
  below,
  initial: initial ?? null,
});
