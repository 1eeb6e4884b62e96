/**
 * Whether a number may be another than the one that was written: beyond ±(2^53−1) several whole numbers become one when
 * JSON is read, so that two different ids of 64 bits would be equal. Whoever needs such ids writes them as text.
 */
export const isInexact = (value: unknown): value is number =>
  Number.isInteger(value) && !Number.isSafeInteger(value);

/** The same of a value that a comparison reads, or of any item of it. */
export const readsInexact = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isInexact) : isInexact(value);

/** The detail code with which such a number is refused. */
export const inexactCode = (value: number): 'too_big' | 'too_small' => (value > 0 ? 'too_big' : 'too_small');
