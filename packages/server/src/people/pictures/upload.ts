import { fail } from '../../errors.ts';
import { detectImage, type DetectedImage } from '../../images/image.ts';

/** Decodes base64, with or without padding, plain or in a data URI. @throws VALIDATION_ERROR, PAYLOAD_TOO_LARGE */
function decodeBase64(file: string, maxBytes: number): Buffer<ArrayBuffer> {
  // The media type in a data URI is only a claim by the sender, so it is ignored.
  const [prefix = ''] = /^data:[^,]{0,255};base64,/i.exec(file) ?? [];
  const text = file.slice(prefix.length).replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]+$/.test(text) || text.length % 4 === 1) {
    const details = [{ path: 'file', code: 'format' }] as const;
    throw fail('VALIDATION_ERROR', { details, fix: 'Send the file as base64, or as a data URI in base64.' });
  }
  if (Math.floor(text.length * 0.75) > maxBytes)
    throw fail('PAYLOAD_TOO_LARGE', { fix: `Send ${maxBytes / 2 ** 20} MiB at most.` });
  return Buffer.from(text, 'base64');
}

/**
 * Returns the picture in an upload, without its metadata. `longestSide` is in pixels.
 *
 * @throws VALIDATION_ERROR, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE
 */
export function imageInUpload(file: string, maxBytes: number, longestSide = 8192): DetectedImage {
  const image = detectImage(decodeBase64(file, maxBytes));
  if (image && Math.max(image.width, image.height) <= longestSide) return image;
  throw fail('UNSUPPORTED_MEDIA_TYPE', {
    fix: `Send a complete JPEG, PNG, WebP or GIF of at most ${longestSide} pixels per side, without bytes after its end.`,
  });
}
