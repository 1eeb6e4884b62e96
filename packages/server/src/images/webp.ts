import type { Image } from './image.ts';

/** The chunks to keep: those with pixels, frames and colours, but not EXIF and XMP (RFC 9649). */
const KEPT = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
const FIRST = new Set(['VP8 ', 'VP8L', 'VP8X']);
const HAS_EXIF_OR_XMP = 0x0c;

export const isWebp = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

/** Returns the image without metadata; null if it is broken. @throws RangeError for a truncated file */
export function readWebp(bytes: Buffer): Image | null {
  if (bytes.readUInt32LE(4) + 8 !== bytes.length) return null;
  const parts: Buffer[] = [];
  let size: { width: number; height: number } | null = null;
  let hasPixels = false;
  for (let at = 12; at < bytes.length;) {
    const type = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const end = at + 8 + length + (length & 1);
    if (end > bytes.length || (at === 12 && !FIRST.has(type))) return null;
    const chunk = Buffer.from(bytes.subarray(at, end));
    if (type === 'VP8X') chunk.writeUInt8(chunk.readUInt8(8) & ~HAS_EXIF_OR_XMP, 8);
    else if (type === 'VP8 ' || type === 'VP8L' || type === 'ANMF') hasPixels = true;
    if (FIRST.has(type)) {
      const chunkSize = sizeIn(chunk, type);
      if (!chunkSize) return null;
      // The chunk with the size of the canvas comes before the frames, which have sizes of their own.
      size ??= chunkSize;
    }
    if (KEPT.has(type)) parts.push(chunk);
    at = end;
  }
  if (!size || !hasPixels) return null;
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  const head = Buffer.alloc(8, 'RIFF');
  head.writeUInt32LE(body.length, 4);
  return { ...size, bytes: Buffer.concat([head, body]) };
}

function sizeIn(chunk: Buffer, type: string): { width: number; height: number } | null {
  if (type === 'VP8X') return { width: chunk.readUIntLE(12, 3) + 1, height: chunk.readUIntLE(15, 3) + 1 };
  if (type === 'VP8 ') {
    if (chunk.readUIntBE(11, 3) !== 0x9d012a) return null;
    return { width: chunk.readUInt16LE(14) & 0x3fff, height: chunk.readUInt16LE(16) & 0x3fff };
  }
  if (chunk.readUInt8(8) !== 0x2f) return null;
  const bits = chunk.readUInt32LE(9);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
