import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { bare } from '../../kernel/reply.ts';
import { url } from '../../values.ts';
import { users } from '../users/user.ts';
import { pictures } from './picture.ts';
import { prepareUpload, storePicture } from './upload.ts';

export const uploadMyPicture = mutation({
  rest: 'POST /me/picture',
  summary: 'Upload your picture: JPEG, PNG, WebP or GIF',
  description:
    'The type is told by the bytes. Metadata (place, time, device) is removed. The picture before is gone from then on.',
  access: 'session',
  keepsRights: true,
  bodyLimitBytes: 3 * 1024 * 1024,
  input: {
    file: z
      .string()
      .min(1)
      .meta({
        description: 'The picture, as base64 or a data URI; 2 MiB at most when decoded.',
        examples: ['R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs='],
      }),
  },
  output: z
    .object({ pictureUrl: url.describe('The address of the picture.') })
    .meta({ id: 'Picture', description: 'Where the picture is, for everybody who knows the address.' }),
  emits: 'user.updated',
  prepare: (ctx) => prepareUpload(ctx.services, callerOf(ctx).userId, ctx.input.file),
  run: async (ctx) => ({ pictureUrl: await storePicture(ctx, callerOf(ctx).userId, ctx.prepared) }),
});

const nameForm = /^[\w-]{43}\.(?:jpg|png|webp|gif)$/;

export const picture = query({
  rest: 'GET /pictures/:name',
  summary: 'A picture of a user',
  description: 'An address has one picture for ever, and none once it was replaced or its user is gone.',
  access: 'public',
  only: 'rest',
  rate: 'network',
  bare: ['image/*'],
  input: { name: z.string().describe('The last part of a picture’s address.') },
  output: z.string().meta({ format: 'binary' }),
  codes: ['NOT_FOUND'],
  run: async ({ tx, input: { name } }) => {
    const [found] = nameForm.test(name)
      ? await tx
          .select({ mediaType: pictures.mediaType, bytes: pictures.bytes })
          .from(pictures)
          .innerJoin(users, and(eq(users.id, pictures.userId), isNull(users.deletedAt)))
          .where(eq(pictures.name, name))
      : [];
    if (!found) throw fail('NOT_FOUND');
    return bare(found.bytes, {
      'content-type': found.mediaType,
      'cache-control': 'public, max-age=31536000, immutable',
      // Opened on its own it is a page of ours: it runs nothing, loads nothing and has no origin.
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"${name}"`,
    });
  },
});
