import { z } from 'zod';
import { refusal } from '../../kernel/input/values.ts';

/*
 * Redirect URIs of an app (model §3): which may be registered, and whether a requested one matches. Addresses are
 * compared as they were typed (RFC 9700 §2.1), without parsing, decoding or normalizing them, so no interpretation can
 * turn one address into another. The only exception is the port of a loopback IP address, which is ignored
 * (RFC 8252 §7.3).
 */

const maxLength = 2048;

/** The characters of RFC 3986 except `#`, because fragments are not allowed, and `*`, which looks like a pattern. */
const plain = /^(?:[A-Za-z0-9\-._~:/?[\]@!$&'()+,;=]|%[0-9A-Fa-f]{2})+$/;

/** Loopback addresses: the redirect does not leave the user's machine. */
const loopback = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::[1-9]\d{0,4})?(?:[/?]|$)/;

const secure = /^https:\/\/[^/?]/;

/** A private-use scheme is a reversed domain name (RFC 8252 §7.1), which excludes `javascript:`. */
const privateUse = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\//;

const userInfo = /^[^:]+:\/\/[^/?]*@/;

/** Whether an app may register this address. */
export const isRedirectUri = (typed: string): boolean =>
  typed.length <= maxLength &&
  plain.test(typed) &&
  [secure, loopback, privateUse].some((form) => form.test(typed)) &&
  !userInfo.test(typed) &&
  URL.canParse(typed);

const loopbackIp = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::[1-9]\d{0,4})?(|[/?].*)$/;

/**
 * A loopback address without its port, because a native app gets its port only when it starts (RFC 8252 §7.3). Null
 * for any other address.
 */
function withoutPort(uri: string): string | null {
  const [, host, rest] = loopbackIp.exec(uri) ?? [];
  return host === undefined ? null : `${host} ${rest}`;
}

/** Whether the app has registered this address. The port of a loopback IP address is ignored. */
export function matchesRedirect(app: { readonly redirectUris: readonly string[] }, uri: string): boolean {
  if (!isRedirectUri(uri)) return false;
  if (app.redirectUris.includes(uri)) return true;
  const onLoopback = withoutPort(uri);
  return (
    onLoopback !== null && app.redirectUris.some((redirectUri) => withoutPort(redirectUri) === onLoopback)
  );
}

/** A redirect URI, stored as typed, because OAuth compares redirect URIs character by character. */
export const redirectUri = z
  .string()
  .check(({ value, issues }) => {
    if (!isRedirectUri(value)) issues.push(refusal('format', value));
  })
  .meta({
    maxLength: 2048,
    description:
      'https, or http for 127.0.0.1, [::1] (any port matches) and localhost, or a scheme of the app (com.example:/callback).',
  });
