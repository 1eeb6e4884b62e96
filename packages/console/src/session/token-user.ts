/**
 * Returns the user of an access token. It isn't verified, because it only determines what is shown; the service
 * decides.
 */
export function userOfToken(token: string): string {
  const payload = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  const { sub } = JSON.parse(new TextDecoder().decode(bytes)) as { sub: string };
  return sub;
}
