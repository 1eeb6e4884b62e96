/**
 * Whether JSON parsing may have rounded a number. Beyond ±(2^53−1) different whole numbers become equal, so two
 * different 64-bit ids could match. Such ids must be strings.
 */
export const isInexact = (value: unknown): value is number =>
  Number.isInteger(value) && !Number.isSafeInteger(value);

/** The detail code for an inexact number in a condition. */
export const inexactCode = (value: number): 'too_big' | 'too_small' => (value > 0 ? 'too_big' : 'too_small');
