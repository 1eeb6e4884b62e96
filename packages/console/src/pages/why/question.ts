import type { components } from '@doorward/node/client';

export type Decision = components['schemas']['Decision'];
export type Explanation = components['schemas']['Explanation'];
export type Candidate = Explanation['candidates'][number];
export type Remedy = Explanation['nearest'][number];
export type Thing = Readonly<Record<string, unknown>>;

/** The part of a question that stands in the address. */
export interface Question {
  /** Null: the user themselves. */
  readonly user: string | null;
  readonly resource: string;
  readonly action: string;
}

/** The object that a JSON text spells; undefined if it spells none, null for an empty text. */
export function thingOf(text: string): Thing | null | undefined {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Thing)
      : undefined;
  } catch {
    return undefined;
  }
}
