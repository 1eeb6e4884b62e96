import type { Image } from './image.ts';

const EXTENSION = 0x21;
const FRAME = 0x2c;
const END = 0x3b;
const FRAME_CONTROL = 0xf9;
const APPLICATION = 0xff;
/** Application extensions that say how often the animation repeats. All other application extensions are metadata. */
const LOOP_EXTENSIONS = ['NETSCAPE2.0', 'ANIMEXTS1.0'];

export const isGif = (bytes: Buffer): boolean => /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6));

/**
 * Returns the image without comments, text and metadata; null if it is broken. @throws RangeError for a truncated file
 */
export function readGif(bytes: Buffer): Image | null {
  const afterTable = (packed: number, at: number): number =>
    packed & 0x80 ? at + 3 * 2 ** ((packed & 7) + 1) : at;
  /** Returns the position after a sequence of blocks of at most 255 bytes, which an empty block ends. */
  const afterBlocks = (at: number): number => {
    let next = at;
    for (let length = bytes.readUInt8(next); length > 0; length = bytes.readUInt8(next)) next += length + 1;
    return next + 1;
  };
  const affectsDisplay = (at: number): boolean => {
    const label = bytes.readUInt8(at + 1);
    return (
      label === FRAME_CONTROL ||
      (label === APPLICATION && LOOP_EXTENSIONS.includes(bytes.toString('latin1', at + 3, at + 14)))
    );
  };

  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let at = afterTable(bytes.readUInt8(10), 13);
  const parts = [bytes.subarray(0, at)];
  for (let frames = 0; ;) {
    const kind = bytes.readUInt8(at);
    if (kind === END) {
      parts.push(bytes.subarray(at));
      return frames > 0 && at + 1 === bytes.length ? { ...size, bytes: Buffer.concat(parts) } : null;
    }
    if (kind !== EXTENSION && kind !== FRAME) return null;
    // A frame begins with its position, an optional colour table, and the initial code size; its blocks follow.
    const end =
      kind === FRAME ? afterBlocks(afterTable(bytes.readUInt8(at + 9), at + 10) + 1) : afterBlocks(at + 2);
    if (kind === FRAME) frames++;
    if (kind === FRAME || affectsDisplay(at)) parts.push(bytes.subarray(at, end));
    at = end;
  }
}
