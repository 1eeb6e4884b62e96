import { ORGANIZATION_ADMIN, ORGANIZATION_OWNER } from '../../schema/rights/built-in-ids.ts';
import { hasSignedInRecently } from '../../access/guard.ts';
import { fail } from '../../errors.ts';
import { callerOf, type Principal } from '../../kernel/context.ts';
import type { Services } from '../../services.ts';
import type { CallerRights } from '../../kernel/call/caller-rights.ts';

interface Setter {
  readonly principal: Principal | null;
  readonly rights: CallerRights;
  readonly services: Pick<Services, 'clock' | 'config'>;
}

export const skipConsentFix =
  'Ask an owner or administrator of the organization, or the owner of the account, to set firstParty.';

/**
 * Returns why the caller may not let an app skip consent (openid §6); null if they may. Only a person who speaks for
 * the owner of the project may decide that: an owner or administrator of the organization, or the owner of the account.
 * The right to update apps is not enough.
 */
export function skipConsentRefusal(
  ctx: Setter,
): 'SESSION_REQUIRED' | 'FORBIDDEN' | 'STEP_UP_REQUIRED' | null {
  const caller = callerOf(ctx);
  if (caller.type !== 'session') return 'SESSION_REQUIRED';
  const { ownsAccount, memberRoleId } = ctx.rights.subject;
  if (!ownsAccount && memberRoleId !== ORGANIZATION_OWNER && memberRoleId !== ORGANIZATION_ADMIN)
    return 'FORBIDDEN';
  const { clock, config } = ctx.services;
  return hasSignedInRecently(caller, config.auth.stepUpMaxAgeMinutes, clock.now())
    ? null
    : 'STEP_UP_REQUIRED';
}

/** Asserts that the caller may let an app skip consent. @throws SESSION_REQUIRED, FORBIDDEN, STEP_UP_REQUIRED */
export function assertMaySkipConsent(ctx: Setter): void {
  const code = skipConsentRefusal(ctx);
  if (code !== null) throw fail(code, code === 'FORBIDDEN' ? { fix: skipConsentFix } : {});
}
