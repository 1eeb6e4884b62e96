/**
 * Origins from whose pages the scripts of an app may call the API (model §3). Patterns and `null` are
 * rejected: they would admit pages that the app does not name.
 */
const secure = /^https:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Plain http only on loopback hosts: on any other network a page can be modified in transit. */
const local = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/**
 * The origin as browsers send it (RFC 6454 §6.2): lower case, without the default port of its scheme. Null for
 * anything that is not an origin.
 */
export function originOf(typed: string): string | null {
  if (!secure.test(typed) && !local.test(typed)) return null;
  return URL.canParse(typed) ? new URL(typed).origin : null;
}
