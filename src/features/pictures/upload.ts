import { eq } from 'drizzle-orm';
import { newOneTimeToken } from '../../crypto/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import { recordUpdated, type Run, type UserRow } from '../identity/sign-in.ts';
import { lockUser } from '../identity/verification.ts';
import { users } from '../users/user.ts';
import { recognise, type Recognised } from './image.ts';
import { pictures } from './picture.ts';

const MAX_BYTES = 2 * 1024 * 1024;

/** The bytes of base64 text, with or without padding, alone or in a data URI. @throws VALIDATION_ERROR, PAYLOAD_TOO_LARGE */
function decoded(file: string): Buffer<ArrayBuffer> {
  // What a data URI says of its type is its sender's word, so it is not read.
  const [prefix = ''] = /^data:[^,]{0,255};base64,/i.exec(file) ?? [];
  const text = file.slice(prefix.length).replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]+$/.test(text) || text.length % 4 === 1) {
    const details = [{ path: 'file', code: 'format' }] as const;
    throw fail('VALIDATION_ERROR', { details, fix: 'Send the file as base64, or as a data URI in base64.' });
  }
  if (Math.floor(text.length * 0.75) > MAX_BYTES)
    throw fail('PAYLOAD_TOO_LARGE', { fix: 'Send 2 MiB at most.' });
  return Buffer.from(text, 'base64');
}

/**
 * The picture without its metadata. Accepted ones are counted, so that nobody fills the log of the database with them.
 * @throws VALIDATION_ERROR, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, RATE_LIMITED
 */
export async function prepareUpload(services: Services, userId: string, file: string): Promise<Recognised> {
  const image = recognise(decoded(file));
  if (!image) {
    const fix =
      'Send a whole JPEG, PNG, WebP or GIF of at most 8192 pixels a side, with nothing behind its end.';
    throw fail('UNSUPPORTED_MEDIA_TYPE', { fix });
  }
  await services.limiter.consume('auth', `uploadMyPicture ${userId}`);
  return image;
}

/** Puts the picture in the place of the one before, whose address leads nowhere from now on. */
export async function storePicture(ctx: Run, userId: string, image: Recognised): Promise<string> {
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
