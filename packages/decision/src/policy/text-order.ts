/** Compares texts by code unit. This is the order in which the service sorts lower-case ids. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
