/**
 * Origins from whose pages the scripts of an app call (model.md "Project app"). No pattern and no `null`: both would let in
 * pages that nobody has named.
 */
const secure = /^https:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Loopback hosts. Over any other network an http page can be changed on its way. */
const local = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/** The origin as browsers send it (RFC 6454 §6.2): lower case, without the port that its scheme implies. Null for no origin. */
export function originOf(typed: string): string | null {
  if (!secure.test(typed) && !local.test(typed)) return null;
  return URL.canParse(typed) ? new URL(typed).origin : null;
}
