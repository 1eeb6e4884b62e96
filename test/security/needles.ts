import { createHash } from 'node:crypto';

/** Finding a secret in a heap of text, also where it was encoded on the way or only in part. */

/** Base64 of the bytes wherever they begin in what was encoded: without the ends, which depend on the neighbours. */
function anywhereInBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replaceAll('=', '');
    const text = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** What would give the secret away: itself and its encodings. Bytes are looked for in their encodings only. */
export function needlesOf(secret: string | Buffer): (string | RegExp)[] {
  if (typeof secret === 'string' && secret.length < 10) {
    // Six digits mean nothing inside others, in a time, an id or the state of a rate limit: they are a value by themselves.
    return [new RegExp(`(?<=["'(,: ])${secret}(?=["'), ])`)];
  }
  const bytes = Buffer.from(secret as string);
  const hex = bytes.toString('hex');
  const needles = [hex, hex.toUpperCase(), ...anywhereInBase64(bytes)];
  if (typeof secret === 'string') {
    needles.push(secret);
    // The end of a long one is as good as the whole to whoever saw the beginning elsewhere.
    if (secret.length > 40) needles.push(secret.slice(-24));
  }
  return [...new Set(needles)];
}

/** Digests that are no protection for what a person can remember. */
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
