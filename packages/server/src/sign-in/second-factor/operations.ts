import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { base32, newTotpSecret, otpauthUrl, typedTotpCode } from '../../crypto/tokens/totp.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import type { Run } from '../../services.ts';
import { mutation, query } from '../../declare.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { accessTokenSeconds, userData } from '../../sessions/sign-in.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { rememberNetwork } from '../../people/lockout.ts';
import { forSignIn } from '../webauthn/challenge.ts';
import { checkAssertion } from '../webauthn/assertion.ts';
import { AssertionCredential, passkeyChallengeId } from '../webauthn/credential.ts';
import { hasPasskey } from '../webauthn/has-passkey.ts';
import { MfaFactor, mfaFactors } from '../../schema/sign-in/mfa-factor.ts';
import {
  verifyWithLimit,
  factorsOf,
  hasAnyFactor,
  verifySecondFactor,
  sealContextOf,
  consumeCode,
  type FactorRow,
} from './codes.ts';
import { countRecoveryCodes, removeRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';
import { assertOneFactor } from './one-factor.ts';
import { lockCaller, lockForChange } from './lock-for-change.ts';
import * as secondFactor from './second-factor.ts';

/** The maximum number of factors per user (identity §7). */
const MAX_FACTORS = 5;

const code = z
  .string()
  .max(32)
  .regex(typedTotpCode)
  .meta({
    description: 'The six digits that the authenticator app shows now; spaces are ignored.',
    examples: ['123456'],
  });

const accessToken = z.string().meta({ description: 'The next access token of this session, now at `aal2`.' });
const expiresIn = z.int().meta({ description: 'Seconds until the access token expires.' });

export const myMfa = query({
  rest: 'GET /me/mfa',
  summary: 'List your second factors',
  access: 'session',
  admits: ['pending-mfa'],
  input: {},
  output: z
    .object({
      enabled: z.boolean().describe('Whether a second factor is needed to sign in.'),
      verified: z.boolean().meta({ description: 'Whether this session has given a code.' }),
      factors: z.array(MfaFactor).describe('The authenticator apps.'),
      recoveryCodesLeft: z.int().describe('How many recovery codes are unused.'),
    })
    .meta({
      id: 'MfaStatus',
      description: 'The second factors of a user, and whether this session has given one.',
    }),
  run: async (ctx) => {
    const { userId, acr } = callerOf(ctx);
    const factors = await factorsOf(ctx.tx, userId);
    return {
      enabled: factors.some(({ isEnabled }) => isEnabled),
      verified: acr === 'aal2',
      factors,
      recoveryCodesLeft: await countRecoveryCodes(ctx.tx, userId),
    };
  },
});

const shownOnce = { description: 'Shown only in this answer; null in an idempotent replay.' };

export const createMfaFactor = mutation({
  rest: 'POST /me/mfa/factors',
  whileImpersonating: 'refused',
  summary: 'Begin to add an authenticator app; its first correct code enables it',
  access: 'session',
  permissionChange: 'none',
  stepUp: true,
  input: {
    name: text(1, 100)
      .default('Authenticator')
      .meta({ description: 'A name of your choice.', examples: ['Phone'] }),
  },
  output: z
    .object({
      factor: MfaFactor,
      secret: z.string().nullable().meta(shownOnce),
      otpauthUrl: z.string().nullable().meta(shownOnce),
    })
    .meta({
      id: 'CreatedMfaFactor',
      description: 'A factor that waits for its first code, with its secret.',
    }),
  status: 201,
  // The URL contains the secret.
  secrets: ['secret', 'otpauthUrl'],
  codes: ['CONFLICT'],
  run: async (ctx) => {
    const { tx, input, services } = ctx;
    const { kek, ids, clock, config } = services;
    const user = await lockForChange(ctx, callerOf(ctx));
    const own = await factorsOf(tx, user.id);
    if (own.length >= MAX_FACTORS) {
      throw fail('CONFLICT', { fix: `A user has ${MAX_FACTORS} factors at most: remove one first.` });
    }
    const [id, secret] = [ids.next(), newTotpSecret()];
    const sealedSecret = kek.seal(secret, sealContextOf(id));
    const [row] = await tx
      .insert(mfaFactors)
      .values({ id, userId: user.id, type: 'totp', name: input.name, sealedSecret, createdAt: clock.now() })
      .returning();
    ctx.record({ target: { type: 'MfaFactor', id }, node: await nodeOfUser(tx, user.id) });
    const shown = base32(secret);
    const account = user.email ?? user.name;
    return {
      factor: row as FactorRow,
      secret: shown,
      otpauthUrl: otpauthUrl(config.auth.mfaIssuer, account, shown),
    };
  },
});

/** Records the change in the user's own account, without secrets or codes. */
async function recordChange(ctx: Run, user: UserRow, change: string, factorId: string): Promise<void> {
  ctx.invalidate(`user:${user.id}`);
  ctx.record({
    event: 'user.mfa_changed',
    data: userData(user),
    target: secondFactor.userTarget(user),
    node: await nodeOfUser(ctx.tx, user.id),
    metadata: { act: change, factorId },
  });
}

const factorById = (own: readonly FactorRow[], id: string): FactorRow => {
  const match = own.find((factor) => factor.id === id);
  if (!match) throw fail('NOT_FOUND');
  return match;
};

export const verifyMfaFactor = mutation({
  rest: 'POST /me/mfa/factors/:id/verify',
  whileImpersonating: 'refused',
  summary: 'Enable a new authenticator app with its first code',
  description: 'The first factor also creates recovery codes, which are shown only in this answer.',
  access: 'session',
  permissionChange: 'none',
  stepUp: true,
  input: { id: uuid, code },
  output: z
    .object({
      factor: MfaFactor,
      recoveryCodes: z
        .array(z.string())
        .nullable()
        .describe(
          'Recovery codes, for the case that the app is lost; only with the first factor, and only in this answer.',
        ),
      accessToken,
      expiresIn,
    })
    .meta({ id: 'VerifiedMfaFactor', description: 'An enabled factor, and the session that enabled it.' }),
  emits: 'user.mfa_changed',
  codes: ['INVALID_STATE'],
  limit: { class: 'auth', key: secondFactor.codeBucket },
  prepare: (ctx) => secondFactor.prepareRaise(ctx.tx, ctx.services, callerOf(ctx), 'otp'),
  run: async (ctx) => {
    const { tx, input, prepared, services } = ctx;
    const user = await lockForChange(ctx, callerOf(ctx));
    const own = await factorsOf(tx, user.id);
    const pending = factorById(own, input.id);
    if (pending.isEnabled) throw fail('INVALID_STATE', { params: { state: 'enabled' } });
    const isCorrect = async () => (await consumeCode(ctx, [pending], input.code)) !== undefined;
    if (!(await verifyWithLimit(ctx, user.id, isCorrect))) return secondFactor.refuseCode(ctx, user);
    const [enabled] = await tx
      .update(mfaFactors)
      .set({ isEnabled: true })
      .where(eq(mfaFactors.id, pending.id))
      .returning();
    const isFirst = !own.some(({ isEnabled }) => isEnabled) && !(await hasPasskey(tx, user.id));
    const recoveryCodes = isFirst ? await replaceRecoveryCodes(ctx, user.id) : null;
    await secondFactor.raiseSession(ctx, user, callerOf(ctx), prepared);
    await recordChange(ctx, user, 'factorEnabled', pending.id);
    return {
      factor: enabled as FactorRow,
      recoveryCodes,
      accessToken: prepared.accessToken,
      expiresIn: accessTokenSeconds(services),
    };
  },
});

export const deleteMfaFactor = mutation({
  rest: 'DELETE /me/mfa/factors/:id',
  whileImpersonating: 'refused',
  summary: 'Remove an authenticator app; removing the last factor also removes the recovery codes',
  access: 'session',
  permissionChange: 'none',
  stepUp: true,
  input: { id: uuid },
  output: MfaFactor,
  emits: 'user.mfa_changed',
  run: async (ctx) => {
    const { tx, input } = ctx;
    const user = await lockForChange(ctx, callerOf(ctx));
    const removed = factorById(await factorsOf(tx, user.id), input.id);
    await tx.delete(mfaFactors).where(eq(mfaFactors.id, removed.id));
    if (!(await hasAnyFactor(tx, user.id))) await removeRecoveryCodes(tx, user.id);
    // A factor that was never enabled protected nothing, and notifying its user of the removal would alarm them for no
    // reason.
    if (removed.isEnabled) await recordChange(ctx, user, 'factorRemoved', removed.id);
    else ctx.record({ target: { type: 'MfaFactor', id: removed.id }, node: await nodeOfUser(tx, user.id) });
    return removed;
  },
});

export const verifyMfa = mutation({
  rest: 'POST /me/mfa/verify',
  whileImpersonating: 'refused',
  summary: 'Give the second factor: a code of the app, a passkey, or a recovery code',
  description: 'Raises this session to `aal2`. It also counts as a recent sign-in.',
  access: 'session',
  permissionChange: 'none',
  admits: ['pending-mfa'],
  input: {
    code: code.optional(),
    recoveryCode: z
      .string()
      .min(1)
      .max(32)
      .optional()
      .meta({ description: 'A recovery code instead of `code`. Works once.' }),
    passkey: z
      .strictObject({ challengeId: passkeyChallengeId, credential: AssertionCredential })
      .optional()
      .meta({ description: 'A passkey instead of `code`, for the options of `passkeyOptions`.' }),
  },
  output: z
    .object({ accessToken, expiresIn, mfaVerified: z.literal(true).describe('Always true.') })
    .meta({ id: 'MfaVerification', description: 'The session after its second factor.' }),
  limit: { class: 'auth', key: secondFactor.codeBucket },
  prepare: async (ctx) => {
    const { input, services, tx } = ctx;
    assertOneFactor(input);
    const check = input.passkey && (await checkAssertion(tx, services, input.passkey, forSignIn));
    const methods = check ? (['pop', 'mfa'] as const) : ([input.code === undefined ? 'rc' : 'otp'] as const);
    return { check, methods, ...(await secondFactor.prepareRaise(tx, services, callerOf(ctx), ...methods)) };
  },
  run: async (ctx) => {
    const { tx, input, prepared, services, call } = ctx;
    const user = await lockCaller(ctx, callerOf(ctx));
    const { check, formerAmr } = prepared;
    const given = check ? { passkey: { check, after: formerAmr } } : { ...input, passkey: undefined };
    if (!(await verifySecondFactor(ctx, user.id, given))) return secondFactor.refuseCode(ctx, user);
    await secondFactor.raiseSession(ctx, user, callerOf(ctx), prepared);
    await rememberNetwork(tx, services, user.id, call.network);
    ctx.record({
      target: secondFactor.userTarget(user),
      node: await nodeOfUser(tx, user.id),
      metadata: { method: prepared.methods[0] },
    });
    const mfaVerified = true as const;
    return { accessToken: prepared.accessToken, expiresIn: accessTokenSeconds(services), mfaVerified };
  },
});

export const regenerateMfaRecoveryCodes = mutation({
  rest: 'POST /me/mfa/recovery-codes',
  whileImpersonating: 'refused',
  summary: 'Create new recovery codes; the old ones stop working',
  access: 'session',
  permissionChange: 'none',
  stepUp: true,
  input: {},
  output: z
    .object({
      recoveryCodes: z.array(z.string()).meta({ description: 'Ten codes, shown only in this answer.' }),
    })
    .meta({ id: 'RecoveryCodes', description: 'Codes that each replace a code of the app once.' }),
  codes: ['INVALID_STATE'],
  run: async (ctx) => {
    const { tx } = ctx;
    const user = await lockForChange(ctx, callerOf(ctx));
    if (!(await hasAnyFactor(tx, user.id))) throw fail('INVALID_STATE', { params: { state: 'notEnrolled' } });
    ctx.record({ target: secondFactor.userTarget(user), node: await nodeOfUser(tx, user.id) });
    return { recoveryCodes: await replaceRecoveryCodes(ctx, user.id) };
  },
});
