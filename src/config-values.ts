/**
 * Parsers of the environment: text in, typed value out. A parser throws `BadValue`, whose message says what is
 * wanted and never repeats the text, because the text may be a secret or a URL with a password in it.
 */
import { isIP } from 'node:net';

/** The text of one variable cannot be used; the message completes "NAME …". */
export class BadValue extends Error {
  override readonly name = 'BadValue';
}

/** Turns the trimmed, non-empty text of a variable into its value. @throws BadValue */
export type Parse<T> = (text: string) => T;

/** Any text of `min`..`max` characters without control characters (a line break would forge headers). */
export const text =
  (min = 1, max = 4096): Parse<string> =>
  (given) => {
    const length = [...given].length;
    if (length < min || length > max || /[\u0000-\u001f\u007f]/.test(given)) {
      throw new BadValue(`must have ${min} to ${max} printable characters`);
    }
    return given;
  };

/** `true` or `false`; nothing else, so that `no` or `off` is never read as true. */
export const flag: Parse<boolean> = (given) => {
  if (given === 'true') return true;
  if (given === 'false') return false;
  throw new BadValue('must be true or false');
};

/** A whole number of `min`..`max`. */
export const whole =
  (min: number, max: number): Parse<number> =>
  (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new BadValue(`must be a whole number from ${min} to ${max}`);
  };

/** 0, or a whole number of `min`..`max`. */
export const zeroOr =
  (min: number, max: number): Parse<number> =>
  (given) => {
    if (given === '0') return 0;
    try {
      return whole(min, max)(given);
    } catch {
      throw new BadValue(`must be 0 or a whole number from ${min} to ${max}`);
    }
  };

/** Exactly one of the given words. */
export const oneOf =
  <const T extends string>(...words: readonly T[]): Parse<T> =>
  (given) => {
    const found = words.find((word) => word === given);
    if (found === undefined) throw new BadValue(`must be one of ${words.join(', ')}`);
    return found;
  };

/** Comma-separated parts, each parsed; empty parts are dropped. */
export const listOf =
  <T>(parse: Parse<T>): Parse<readonly T[]> =>
  (given) =>
    given
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(parse);

/** Waits in seconds, at most 20 of them; `none` is the empty list, because an empty variable is an unset one. */
export const schedule: Parse<readonly number[]> = (given) => {
  const parts = given === 'none' ? [] : given.split(',').map((part) => part.trim());
  const good = parts.every((part) => /^\d{1,7}(\.\d{1,3})?$/.test(part));
  if (good && parts.length <= 20) return parts.map(Number);
  throw new BadValue('must be up to 20 numbers of seconds, separated by commas, or none');
};

const parsedUrl = (given: string): URL | undefined => (URL.canParse(given) ? new URL(given) : undefined);

/** A base URL (http or https, a path is allowed), normalised and without trailing slash. */
export const baseUrl: Parse<string> = (given) => {
  const url = parsedUrl(given);
  const http = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !http || url.username || url.password || /[?#]/.test(given)) {
    throw new BadValue('must be an http(s) URL without credentials, query or fragment');
  }
  return url.href.replace(/\/+$/, '');
};

/** A browser origin, as the `Origin` header spells it. A wildcard is refused: credentials go with these. */
export const origin: Parse<string> = (given) => {
  const url = parsedUrl(given);
  const http = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !http || `${url.origin}/` !== url.href) {
    throw new BadValue('must list origins like https://app.example.com (scheme, host, port; no path, no *)');
  }
  return url.origin;
};

/** A URL with one of the given schemes (`postgres:`); kept as written. */
export const urlWith =
  (...protocols: readonly string[]): Parse<string> =>
  (given) => {
    if (protocols.includes(parsedUrl(given)?.protocol ?? '')) return given;
    throw new BadValue(`must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  };

/** A network as `address/prefix`; a bare address is the network of that one address. */
export const cidr: Parse<string> = (given) => {
  const [address = '', prefix, ...rest] = given.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
  if (bits < 0 || length > bits || rest.length > 0) {
    throw new BadValue('must list networks like 10.0.0.0/8 or fd00::/8');
  }
  return `${address}/${length}`;
};

/** A `Host` header value, lower case; a name without port stands for every port. */
export const host: Parse<string> = (given) => {
  if (!/^([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(given)) {
    throw new BadValue('must list host names like auth.example.com or localhost:4000');
  }
  return given.toLowerCase();
};

/** The sender of mail: `a@b` or `Name <a@b>`. */
export const mailbox: Parse<string> = (given) => {
  const value = text(3, 320)(given);
  if (!/^([^<>]*<[^<>\s@]+@[^<>\s@]+>|[^<>\s@]+@[^<>\s@]+)$/.test(value)) {
    throw new BadValue('must be an address, or a name and an address: Doorward <no-reply@example.com>');
  }
  return value;
};

/** Base64 (either alphabet) of exactly 32 bytes; kept as text, because a frozen object cannot hold a Buffer. */
export const key256: Parse<string> = (given) => {
  if (/^[\w+/-]{43}=?$/.test(given) && Buffer.from(given, 'base64').length === 32) return given;
  throw new BadValue('must be base64 of 32 bytes; make one with: openssl rand -base64 32');
};
