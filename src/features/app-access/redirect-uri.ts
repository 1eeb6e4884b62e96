/**
 * To which addresses an app may have its users sent back (model.md "Project app"), and whether an address asked for is one
 * of them. Addresses are compared as they were typed (RFC 9700 §2.1): nothing is parsed, decoded or tidied up first, so
 * there is no reading of an address in which it becomes another one.
 */

const maxLength = 2048;

/**
 * The characters of RFC 3986 and no others; without `#`, since a fragment has no place here, and `*`, which looks like
 * a pattern.
 */
const plain = /^(?:[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=]|%[0-9A-Fa-f]{2})+$/;

/** On the machine of the user himself, where nobody is to read along. */
const loopback = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::[1-9]\d{0,4})?(?:[/?]|$)/;

const secure = /^https:\/\/[^/?]/;

/** A scheme that an app claims for itself is a domain name turned around (RFC 8252 §7.1), so `javascript:` is none. */
const privateUse = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\//;

const userInfo = /^[^:]+:\/\/[^/?]*@/;

/** Whether an app may name this address at all. */
export const isRedirectUri = (typed: string): boolean =>
  typed.length <= maxLength &&
  plain.test(typed) &&
  [secure, loopback, privateUse].some((form) => form.test(typed)) &&
  !userInfo.test(typed) &&
  URL.canParse(typed);

const loopbackIp = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::[1-9]\d{0,4})?(|[/?].*)$/;

/** A program that listens on its own machine gets its port when it starts (RFC 8252 §7.3). */
function withoutPort(uri: string): string | null {
  const [, host, rest] = loopbackIp.exec(uri) ?? [];
  return host === undefined ? null : `${host} ${rest}`;
}

/** Whether the app has named this address; of an address on a loopback IP, its port does not count. */
export function matchesRedirect(app: { readonly redirectUris: readonly string[] }, uri: string): boolean {
  if (!isRedirectUri(uri)) return false;
  if (app.redirectUris.includes(uri)) return true;
  const onLoopback = withoutPort(uri);
  return onLoopback !== null && app.redirectUris.some((one) => withoutPort(one) === onLoopback);
}
