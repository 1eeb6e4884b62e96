import { z } from 'zod';
import type { Services } from '../../services.ts';
import type { DetectedImage } from '../../images/image.ts';
import { imageInUpload } from '../../people/pictures/upload.ts';

const MAX_BYTES = 2 ** 18;
const LONGEST_SIDE = 1024;

/** Settings that all operations to upload a logo share. */
export const logoUpload = {
  bodyLimitBytes: 2 ** 19,
  description:
    'The format is detected from the bytes, and metadata is removed. SVG is not accepted. The new logo replaces the old one, whose address stops working. `file: null` removes it.',
} as const;

export const logoFile = z
  .string()
  .min(1)
  .nullable()
  .meta({
    description:
      'JPEG, PNG, WebP or GIF, as base64 or a data URI; 256 KiB at most when decoded, 1024 pixels per side. null: none.',
    examples: ['R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs='],
  });

/**
 * Returns the logo in the upload, or null to remove the logo. Accepted uploads are rate limited, because each one fills
 * the write-ahead log of the database.
 * @throws VALIDATION_ERROR, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, RATE_LIMITED
 */
export async function prepareLogo(
  services: Services,
  { id, file }: { readonly id: string; readonly file: string | null },
): Promise<DetectedImage | null> {
  if (file === null) return null;
  const image = imageInUpload(file, MAX_BYTES, LONGEST_SIDE);
  await services.limiter.consume('auth', `uploadLogo ${id}`);
  return image;
}
