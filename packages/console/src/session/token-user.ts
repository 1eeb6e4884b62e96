/**
 * Returns the user of an access token. The token isn't verified, because the result only determines what is shown; the
 * service checks each request.
 */
export function userOfToken(token: string): string {
  const payload = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  const { sub } = JSON.parse(new TextDecoder().decode(bytes)) as { sub: string };
  return sub;
}
