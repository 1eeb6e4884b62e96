/**
 * Returns the scopes that the app declares and the user consented to; null means unrestricted. A user who consented to
 * an unrestricted app allowed the project plane only, so built-in scopes (`Noun:Action`) that the app added later do
 * not count.
 *
 * @example commonScopes(['order:read', 'order:write'], ['order:read']) // ['order:read']
 */
export function commonScopes(
  ofApp: readonly string[] | null,
  consented: readonly string[] | null,
): readonly string[] | null {
  if (!ofApp) return consented;
  if (!consented) return ofApp.filter((scope) => !/^[A-Z]/.test(scope));
  const allowed = new Set(consented);
  return ofApp.filter((scope) => allowed.has(scope));
}
