import { and, eq } from 'drizzle-orm';
import { consumeChallenge } from '../webauthn/challenge.ts';
import { forRegistration, passkeysOf, type VerifiedRegistration } from '../webauthn/registration.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { callerOf, type Principal } from '../../kernel/context.ts';
import type { Run } from '../../services.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { hasAnyFactor } from '../second-factor/codes.ts';
import { removeRecoveryCodes, replaceRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { recordMethodChange } from '../protection/method-changes.ts';
import { fail } from '../../errors.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import { authenticationMethods } from '../../schema/sign-in/authentication-method.ts';
import { lockForChange } from '../second-factor/lock-for-change.ts';
import { MAX_PASSKEYS, passkeys } from '../../schema/sign-in/passkey.ts';

type OwnRun = Run & { readonly principal: Principal | null };
type PasskeyRow = typeof passkeys.$inferSelect;

/** Asserts that the user can have another passkey. @throws CONFLICT */
export function assertRoom(own: readonly PasskeyRow[]): void {
  if (own.length < MAX_PASSKEYS) return;
  throw fail('CONFLICT', { fix: `A user has at most ${MAX_PASSKEYS} passkeys: remove one first.` });
}

/**
 * Stores a verified passkey. Its challenge is used up even if the registration is refused.
 *
 * @throws MFA_REQUIRED, CONFLICT if the passkey already exists, or the user has ten passkeys
 */
export async function addPasskey(
  ctx: OwnRun,
  { challengeId, name }: { readonly challengeId: string; readonly name: string },
  verified: VerifiedRegistration | null,
): Promise<{ passkey: PasskeyRow; recoveryCodes: string[] | null } | Refusal> {
  const { tx, services } = ctx;
  const caller = callerOf(ctx);
  const user = await lockForChange(ctx, caller);
  const isFresh = await consumeChallenge(tx, services, challengeId, forRegistration(caller.credentialId));
  if (!isFresh || !verified) return refuseAnswer(ctx, user);
  assertRoom(await passkeysOf(tx, user.id));
  const isFirst = !(await hasAnyFactor(tx, user.id));
  const [passkey] = await tx
    .insert(passkeys)
    .values({
      id: services.ids.next(),
      userId: user.id,
      name,
      createdAt: services.clock.now(),
      ...verified,
    })
    .onConflictDoNothing({ target: passkeys.credentialId })
    .returning();
  if (!passkey) throw fail('CONFLICT', { details: [{ path: 'credential', code: 'taken' }] });
  await recordChange(ctx, user, 'added', passkey);
  return { passkey, recoveryCodes: isFirst ? await replaceRecoveryCodes(ctx, user.id) : null };
}

async function refuseAnswer(ctx: OwnRun, user: UserRow): Promise<Refusal> {
  const node = await nodeOfUser(ctx.tx, user.id);
  ctx.record({ outcome: 'failed', code: 'INVALID_TOKEN', target: { type: 'User', id: user.id }, node });
  return refuse(
    fail('INVALID_TOKEN', {
      fix: 'Ask for new options, and answer them once, within 5 minutes, in the same session, on a page of this service, with an authenticator that verifies its user.',
    }),
  );
}

/** @throws MFA_REQUIRED, NOT_FOUND */
export async function removePasskey(ctx: OwnRun, id: string): Promise<PasskeyRow> {
  const { tx } = ctx;
  const user = await lockForChange(ctx, callerOf(ctx));
  const [removed] = await tx
    .delete(passkeys)
    .where(and(eq(passkeys.id, id), eq(passkeys.userId, user.id)))
    .returning();
  if (!removed) throw fail('NOT_FOUND');
  if (!(await hasAnyFactor(tx, user.id))) await removeRecoveryCodes(tx, user.id);
  await recordChange(ctx, user, 'removed', removed);
  return removed;
}

async function recordChange(
  ctx: OwnRun,
  user: UserRow,
  change: 'added' | 'removed',
  { id, name }: PasskeyRow,
): Promise<void> {
  const before = await ctx.tx
    .select()
    .from(authenticationMethods)
    .where(eq(authenticationMethods.userId, user.id));
  const method = { id, provider: 'passkey', label: name } as const;
  await recordMethodChange(ctx, user, { change, method, before });
}
