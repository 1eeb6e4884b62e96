const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Whether a text has the form of a client secret (identity §11). The checksum reveals a mistyped or incomplete secret
 * before it is sent.
 */
export function isClientSecret(text: string): boolean {
  if (!/^dwk_[\w-]{46}[0-9A-Za-z]{6}$/.test(text)) return false;
  return text.slice(50) === base62(crc32(text.slice(0, 50)));
}

/** CRC-32 (ISO 3309), as in zlib. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function base62(value: number): string {
  let text = '';
  for (let rest = value; text.length < 6; rest = Math.floor(rest / 62)) text = digits[rest % 62] + text;
  return text;
}
