import { and, eq, isNull } from 'drizzle-orm';
import { fail } from '../errors.ts';
import { organizations } from '../schema/tenants/organization.ts';
import { recordAct, type ActRun } from './record-act.ts';

const suspension = { act: 'organizationSuspended', event: 'organization.suspended' } as const;
const reactivation = { act: 'organizationReactivated', event: 'organization.reactivated' } as const;

interface Input {
  /** The id of the organization. */
  readonly id: string;
  readonly reason: string;
}

/**
 * Suspends an organization, or ends its suspension if `suspendedAt` is null. Invalidates what is cached about the
 * organization and everything below it.
 * @throws NOT_FOUND if it was deleted in the meantime, INVALID_STATE if it is in that state already
 */
export async function setSuspended(
  ctx: ActRun,
  { id, reason }: Input,
  suspendedAt: Date | null,
): Promise<void> {
  const { tx, services } = ctx;
  const [organization] = await tx
    .select()
    .from(organizations)
    .where(and(eq(organizations.id, id), isNull(organizations.deletedAt)))
    .for('update');
  if (!organization) throw fail('NOT_FOUND');
  const isSuspended = organization.suspendedAt !== null;
  if (isSuspended === (suspendedAt !== null))
    throw fail('INVALID_STATE', { params: { state: isSuspended ? 'suspended' : 'active' } });
  const change = { suspendedAt, updatedAt: services.clock.now() };
  await tx.update(organizations).set(change).where(eq(organizations.id, id));
  ctx.invalidate(`node:${id}`);
  recordAct(ctx, {
    ...(suspendedAt ? suspension : reactivation),
    reason,
    target: { type: 'Organization', id },
    node: { id, scope: { tenant: 'organization', id } },
    data: { ...organization, ...change },
  });
}
