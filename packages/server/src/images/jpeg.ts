import type { Image } from './image.ts';

const START_OF_SCAN = 0xda;
const END = 0xd9;
/** Tables that decoding needs (ITU-T T.81): Huffman, arithmetic, quantization, restart interval. */
const TABLES = [0xc4, 0xcc, 0xdb, 0xdd];
const COMMENT = 0xfe;

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
const isApplication = (marker: number): boolean => marker >= 0xe0 && marker <= 0xef;

export const isJpeg = (bytes: Buffer): boolean =>
  bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]));

/**
 * Returns the image without metadata: without location, time, device, the preview (which may show what was cropped),
 * and any bytes after the end. Of EXIF only the orientation stays, because many photos would otherwise be displayed
 * rotated. Null if the image is broken.
 * @throws RangeError for a truncated file
 */
export function readJpeg(bytes: Buffer): Image | null {
  const parts: Buffer[] = [];
  let size: { width: number; height: number } | null = null;
  let orientation = 1;
  let hasPixels = false;
  for (let at = 2; ;) {
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    if (marker === END) {
      if (!size || !hasPixels) return null;
      const head = [
        Buffer.from([0xff, 0xd8]),
        ...(orientation === 1 ? [] : [orientationSegment(orientation)]),
      ];
      return { ...size, bytes: Buffer.concat([...head, ...parts, Buffer.from([0xff, END])]) };
    }
    let end = at + 2 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length || end < at + 4) return null;
    const segment = bytes.subarray(at, end);
    if (isFrame(marker)) size = { height: segment.readUInt16BE(5), width: segment.readUInt16BE(7) };
    else if (marker === START_OF_SCAN) {
      end = endOfScan(bytes, end);
      hasPixels = true;
    } else if (isApplication(marker)) orientation = orientationIn(segment) ?? orientation;
    else if (!TABLES.includes(marker) && marker !== COMMENT) return null;
    if (marker !== COMMENT && (!isApplication(marker) || affectsColors(segment))) {
      parts.push(bytes.subarray(at, end));
    }
    at = end;
  }
}

/** Returns the position of the next marker that is neither an escaped data byte (`FF 00`) nor a restart marker. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = from; ; at += 2) {
    at = bytes.indexOf(0xff, at);
    if (at === -1) throw new RangeError('the scan does not end');
    const next = bytes.readUInt8(at + 1);
    if (next === 0xff) at--;
    else if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
}

const startsWith = (segment: Buffer, text: string): boolean =>
  segment.toString('latin1', 4, 4 + text.length) === text;

/**
 * Whether the application segment affects colours: JFIF without a preview, the colour profile, Adobe's colour
 * transform.
 */
const affectsColors = (segment: Buffer): boolean =>
  (segment[1] === 0xe0 && startsWith(segment, 'JFIF\0') && segment.length === 18) ||
  (segment[1] === 0xe2 && startsWith(segment, 'ICC_PROFILE\0')) ||
  (segment[1] === 0xee && startsWith(segment, 'Adobe'));

const ORIENTATION = 0x0112;

/** Returns the orientation in an EXIF segment, 1 to 8; undefined for another segment or an unreadable one. */
function orientationIn(segment: Buffer): number | undefined {
  if (segment[1] !== 0xe1 || !startsWith(segment, 'Exif\0\0')) return undefined;
  const tiff = segment.subarray(10);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  try {
    const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
    const entries = Array.from({ length: short(directory) }, (_, index) => directory + 2 + 12 * index);
    const orientation = entries.find((entry) => short(entry) === ORIENTATION);
    const value = orientation === undefined ? 1 : short(orientation + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Makes an EXIF segment with the orientation as its only entry. */
const orientationSegment = (value: number): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, 0xe1, 0, 34]),
    Buffer.from('Exif\0\0MM\0*', 'latin1'),
    Buffer.from([0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]),
  ]);
