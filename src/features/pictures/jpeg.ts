import type { Image } from './image.ts';

const START_OF_SCAN = 0xda;
const END = 0xd9;
/** Tables that pixels are decoded with (T.81): huffman, arithmetic, quantization, restarts. */
const TABLES = [0xc4, 0xcc, 0xdb, 0xdd];
const COMMENT = 0xfe;

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
const isApplication = (marker: number): boolean => marker >= 0xe0 && marker <= 0xef;

export const isJpeg = (bytes: Buffer): boolean =>
  bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]));

/**
 * The picture from its first marker to its end. What cameras write beside it goes: place, time, device, a preview that
 * shows what was cut away, whatever follows the end. Only the way up is kept, else many photos would lie on their side.
 * @throws RangeError for one that ends too early
 */
export function readJpeg(bytes: Buffer): Image | null {
  const kept: Buffer[] = [];
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
      const head = [Buffer.from([0xff, 0xd8]), ...(orientation === 1 ? [] : [onlyOrientation(orientation)])];
      return { ...size, bytes: Buffer.concat([...head, ...kept, Buffer.from([0xff, END])]) };
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
    if (marker !== COMMENT && (!isApplication(marker) || isOfColors(segment))) {
      kept.push(bytes.subarray(at, end));
    }
    at = end;
  }
}

/** The next marker that is no byte of the data (`FF 00`) and no restart in it. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = from; ; at += 2) {
    at = bytes.indexOf(0xff, at);
    if (at === -1) throw new RangeError('a scan without end');
    const next = bytes.readUInt8(at + 1);
    if (next === 0xff) at--;
    else if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
}

const begins = (segment: Buffer, text: string): boolean =>
  segment.toString('latin1', 4, 4 + text.length) === text;

/** JFIF without preview, colour profile, Adobe's colour transform. */
const isOfColors = (segment: Buffer): boolean =>
  (segment[1] === 0xe0 && begins(segment, 'JFIF\0') && segment.length === 18) ||
  (segment[1] === 0xe2 && begins(segment, 'ICC_PROFILE\0')) ||
  (segment[1] === 0xee && begins(segment, 'Adobe'));

const ORIENTATION = 0x0112;

/** Which way up, 1 to 8, of an EXIF segment; undefined where it does not say, or not so that one can read it. */
function orientationIn(segment: Buffer): number | undefined {
  if (segment[1] !== 0xe1 || !begins(segment, 'Exif\0\0')) return undefined;
  const tiff = segment.subarray(10);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  try {
    const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
    const entries = Array.from({ length: short(directory) }, (_, index) => directory + 2 + 12 * index);
    const found = entries.find((entry) => short(entry) === ORIENTATION);
    const value = found === undefined ? 1 : short(found + 8);
    return value >= 1 && value <= 8 ? value : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** An EXIF segment of one entry. */
const onlyOrientation = (value: number): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, 0xe1, 0, 34]),
    Buffer.from('Exif\0\0MM\0*', 'latin1'),
    Buffer.from([0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]),
  ]);
