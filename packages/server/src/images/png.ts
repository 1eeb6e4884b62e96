import { crc32 } from 'node:zlib';
import type { Image } from './image.ts';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/**
 * The chunks to keep: those with pixels, frames and display parameters, but not text, time or EXIF (W3C PNG, third
 * edition).
 */
const KEPT = new Set(
  'IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP bKGD pHYs acTL fcTL fdAT'.split(' '),
);
const COLOR_TYPES = [0, 2, 3, 4, 6];

export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(SIGNATURE);

/** Returns the image without metadata; null if it is broken. @throws RangeError for a truncated file */
export function readPng(bytes: Buffer<ArrayBuffer>): Image | null {
  const parts = [SIGNATURE];
  let size = { width: 0, height: 0 };
  let hasPixels = false;
  for (let at = 8; ;) {
    const length = bytes.readUInt32BE(at);
    const sum = at + 8 + length;
    const end = sum + 4;
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (bytes.readUInt32BE(sum) !== crc32(bytes.subarray(at + 4, sum))) return null;
    if ((type === 'IHDR') !== (at === 8)) return null;
    if (type === 'IHDR') {
      if (length !== 13 || !COLOR_TYPES.includes(bytes.readUInt8(at + 17))) return null;
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    if (type === 'IDAT') hasPixels = true;
    if (KEPT.has(type)) parts.push(bytes.subarray(at, end));
    // A capital first letter marks a critical chunk: a reader that does not know it cannot display the image.
    else if (/^[A-Z]/.test(type)) return null;
    if (type === 'IEND') {
      return hasPixels && end === bytes.length ? { ...size, bytes: Buffer.concat(parts) } : null;
    }
    at = end;
  }
}
