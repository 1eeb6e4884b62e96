import { fail } from '../../errors.ts';
import { refuse, type Refusal } from '../../kernel/output/reply.ts';
import { countFailure, isLockedOut } from '../../people/lockout.ts';
import { findAddressOwner } from '../../people/address.ts';
import type { Run } from '../../services.ts';
import { lockLinkedMethod } from '../federation/match-identity.ts';
import { nodeOfUser } from '../../people/user-node.ts';
import { lockClaimants } from '../../people/address-claims.ts';
import { delayToStep } from '../protection/constant-time-answer.ts';
import { lockFlow, startAgainError, updateFlow } from '../flow/flow.ts';
import type { CodePurpose, MailedCode, SignInStep } from '../flow/flow-data.ts';
import { isCodeOf, isLive, typedCode } from '../flow/mailed-code.ts';
import { assertOwnPage, commonPart, flowAt, type ProjectFlow } from '../steps/steps.ts';

/** A code that was entered in the browser that requested it. */
interface TypedCode {
  readonly code: string;
  readonly form_token?: string | undefined;
}

interface TakenCode {
  readonly flow: ProjectFlow & { readonly step: SignInStep };
  readonly mail: MailedCode;
}

/**
 * Returns the mail of this code. A wrong code counts for the mail, and as a wrong secret of the user with that address;
 * the response is the same if there is no such user. Locks account, address, users and flow, in this order, so that
 * concurrent guesses are counted one after the other.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function takeCode(
  ctx: Run,
  typed: TypedCode,
  purposes: readonly CodePurpose['name'][],
): Promise<TakenCode | Refusal> {
  const { tx, services, call } = ctx;
  delayToStep(ctx, performance.now());
  assertOwnPage(call);
  const seen = await flowAt(tx, services, call, 'signIn', typed.form_token);
  const { mail: expected } = seen.step;
  if (expected?.purpose.name === 'connection') await lockLinkedMethod(ctx, expected.purpose.identity);
  if (expected) await lockClaimants(ctx, expected.address);
  const flow = await lockFlow(tx, services, 'project', seen.handle);
  if (flow?.step.name !== 'signIn') throw startAgainError();
  const { step } = flow;
  const { mail } = step;
  const code = typedCode(typed.code);
  const isExpected = mail !== undefined && mail.address === expected?.address;
  if (!isExpected || !purposes.includes(mail.purpose.name) || !isLive(mail, services.clock)) {
    return refuseCode(ctx, { flow, step }, 'mailedCodeEnded');
  }
  // A text that cannot be a code is not a guess.
  if (code === null) return refuseCode(ctx, { flow, step }, 'wrongMailedCode');
  const owner = await findAddressOwner(tx, mail.address);
  const isLocked = owner !== undefined && (await isLockedOut(tx, services, owner.id, call.network));
  // A reset ends the lockout, so it must be possible during one.
  const isChecked = !isLocked || mail.purpose.name === 'reset';
  if (isChecked && isCodeOf(mail, code)) return { flow: { ...flow, step }, mail };
  const counted = { ...mail, wrongEntries: mail.wrongEntries + 1 };
  const notice = isLive(counted, services.clock) ? 'wrongMailedCode' : 'mailedCodeEnded';
  if (owner) {
    if (!isLocked) await countFailure(tx, services, owner.id, call.network);
    ctx.record({
      outcome: 'failed',
      code: 'UNAUTHENTICATED',
      target: { type: 'User', id: owner.id },
      node: await nodeOfUser(tx, owner.id),
    });
    return refuseCode(ctx, { flow, step: { ...step, mail: counted } }, notice, true);
  }
  return refuseCode(ctx, { flow, step: { ...step, mail: counted } }, notice);
}

async function refuseCode(
  ctx: Run,
  { flow, step }: { readonly flow: ProjectFlow; readonly step: SignInStep },
  notice: 'wrongMailedCode' | 'mailedCodeEnded',
  isRecorded = false,
): Promise<Refusal> {
  if (!isRecorded) ctx.unchanged();
  const { problems: _, ...rest } = step;
  const data = { ...commonPart(flow), step: { ...rest, notice } };
  await updateFlow(ctx, 'project', { handle: flow.handle, data });
  return refuse(
    fail('UNAUTHENTICATED', {
      fix: 'Enter the code of the newest mail; after five wrong ones or ten minutes, request a new mail.',
    }),
  );
}
