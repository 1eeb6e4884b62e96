import { eq } from 'drizzle-orm';
import { newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import { recordUpdated } from '../../sessions/sign-in.ts';
import { type UserRow, users } from '../../schema/people/user.ts';
import { lockUser } from '../../people/lock-user.ts';
import type { DetectedImage } from '../../images/image.ts';
import { imageInUpload } from '../../people/pictures/upload.ts';
import { pictures } from '../../schema/people/picture.ts';

const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Decodes the upload and removes its metadata. Accepted uploads are rate limited, because each one fills the
 * write-ahead log of the database.
 * @throws VALIDATION_ERROR, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, RATE_LIMITED
 */
export async function prepareUpload(
  services: Services,
  userId: string,
  file: string,
): Promise<DetectedImage> {
  const image = imageInUpload(file, MAX_BYTES);
  await services.limiter.consume('auth', `uploadMyPicture ${userId}`);
  return image;
}

/** Stores the picture in place of the previous one, whose address stops working. Returns the new address. */
export async function storePicture(ctx: Run, userId: string, image: DetectedImage): Promise<string> {
  const { tx, services } = ctx;
  const before = await lockUser(ctx, userId);
  if (!before) throw fail('UNAUTHENTICATED');
  const now = services.clock.now();
  const name = `${newOneTimeToken()}.${image.extension}`;
  const set = { name, mediaType: image.mediaType, bytes: image.bytes, createdAt: now };
  await tx
    .insert(pictures)
    .values({ userId, ...set })
    .onConflictDoUpdate({ target: pictures.userId, set });
  const pictureUrl = `${services.config.appUrl}/api/pictures/${name}`;
  const [row] = await tx
    .update(users)
    .set({ pictureUrl, updatedAt: now })
    .where(eq(users.id, userId))
    .returning();
  await recordUpdated(ctx, row as UserRow, { pictureUrl: { from: before.pictureUrl, to: pictureUrl } });
  return pictureUrl;
}
