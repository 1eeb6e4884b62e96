import { ORGANIZATION_ADMIN, ORGANIZATION_OWNER } from '../../access/built-in.ts';
import { assertRecentSignIn } from '../../access/guard.ts';
import { fail } from '../../errors.ts';
import { callerOf, type Context } from '../../kernel/context.ts';

/**
 * Asserts that the caller may decide that users are not asked for consent (openid §6): who speaks for the owner of the
 * project, in person. The right to change its apps is not enough.
 * @throws SESSION_REQUIRED, FORBIDDEN, STEP_UP_REQUIRED
 */
export function assertMaySkipConsent(
  ctx: Pick<Context<{ scope: never }>, 'principal' | 'rights' | 'services'>,
): void {
  const caller = callerOf(ctx);
  if (caller.type !== 'session') throw fail('SESSION_REQUIRED');
  const { ownsAccount, memberRoleId } = ctx.rights.subject;
  if (!ownsAccount && memberRoleId !== ORGANIZATION_OWNER && memberRoleId !== ORGANIZATION_ADMIN) {
    throw fail('FORBIDDEN', {
      fix: 'Ask an owner or administrator of the organization, or the owner of the account, to set firstParty.',
    });
  }
  const { clock, config } = ctx.services;
  assertRecentSignIn(caller, config.auth.stepUpMaxAgeMinutes, clock.now());
}
