import { createHash } from 'node:crypto';

/** Finds a secret in a text, also where it was encoded or is there only in part. */

/** Base64 of the bytes at any offset of the encoded text: without the ends, which depend on the neighbouring bytes. */
function anywhereInBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const text = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** What would disclose the secret: the secret and its encodings. Bytes are searched for in their encodings only. */
export function needlesOf(secret: string | Buffer): (string | RegExp)[] {
  if (typeof secret === 'string' && secret.length < 10) {
    // Six digits mean nothing inside of a time, an id or a rate limit: they are searched for as a whole value.
    return [new RegExp(`(?<=["'(,: ])${secret}(?=["'), ])`)];
  }
  const bytes = Buffer.from(secret as string);
  const hex = bytes.toString('hex');
  const needles = [hex, hex.toUpperCase(), ...anywhereInBase64(bytes)];
  if (typeof secret === 'string') {
    needles.push(secret);
    // The end of a long secret is enough for a reader who saw its beginning elsewhere.
    if (secret.length > 40) needles.push(secret.slice(-24));
  }
  return [...new Set(needles)];
}

/** Digests do not protect a secret that a person can remember. */
export const fastDigests = (password: string): string[] =>
  ['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) => {
    const digest = createHash(algorithm).update(password).digest();
    return [
      digest.toString('hex'),
      digest.toString('base64').replaceAll('=', ''),
      digest.toString('base64url'),
    ];
  });

export const contains = (text: string, needles: readonly (string | RegExp)[]): boolean =>
  needles.some((needle) => (typeof needle === 'string' ? text.includes(needle) : needle.test(text)));
