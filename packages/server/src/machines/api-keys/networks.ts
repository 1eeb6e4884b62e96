import { eq } from 'drizzle-orm';
import { liesWithin } from '../../kernel/input/cidrs.ts';
import { fail } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { apiKeys } from '../../schema/machines/api-key.ts';

/*
 * A caller restricted to networks must not obtain credentials that work elsewhere: a key that it creates or rotates
 * works at most from its own networks.
 */

/** Returns the allowed networks of the calling key; `[]` means any. */
async function cidrsOfCaller(tx: Executor, { type, credentialId }: Principal): Promise<readonly string[]> {
  if (type !== 'ApiKey') return [];
  const [own] = await tx
    .select({ allowedCidrs: apiKeys.allowedCidrs })
    .from(apiKeys)
    .where(eq(apiKeys.id, credentialId));
  return own?.allowedCidrs ?? [];
}

/**
 * Returns the networks of a new key, by default those of the calling key.
 * @throws PRIVILEGE_ESCALATION for networks beyond those of the calling key
 */
export async function networksForNewKey(
  tx: Executor,
  principal: Principal,
  requested: readonly string[] | undefined,
): Promise<string[]> {
  const callerCidrs = await cidrsOfCaller(tx, principal);
  const cidrs = [...new Set(requested ?? callerCidrs)];
  if (callerCidrs.length === 0) return cidrs;
  const outside = cidrs.flatMap((cidr, index) =>
    liesWithin(cidr, callerCidrs) ? [] : [`allowedCidrs.${index}`],
  );
  const refused = cidrs.length === 0 ? ['allowedCidrs'] : outside;
  if (refused.length === 0) return cidrs;
  throw fail('PRIVILEGE_ESCALATION', {
    details: refused.map((path) => ({ path, code: 'not_allowed' as const })),
    fix: 'Name networks within those of the calling key, or leave allowedCidrs out.',
  });
}

/** Returns the networks of a rotated key: its current ones if they lie within the caller's, otherwise the caller's. */
export async function networksAfterRotation(
  tx: Executor,
  principal: Principal,
  currentCidrs: readonly string[],
): Promise<readonly string[]> {
  const callerCidrs = await cidrsOfCaller(tx, principal);
  if (callerCidrs.length === 0) return currentCidrs;
  return currentCidrs.length > 0 && currentCidrs.every((cidr) => liesWithin(cidr, callerCidrs))
    ? currentCidrs
    : callerCidrs;
}
