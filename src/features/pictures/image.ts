import { isGif, readGif } from './gif.ts';
import { isJpeg, readJpeg } from './jpeg.ts';
import { isPng, readPng } from './png.ts';
import { isWebp, readWebp } from './webp.ts';

/**
 * What an uploaded file is, told by its bytes and by nothing that its sender says. The file is walked part by part from
 * its first byte to its last and put together again from the parts that show something: a picture that is also
 * something else, or tells where it was taken, comes out as a picture alone or is refused. Pixels are not decoded.
 */
export interface Image {
  readonly width: number;
  readonly height: number;
  /** Without metadata. */
  readonly bytes: Buffer<ArrayBuffer>;
}

const formats = [
  { mediaType: 'image/jpeg', extension: 'jpg', is: isJpeg, read: readJpeg },
  { mediaType: 'image/png', extension: 'png', is: isPng, read: readPng },
  { mediaType: 'image/webp', extension: 'webp', is: isWebp, read: readWebp },
  { mediaType: 'image/gif', extension: 'gif', is: isGif, read: readGif },
] as const;

export interface Recognised extends Image {
  readonly mediaType: (typeof formats)[number]['mediaType'];
  readonly extension: (typeof formats)[number]['extension'];
}

/** In pixels. A small file can ask a browser for gigabytes. */
const LONGEST_SIDE = 8192;
const isShowable = (length: number): boolean => length >= 1 && length <= LONGEST_SIDE;

/** Null for what is no picture, or a broken one. Never throws. */
export function recognise(bytes: Buffer<ArrayBuffer>): Recognised | null {
  const format = formats.find(({ is }) => is(bytes));
  const image = format && whole(() => format.read(bytes));
  if (!image || !isShowable(image.width) || !isShowable(image.height)) return null;
  return { ...image, mediaType: format.mediaType, extension: format.extension };
}

/** Whoever reads past the end of a buffer finds a file that was cut off. */
function whole(read: () => Image | null): Image | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
