/**
 * Parsers that convert the text of a variable to a typed value. A parser throws `InvalidValue`, whose message describes
 * valid values and never contains the text, which may be a secret or a URL with a password.
 */
import { isIP } from 'node:net';
import { email } from '../kernel/input/values.ts';

/**
 * Thrown if the text of a variable is invalid. The message continues a sentence that starts with the name of the
 * variable.
 */
export class InvalidValue extends Error {
  override readonly name = 'InvalidValue';
}

/** Converts the trimmed, non-empty text of a variable to its value. @throws InvalidValue */
export type Parse<T> = (text: string) => T;

/**
 * Accepts any text of `min`..`max` characters without control characters, because a line break could inject headers.
 */
export const text =
  (min = 1, max = 4096): Parse<string> =>
  (given) => {
    const length = [...given].length;
    if (length < min || length > max || /[\u0000-\u001f\u007f]/.test(given)) {
      throw new InvalidValue(`must have ${min} to ${max} printable characters`);
    }
    return given;
  };

/** Accepts only `true` or `false`, so that `no` or `off` cannot be taken for true. */
export const flag: Parse<boolean> = (given) => {
  if (given === 'true') return true;
  if (given === 'false') return false;
  throw new InvalidValue('must be true or false');
};

/** Accepts a whole number of `min`..`max`. */
export const integer =
  (min: number, max: number): Parse<number> =>
  (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidValue(`must be a whole number from ${min} to ${max}`);
  };

/** Accepts 0 or a whole number of `min`..`max`. */
export const zeroOrInteger =
  (min: number, max: number): Parse<number> =>
  (given) => {
    if (given === '0') return 0;
    try {
      return integer(min, max)(given);
    } catch {
      throw new InvalidValue(`must be 0 or a whole number from ${min} to ${max}`);
    }
  };

/** Accepts exactly one of the given words. */
export const oneOf =
  <const T extends string>(...words: readonly T[]): Parse<T> =>
  (given) => {
    const value = words.find((word) => word === given);
    if (value === undefined) throw new InvalidValue(`must be one of ${words.join(', ')}`);
    return value;
  };

/** Accepts comma-separated items and parses each. Ignores empty items. */
export const listOf =
  <T>(parse: Parse<T>): Parse<readonly T[]> =>
  (given) =>
    given
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(parse);

/** Accepts at most 20 delays in seconds. `none` is the empty list, because an empty variable counts as unset. */
export const schedule: Parse<readonly number[]> = (given) => {
  const parts = given === 'none' ? [] : given.split(',').map((part) => part.trim());
  const isValid = parts.every((part) => /^\d{1,7}(\.\d{1,3})?$/.test(part));
  if (isValid && parts.length <= 20) return parts.map(Number);
  throw new InvalidValue('must be up to 20 numbers of seconds, separated by commas, or none');
};

const parseUrl = (given: string): URL | undefined => (URL.canParse(given) ? new URL(given) : undefined);

/** Accepts a base URL (http or https; a path is allowed) and returns it normalized, without a trailing slash. */
export const baseUrl: Parse<string> = (given) => {
  const url = parseUrl(given);
  const http = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !http || url.username || url.password || /[?#]/.test(given)) {
    throw new InvalidValue('must be an http(s) URL without credentials, query or fragment');
  }
  return url.href.replace(/\/+$/, '');
};

/**
 * Accepts a browser origin in the spelling of the `Origin` header. Refuses a wildcard, because requests may contain
 * credentials.
 */
export const origin: Parse<string> = (given) => {
  const url = parseUrl(given);
  const http = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !http || `${url.origin}/` !== url.href) {
    throw new InvalidValue(
      'must list origins like https://app.example.com (scheme, host, port; no path, no *)',
    );
  }
  return url.origin;
};

/** Accepts a URL with one of the given schemes (such as `postgres:`) and returns it unchanged. */
export const urlWith =
  (...protocols: readonly string[]): Parse<string> =>
  (given) => {
    if (protocols.includes(parseUrl(given)?.protocol ?? '')) return given;
    throw new InvalidValue(`must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`);
  };

/** Accepts a network as `address/prefix`. An address without a prefix is a network of one address. */
export const cidr: Parse<string> = (given) => {
  const [address = '', prefix, ...rest] = given.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Infinity;
  if (bits < 0 || length > bits || rest.length > 0) {
    throw new InvalidValue('must list networks like 10.0.0.0/8 or fd00::/8');
  }
  return `${address}/${length}`;
};

/** Accepts an IPv4 or IPv6 address without a port. */
export const ipAddress: Parse<string> = (given) => {
  if (isIP(given) === 0) throw new InvalidValue('must list addresses like 192.0.2.53 or 2001:db8::53');
  return given;
};

/** Accepts a value of the `Host` header and returns it in lower case. */
export const host: Parse<string> = (given) => {
  if (!/^([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(given)) {
    throw new InvalidValue('must list host names like auth.example.com or localhost:4000');
  }
  return given.toLowerCase();
};

/** Accepts a domain name without a port and returns it in lower case. */
export const rpId: Parse<string> = (given) => {
  if (given.length > 253 || !/^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(given)) {
    throw new InvalidValue('must be a domain name like example.com, without scheme and port');
  }
  return given.toLowerCase();
};

/** Accepts the sender of mail: `a@b` or `Name <a@b>`. */
export const mailbox: Parse<string> = (given) => {
  const value = text(3, 320)(given);
  if (!/^([^<>]*<[^<>\s@]+@[^<>\s@]+>|[^<>\s@]+@[^<>\s@]+)$/.test(value)) {
    throw new InvalidValue('must be an address, or a name and an address: Doorward <no-reply@example.com>');
  }
  return value;
};

/** Accepts an e-mail address and returns it in canonical form. */
export const address: Parse<string> = (given) => {
  const { success, data } = email.safeParse(given);
  if (success) return data;
  throw new InvalidValue('must list e-mail addresses like ada@example.com');
};

/** Accepts base64 or base64url of exactly 32 bytes. Returns the text, because a Buffer cannot be frozen. */
export const key256: Parse<string> = (given) => {
  if (/^[\w+/-]{43}=?$/.test(given) && Buffer.from(given, 'base64').length === 32) return given;
  throw new InvalidValue('must be base64 of 32 bytes; make one with: openssl rand -base64 32');
};
