import { isGif, readGif } from './gif.ts';
import { isJpeg, readJpeg } from './jpeg.ts';
import { isPng, readPng } from './png.ts';
import { isWebp, readWebp } from './webp.ts';

/**
 * An image from an uploaded file. Its format is detected from the bytes, whatever the sender declares. The file is
 * parsed from its first byte to its last and rebuilt from the parts that affect the display. So a file that is valid in
 * another format too, or that contains a location, becomes a plain image or is refused. Pixels are not decoded.
 */
export interface Image {
  readonly width: number;
  readonly height: number;
  /** The rebuilt file, without metadata. */
  readonly bytes: Buffer<ArrayBuffer>;
}

const formats = [
  { mediaType: 'image/jpeg', extension: 'jpg', is: isJpeg, read: readJpeg },
  { mediaType: 'image/png', extension: 'png', is: isPng, read: readPng },
  { mediaType: 'image/webp', extension: 'webp', is: isWebp, read: readWebp },
  { mediaType: 'image/gif', extension: 'gif', is: isGif, read: readGif },
] as const;

export interface DetectedImage extends Image {
  readonly mediaType: (typeof formats)[number]['mediaType'];
  readonly extension: (typeof formats)[number]['extension'];
}

/** Maximum length of a side in pixels. A small file with a huge image could make a browser allocate gigabytes. */
const LONGEST_SIDE = 8192;
const isDisplayable = (length: number): boolean => length >= 1 && length <= LONGEST_SIDE;

/** Returns the image in these bytes; null for an unknown format or a broken image. Never throws. */
export function detectImage(bytes: Buffer<ArrayBuffer>): DetectedImage | null {
  const format = formats.find(({ is }) => is(bytes));
  const image = format && nullIfTruncated(() => format.read(bytes));
  if (!image || !isDisplayable(image.width) || !isDisplayable(image.height)) return null;
  return { ...image, mediaType: format.mediaType, extension: format.extension };
}

/** Returns null if `read` reads past the end of the buffer, because the file is then truncated. */
function nullIfTruncated(read: () => Image | null): Image | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
