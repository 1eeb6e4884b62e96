import { advanceFlow, beginFlow, clearFlowCookie, consumeFlow } from '../flow/flow.ts';
import type { ProjectSignIn } from '../flow/flow-data.ts';
import type { Run } from '../../services.ts';

/** A sign-in to an app between two steps. Without a handle it has just begun, and nothing of it is stored yet. */
export interface SignInState extends Pick<ProjectSignIn, 'asked' | 'verifier'> {
  readonly handle: string | null;
}

/** Moves the sign-in to its next step, which has a page. */
export async function storeStep(
  ctx: Run,
  { handle, asked, verifier }: SignInState,
  step: ProjectSignIn['step'],
): Promise<void> {
  const data = { asked, verifier, step };
  if (handle === null) await beginFlow(ctx, 'project', data);
  else await advanceFlow(ctx, 'project', handle, data);
}

/** Ends the sign-in. @throws INVALID_TOKEN if another request has already ended it */
export async function endSignIn(ctx: Run, { handle }: SignInState): Promise<void> {
  if (handle === null) return;
  await consumeFlow(ctx.tx, ctx.services, ctx.call, 'project', handle);
  clearFlowCookie(ctx);
}
