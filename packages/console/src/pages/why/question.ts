import type { components } from '@doorward/node/client';

export type Decision = components['schemas']['Decision'];
export type Explanation = components['schemas']['Explanation'];
export type Candidate = Explanation['candidates'][number];
export type Remedy = Explanation['nearest'][number];
export type Attributes = Readonly<Record<string, unknown>>;

/** The part of a question that is in the URL. */
export interface Question {
  /** null means the current user. */
  readonly user: string | null;
  readonly resource: string;
  readonly action: string;
}

/** Parses an object from JSON. Returns null for an empty text, and undefined for anything but an object. */
export function parseAttributes(text: string): Attributes | null | undefined {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Attributes)
      : undefined;
  } catch {
    return undefined;
  }
}
