import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { base32, newTotpSecret, otpauthUrl } from '../../crypto/totp.ts';
import { fail } from '../../errors.ts';
import { callerOf } from '../../kernel/context.ts';
import { mutation, query } from '../../kernel/operation.ts';
import { text, uuid } from '../../values.ts';
import { accessTokenSeconds, userData, type Run, type UserRow } from '../identity/sign-in.ts';
import { nodeOfUser } from '../identity/user-node.ts';
import { rememberNetwork } from '../me/failed-attempts.ts';
import { isEnrolled, MfaFactor, mfaFactors } from './mfa-factor.ts';
import {
  accepted,
  factorsOf,
  givesFactor,
  sealedFor,
  useCode,
  type FactorRow,
} from '../second-factor/codes.ts';
import {
  recoveryCodesLeft,
  removeRecoveryCodes,
  replaceRecoveryCodes,
} from '../second-factor/recovery-codes.ts';
import * as factor from './second-factor.ts';

/** The second factor (identity §7): codes of an authenticator app, and recovery codes for whoever lost it. */

const MAX_FACTORS = 5;

const code = z
  .string()
  .max(32)
  .regex(/^ *(?:[0-9] *){6}$/)
  .meta({
    description: 'Six digits that the authenticator app shows now; spaces are ignored.',
    examples: ['123456'],
  });

const accessToken = z.string().meta({ description: 'The next access token of this session, now at `aal2`.' });
const expiresIn = z.int().meta({ description: 'Seconds until the access token ends.' });

export const myMfa = query({
  rest: 'GET /me/mfa',
  summary: 'Second factors of the signed-in user',
  access: 'session',
  beforeMfa: true,
  input: {},
  output: z
    .object({
      enabled: z.boolean().describe('Whether a second factor is needed to sign in.'),
      verified: z.boolean().meta({ description: 'Whether this session gave a code.' }),
      factors: z.array(MfaFactor).describe('The authenticator apps.'),
      recoveryCodesLeft: z.int().describe('How many recovery codes are unused.'),
    })
    .meta({ id: 'MfaStatus', description: 'Second factors of a user, and what this session did with them.' }),
  run: async (ctx) => {
    const { userId, acr } = callerOf(ctx);
    const factors = await factorsOf(ctx.tx, userId);
    return {
      enabled: factors.some(({ isEnabled }) => isEnabled),
      verified: acr === 'aal2',
      factors,
      recoveryCodesLeft: await recoveryCodesLeft(ctx.tx, userId),
    };
  },
});

const once = { description: 'Shown this once; null in an idempotent replay.' };

export const createMfaFactor = mutation({
  rest: 'POST /me/mfa/factors',
  summary: 'Begin to add an authenticator app; its first correct code enables it',
  access: 'session',
  keepsRights: true,
  stepUp: true,
  input: {
    name: text(1, 100)
      .default('Authenticator')
      .meta({ description: 'What you call it.', examples: ['Phone'] }),
  },
  output: z
    .object({
      factor: MfaFactor,
      secret: z.string().nullable().meta(once),
      otpauthUrl: z.string().nullable().meta(once),
    })
    .meta({ id: 'CreatedMfaFactor', description: 'A factor that waits for its first code, and its secret.' }),
  status: 201,
  // The address has the secret in it.
  secrets: ['secret', 'otpauthUrl'],
  codes: ['CONFLICT'],
  run: async (ctx) => {
    const { tx, input, services } = ctx;
    const { kek, ids, clock, config } = services;
    const user = await factor.lockForChange(ctx, callerOf(ctx));
    const own = await factorsOf(tx, user.id);
    if (own.length >= MAX_FACTORS) {
      throw fail('CONFLICT', { fix: `A user has ${MAX_FACTORS} factors at most: remove one first.` });
    }
    const [id, secret] = [ids.next(), newTotpSecret()];
    const sealedSecret = kek.seal(secret, sealedFor(id));
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

/** The change, told to the user's own account; never a secret or a code. */
async function recordChange(ctx: Run, user: UserRow, act: string, factorId: string): Promise<void> {
  ctx.touch(`user:${user.id}`);
  ctx.record({
    event: 'user.mfa_changed',
    data: userData(user),
    target: factor.targetOf(user),
    node: await nodeOfUser(ctx.tx, user.id),
    metadata: { act, factorId },
  });
}

const ownFactor = (own: readonly FactorRow[], id: string): FactorRow => {
  const found = own.find((one) => one.id === id);
  if (!found) throw fail('NOT_FOUND');
  return found;
};

export const verifyMfaFactor = mutation({
  rest: 'POST /me/mfa/factors/:id/verify',
  summary: 'Enable a new authenticator app with its first code',
  description: 'The first factor comes with recovery codes, which are shown this once.',
  access: 'session',
  keepsRights: true,
  stepUp: true,
  input: { id: uuid, code },
  output: z
    .object({
      factor: MfaFactor,
      recoveryCodes: z
        .array(z.string())
        .nullable()
        .describe('With the first factor: codes for when it is lost, shown this once.'),
      accessToken,
      expiresIn,
    })
    .meta({ id: 'VerifiedMfaFactor', description: 'An enabled factor, and the session that enabled it.' }),
  emits: 'user.mfa_changed',
  codes: ['INVALID_STATE'],
  limit: { class: 'auth', key: factor.perUser },
  prepare: (ctx) => factor.prepareRaise(ctx.tx, ctx.services, callerOf(ctx), 'otp'),
  run: async (ctx) => {
    const { tx, input, prepared, services } = ctx;
    const user = await factor.lockForChange(ctx, callerOf(ctx));
    const own = await factorsOf(tx, user.id);
    const waiting = ownFactor(own, input.id);
    if (waiting.isEnabled) throw fail('INVALID_STATE', { params: { state: 'enabled' } });
    const fits = async () => (await useCode(ctx, [waiting], input.code)) !== undefined;
    if (!(await accepted(ctx, user.id, fits))) return factor.refuseCode(ctx, user);
    const [enabled] = await tx
      .update(mfaFactors)
      .set({ isEnabled: true })
      .where(eq(mfaFactors.id, waiting.id))
      .returning();
    const isFirst = !own.some(({ isEnabled }) => isEnabled);
    const recoveryCodes = isFirst ? await replaceRecoveryCodes(ctx, user.id) : null;
    await factor.raise(ctx, user, callerOf(ctx), prepared);
    await recordChange(ctx, user, 'factorEnabled', waiting.id);
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
  summary: 'Remove an authenticator app; with the last one the recovery codes go',
  access: 'session',
  keepsRights: true,
  stepUp: true,
  input: { id: uuid },
  output: MfaFactor,
  emits: 'user.mfa_changed',
  run: async (ctx) => {
    const { tx, input } = ctx;
    const user = await factor.lockForChange(ctx, callerOf(ctx));
    const removed = ownFactor(await factorsOf(tx, user.id), input.id);
    await tx.delete(mfaFactors).where(eq(mfaFactors.id, removed.id));
    if (!(await isEnrolled(tx, user.id))) await removeRecoveryCodes(tx, user.id);
    await recordChange(ctx, user, 'factorRemoved', removed.id);
    return removed;
  },
});

export const verifyMfa = mutation({
  rest: 'POST /me/mfa/verify',
  summary: 'Give the second factor: a code of the app, or a recovery code',
  description: 'Raises this session to `aal2`. It also counts as a recent sign-in.',
  access: 'session',
  keepsRights: true,
  beforeMfa: true,
  input: {
    code: code.optional(),
    recoveryCode: z
      .string()
      .min(1)
      .max(32)
      .optional()
      .meta({ description: 'In place of `code`. Works once.' }),
  },
  output: z
    .object({ accessToken, expiresIn, mfaVerified: z.literal(true).describe('Always true.') })
    .meta({ id: 'MfaVerification', description: 'The session after its second factor.' }),
  limit: { class: 'auth', key: factor.perUser },
  prepare: async (ctx) => {
    const { input, services, tx } = ctx;
    if ((input.code === undefined) === (input.recoveryCode === undefined)) {
      const details = [
        input.code === undefined
          ? ({ path: 'code', code: 'required' } as const)
          : ({ path: 'recoveryCode', code: 'excluded' } as const),
      ];
      throw fail('VALIDATION_ERROR', { details });
    }
    const method = input.code === undefined ? 'rc' : 'otp';
    return { method, ...(await factor.prepareRaise(tx, services, callerOf(ctx), method)) };
  },
  run: async (ctx) => {
    const { tx, input, prepared, services, call } = ctx;
    const user = await factor.lockCaller(ctx, callerOf(ctx));
    if (!(await givesFactor(ctx, user.id, input))) return factor.refuseCode(ctx, user);
    await factor.raise(ctx, user, callerOf(ctx), prepared);
    await rememberNetwork(tx, services, user.id, call.network);
    ctx.record({
      target: factor.targetOf(user),
      node: await nodeOfUser(tx, user.id),
      metadata: { method: prepared.method },
    });
    const mfaVerified = true as const;
    return { accessToken: prepared.accessToken, expiresIn: accessTokenSeconds(services), mfaVerified };
  },
});

export const regenerateMfaRecoveryCodes = mutation({
  rest: 'POST /me/mfa/recovery-codes',
  summary: 'New recovery codes; the old ones stop working',
  access: 'session',
  keepsRights: true,
  stepUp: true,
  input: {},
  output: z
    .object({ recoveryCodes: z.array(z.string()).meta({ description: 'Ten; shown this once.' }) })
    .meta({ id: 'RecoveryCodes', description: 'Codes that each stand in for the app once.' }),
  codes: ['INVALID_STATE'],
  run: async (ctx) => {
    const { tx } = ctx;
    const user = await factor.lockForChange(ctx, callerOf(ctx));
    if (!(await isEnrolled(tx, user.id))) throw fail('INVALID_STATE', { params: { state: 'notEnrolled' } });
    ctx.record({ target: factor.targetOf(user), node: await nodeOfUser(tx, user.id) });
    return { recoveryCodes: await replaceRecoveryCodes(ctx, user.id) };
  },
});
