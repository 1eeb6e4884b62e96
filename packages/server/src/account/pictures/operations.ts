import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { mutation, query } from '../../declare.ts';
import { bare } from '../../kernel/output/reply.ts';
import { url } from '../../kernel/input/values.ts';
import { readLogo } from '../../apps/branding/logo.ts';
import { users } from '../../schema/people/user.ts';
import { pictures } from '../../schema/people/picture.ts';
import { prepareUpload, storePicture } from './upload.ts';

export const uploadMyPicture = mutation({
  rest: 'POST /me/picture',
  whileImpersonating: 'refused',
  summary: 'Upload your picture: JPEG, PNG, WebP or GIF',
  description:
    'The format is detected from the bytes. Metadata (location, time, device) is removed. The new picture replaces the old one, whose address stops working.',
  access: 'session',
  permissionChange: 'none',
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
  output: z.object({ pictureUrl: url.describe('The address of the picture.') }).meta({
    id: 'Picture',
    description: 'The address of the picture; anyone who knows it can see the picture.',
  }),
  emits: 'user.updated',
  prepare: (ctx) => prepareUpload(ctx.services, callerOf(ctx).userId, ctx.input.file),
  run: async (ctx) => ({ pictureUrl: await storePicture(ctx, callerOf(ctx).userId, ctx.prepared) }),
});

const namePattern = /^[\w-]{43}\.(?:jpg|png|webp|gif)$/;

export const picture = query({
  rest: 'GET /pictures/:name',
  summary: 'Read the picture of a user, or the logo of an app or organization',
  description:
    'The picture at an address never changes; the address stops working when the picture is replaced, or its user, app or organization deleted.',
  access: 'public',
  only: 'rest',
  limit: 'network',
  bare: ['image/*'],
  input: { name: z.string().describe('The last part of the address of a picture.') },
  output: z.string().meta({ format: 'binary' }),
  codes: ['NOT_FOUND'],
  run: async ({ tx, input: { name } }) => {
    const [ofUser] = namePattern.test(name)
      ? await tx
          .select({ mediaType: pictures.mediaType, bytes: pictures.bytes })
          .from(pictures)
          .innerJoin(users, and(eq(users.id, pictures.userId), isNull(users.deletedAt)))
          .where(eq(pictures.name, name))
      : [];
    const stored = ofUser ?? (namePattern.test(name) ? await readLogo(tx, name) : undefined);
    if (!stored) throw fail('NOT_FOUND');
    return bare(stored.bytes, {
      'content-type': stored.mediaType,
      'cache-control': 'public, max-age=31536000, immutable',
      // If a browser opens the address directly, the picture is a page of this service. So it must not run or load
      // anything or have an origin.
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      etag: `"${name}"`,
    });
  },
});
