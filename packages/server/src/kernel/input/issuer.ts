/** https, or this machine, for tests and trials. Compared to the letter with the `issuer` of the provider. */
export function isIssuer(given: string): boolean {
  if (!/^(https:\/\/|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/]|$))/.test(given)) return false;
  if (!URL.canParse(given)) return false;
  const { search, hash, username, password } = new URL(given);
  return !/[?#\s]/.test(given) && [search, hash, username, password].every((part) => part === '');
}
