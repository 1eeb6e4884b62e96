import { DoorwardError } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import { refuse, Refusal } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { endLockout } from '../../people/lockout.ts';
import { pageOf } from '../admission/answer-app.ts';
import { findAddressOwner } from '../../people/address.ts';
import { loadPasswordOwner, replacePassword } from '../passwords/new-password.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import type { UserRow } from '../../schema/people/user.ts';
import { userAsActor } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { advanceFlow } from '../flow/flow.ts';
import type { SignInStep } from '../flow/flow-data.ts';
import { isCodeOf, isLive, typedCode } from '../flow/mailed-code.ts';
import { appOf, assertOwnPage, commonPart, flowAt } from '../steps/steps.ts';
import { allowsSignUp, storeForm } from '../mailed-codes/request-code.ts';
import { problemsOf, weaknessOf } from './sign-up.ts';
import { takeCode } from '../mailed-codes/take-code.ts';

/* Replaces a forgotten password on the pages of a sign-in to an app. The mailed code proves the address. */

interface Reset {
  readonly code: string;
  readonly newPassword: string;
  readonly form_token?: string | undefined;
}

interface NewPassword {
  readonly userId: string;
  readonly hash: string;
}

/** Null if the code is wrong, or its address has no user who may sign in. */
type PreparedReset = NewPassword | DoorwardError | null;

/**
 * Checks the code, then the password, then hashes it, outside the transaction. So a caller who does not know the code
 * costs no hash and learns nothing about the user.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function preparePasswordReset(
  db: Executor,
  services: Services,
  call: Call,
  { code, newPassword, form_token }: Reset,
): Promise<PreparedReset> {
  assertOwnPage(call);
  const { mail } = (await flowAt(db, services, call, 'signIn', form_token)).step;
  const typed = typedCode(code);
  if (mail?.purpose.name !== 'reset' || typed === null) return null;
  if (!isLive(mail, services.clock) || !isCodeOf(mail, typed)) return null;
  const user = await userToReset(db, mail.address);
  if (!user) return null;
  const problem = await weaknessOf(services, newPassword, await loadPasswordOwner(db, user), 'newPassword');
  return problem ?? { userId: user.id, hash: await services.passwords.hash(newPassword) };
}

async function userToReset(db: Executor, address: string): Promise<UserRow | undefined> {
  const owner = await findAddressOwner(db, address);
  return owner && canSignIn(owner) ? owner : undefined;
}

/**
 * Replaces the password, which ends all sessions and the lockout of the user (identity §5), and shows the sign-in form.
 * A weak password does not use up the code.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function resetByCode(
  ctx: Run,
  prepared: PreparedReset,
  { code, form_token }: Reset,
): Promise<string | Refusal> {
  const { tx, services } = ctx;
  const taken = await takeCode(ctx, { code, form_token }, ['reset']);
  if (taken instanceof Refusal) return taken;
  const { flow, mail } = taken;
  if (prepared instanceof DoorwardError) {
    ctx.unchanged();
    const { form, entered, mailedTo } = flow.step;
    const shown = { ...(form && { form }), ...(entered && { entered }), ...(mailedTo && { mailedTo }) };
    await storeForm(ctx, flow, { ...shown, problems: problemsOf(prepared) });
    return refuse(prepared);
  }
  const user = await userToReset(tx, mail.address);
  const isSame = user !== undefined && user.id === prepared?.userId;
  const locked = isSame ? await lockUser(ctx, user.id) : undefined;
  if (locked && prepared) {
    await endLockout(tx, locked.id);
    const by = { actor: userAsActor(locked), proved: mail.address };
    await replacePassword(ctx, locked, prepared.hash, by);
  } else ctx.unchanged();
  const { address } = mail;
  const isNew = !locked && allowsSignUp(await appOf(tx, flow.asked));
  const step: SignInStep = locked
    ? { name: 'signIn', form: 'signIn', address, notice: 'passwordChanged' }
    : { name: 'signIn', form: isNew ? 'signUp' : 'signIn', entered: { email: address }, notice: 'noAccount' };
  await advanceFlow(ctx, 'project', flow.handle, { ...commonPart(flow), step });
  return pageOf(services.config, 'signIn');
}
