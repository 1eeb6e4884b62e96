import { eq } from 'drizzle-orm';
import { liesWithin } from '../../access/cidrs.ts';
import { fail } from '../../errors.ts';
import type { Principal } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { apiKeys } from './api-key.ts';

/**
 * The networks of the calling key; `[]` = any. A key with allowed networks must not get a key that works from
 * everywhere: a key that it makes, or whose secret it gets, works from its own networks at most.
 */
async function networksOf(tx: Executor, { type, credentialId }: Principal): Promise<readonly string[]> {
  if (type !== 'ApiKey') return [];
  const [own] = await tx
    .select({ allowedCidrs: apiKeys.allowedCidrs })
    .from(apiKeys)
    .where(eq(apiKeys.id, credentialId));
  return own?.allowedCidrs ?? [];
}

/** The networks without duplicates; by default those of the calling key. @throws PRIVILEGE_ESCALATION for any other */
export async function networksForNewKey(
  tx: Executor,
  principal: Principal,
  asked: readonly string[] | undefined,
): Promise<string[]> {
  const own = await networksOf(tx, principal);
  const wanted = [...new Set(asked ?? own)];
  if (own.length === 0) return wanted;
  const beyond = wanted.flatMap((cidr, at) => (liesWithin(cidr, own) ? [] : [`allowedCidrs.${at}`]));
  const refused = wanted.length === 0 ? ['allowedCidrs'] : beyond;
  if (refused.length === 0) return wanted;
  throw fail('PRIVILEGE_ESCALATION', {
    details: refused.map((path) => ({ path, code: 'not_allowed' as const })),
    fix: 'Name networks within those of the calling key, or leave allowedCidrs out.',
  });
}

/**
 * The networks of a key whose secret the caller gets: its own if they lie within the caller's, otherwise the caller's.
 */
export async function networksAfterRotation(
  tx: Executor,
  principal: Principal,
  before: readonly string[],
): Promise<readonly string[]> {
  const own = await networksOf(tx, principal);
  if (own.length === 0) return before;
  return before.length > 0 && before.every((cidr) => liesWithin(cidr, own)) ? before : own;
}
