/**
 * Whether a text can be an issuer: an https URL, or http on this machine for tests and trials. It is stored as given,
 * because it must equal the provider's `issuer` exactly.
 */
export function isIssuer(given: string): boolean {
  if (!/^(https:\/\/|http:\/\/(127\.0\.0\.1|\[::1\]|localhost)([:/]|$))/.test(given)) return false;
  if (!URL.canParse(given)) return false;
  const { search, hash, username, password } = new URL(given);
  return !/[?#\s]/.test(given) && [search, hash, username, password].every((part) => part === '');
}
