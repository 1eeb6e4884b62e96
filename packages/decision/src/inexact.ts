/**
 * Whether JSON parsing may have rounded a number: beyond ±(2^53−1) several whole numbers become the same one, so two
 * different 64-bit ids would be equal. Such ids must be text.
 */
export const isInexact = (value: unknown): value is number =>
  Number.isInteger(value) && !Number.isSafeInteger(value);

/** The detail code for an inexact number in a condition. */
export const inexactCode = (value: number): 'too_big' | 'too_small' => (value > 0 ? 'too_big' : 'too_small');
