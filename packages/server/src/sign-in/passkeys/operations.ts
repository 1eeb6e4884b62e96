/* The passkeys of the caller (docs/guides/passkeys.md). */

import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { pageOfOwn } from '../../db/query/page.ts';
import { passkeyChallengeId, RegistrationCredential } from '../webauthn/credential.ts';
import { CreationOptions } from '../webauthn/options.ts';
import { beginRegistration, passkeysOf, verifyRegistration } from '../webauthn/registration.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { lockCaller, lockForChange } from '../second-factor/lock-for-change.ts';
import { addPasskey, assertRoom, removePasskey } from './changes.ts';
import { Passkey, passkeyName, passkeys } from '../../schema/sign-in/passkey.ts';

export const myPasskeys = query({
  rest: 'GET /me/passkeys',
  summary: 'List your passkeys',
  access: 'session',
  input: paging(Passkey),
  output: pageOf(Passkey),
  run: async (ctx) => {
    const { tx, services, input } = ctx;
    const { userId } = callerOf(ctx);
    const list = 'myPasskeys';
    const page = await pageOfOwn(tx, services.cursors, { entity: Passkey, list, input, userId });
    return { ...page, items: page.items as (typeof passkeys.$inferSelect)[] };
  },
});

export const createPasskeyOptions = mutation({
  rest: 'POST /me/passkeys/options',
  whileImpersonating: 'refused',
  summary: 'Begin to add a passkey: the options for `navigator.credentials.create`',
  description: 'The challenge can be answered once, by this session, for 5 minutes.',
  access: 'session',
  permissionChange: 'none',
  stepUp: true,
  input: {},
  output: z
    .object({ challengeId: passkeyChallengeId, publicKey: CreationOptions })
    .meta({ id: 'PasskeyCreation', description: 'A challenge for a new passkey.' }),
  codes: ['CONFLICT'],
  run: async (ctx) => {
    const { tx, services } = ctx;
    const caller = callerOf(ctx);
    const user = await lockForChange(ctx, caller);
    assertRoom(await passkeysOf(tx, user.id));
    ctx.record({ target: { type: 'User', id: user.id }, node: await nodeOfUser(tx, user.id) });
    return beginRegistration(tx, services, user, caller.credentialId);
  },
});

export const createPasskey = mutation({
  rest: 'POST /me/passkeys',
  whileImpersonating: 'refused',
  summary: 'Add a passkey, with the answer of the browser to the options',
  description: 'The first passkey or authenticator app also creates recovery codes.',
  access: 'session',
  permissionChange: 'none',
  input: {
    challengeId: passkeyChallengeId,
    credential: RegistrationCredential,
    name: passkeyName.default('Passkey'),
  },
  output: z
    .object({
      passkey: Passkey.schema.describe('The new passkey.'),
      recoveryCodes: z.array(z.string()).nullable().meta({
        description:
          'Recovery codes; only with the first passkey or authenticator app, and only in this answer.',
      }),
    })
    .meta({ id: 'CreatedPasskey', description: 'A new passkey.' }),
  status: 201,
  secrets: ['recoveryCodes'],
  emits: 'user.sign_in_methods_changed',
  codes: ['INVALID_TOKEN', 'CONFLICT'],
  prepare: ({ tx, services, input, principal }) =>
    verifyRegistration(tx, services, input, callerOf({ principal }).credentialId),
  run: (ctx) => addPasskey(ctx, ctx.input, ctx.prepared),
});

export const updateMyPasskey = mutation({
  rest: 'PATCH /me/passkeys/:id',
  whileImpersonating: 'refused',
  summary: 'Rename a passkey',
  access: 'session',
  permissionChange: 'none',
  input: { id: uuid, name: passkeyName },
  output: Passkey.schema,
  run: async (ctx) => {
    const { tx, input } = ctx;
    const { id: userId } = await lockCaller(ctx, callerOf(ctx));
    const isOwn = and(eq(passkeys.id, input.id), eq(passkeys.userId, userId));
    const [renamed] = await tx.update(passkeys).set({ name: input.name }).where(isOwn).returning();
    if (!renamed) throw fail('NOT_FOUND');
    ctx.record({ target: { type: 'Passkey', id: renamed.id }, node: await nodeOfUser(tx, userId) });
    return renamed;
  },
});

export const deleteMyPasskey = mutation({
  rest: 'DELETE /me/passkeys/:id',
  whileImpersonating: 'refused',
  summary: 'Remove a passkey; removing the last factor also removes the recovery codes',
  access: 'session',
  permissionChange: 'none',
  stepUp: true,
  input: { id: uuid },
  output: Passkey.schema,
  emits: 'user.sign_in_methods_changed',
  run: (ctx) => removePasskey(ctx, ctx.input.id),
});
