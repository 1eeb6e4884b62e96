/** Orders texts by code unit, as the service does for ids in lower case. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
