import { and, count, eq, isNull } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../services.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { accounts } from '../../schema/people/account.ts';
import { lockUser } from '../../people/lock-user.ts';
import { organizations } from '../../schema/tenants/organization.ts';

interface Founding {
  readonly tx: Executor;
  readonly scope: ResolvedScope;
  readonly services: Services;
}

/**
 * The owner of the account, locked like any new member. If a key creates an organization, the owner of the account
 * becomes its owner, because a machine never owns one.
 * @throws INVALID_STATE when they have no verified address or are disabled
 */
export async function lockAccountOwner(ctx: Founding): Promise<string> {
  const { tx, scope } = ctx;
  const [account] = await tx
    .select({ ownerId: accounts.ownerId })
    .from(accounts)
    .where(and(eq(accounts.id, scope.nodeId), isNull(accounts.deletedAt)));
  const owner = account && (await lockUser(ctx, account.ownerId, 'share'));
  if (owner?.emailVerified && owner.status === 'active') return owner.id;
  throw fail('INVALID_STATE', {
    params: { state: 'unverified' },
    fix: 'The owner of the account becomes the owner of the organization: they verify their address first.',
  });
}

/**
 * Call it after the insert. It counts under the lock of the account's node, so concurrent creations cannot exceed the
 * limit together.
 * @throws CONFLICT
 */
export async function assertOrganizationLimit({ tx, scope, services }: Founding): Promise<void> {
  const { maxPerAccount } = services.config.organizations;
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, scope.nodeId)).for('no key update');
  const [total] = await tx
    .select({ count: count() })
    .from(organizations)
    .where(and(eq(organizations.accountId, scope.nodeId), isNull(organizations.deletedAt)));
  if ((total?.count ?? 0) <= maxPerAccount) return;
  throw fail('CONFLICT', {
    details: [{ path: 'scope', code: 'limit' }],
    fix: `An account has at most ${maxPerAccount} organizations (ORGANIZATIONS_MAX_PER_ACCOUNT).`,
  });
}
