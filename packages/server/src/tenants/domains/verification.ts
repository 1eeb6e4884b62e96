import { and, count, eq, isNull } from 'drizzle-orm';
import { nodes } from '../../schema/nodes.ts';
import { takenField } from '../../db/statements/pg-error.ts';
import type { RecordState } from './look-up.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../services.ts';
import type { RowOf } from '../../kernel/entity.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';
import { OrganizationDomain, organizationDomains } from '../../schema/tenants/organization-domain.ts';
import { RECHECK_MS } from './recheck.ts';

interface DomainRun {
  readonly tx: Executor;
  readonly db: ScopedDb;
  readonly services: Pick<Services, 'clock'>;
}

const MAX_DOMAINS = 20;

/**
 * Call it after the insert. It counts under the lock of the tenant node, so that concurrent creations cannot exceed the
 * limit together. @throws CONFLICT
 */
export async function assertWithinLimit({ tx, db }: Pick<DomainRun, 'tx' | 'db'>): Promise<void> {
  const { nodeId } = db.scope;
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, nodeId)).for('no key update');
  const [total] = await tx
    .select({ count: count() })
    .from(organizationDomains)
    .where(and(eq(organizationDomains.tenantId, nodeId), isNull(organizationDomains.deletedAt)));
  if ((total?.count ?? 0) <= MAX_DOMAINS) return;
  throw fail('CONFLICT', {
    details: [{ path: 'scope', code: 'limit' }],
    fix: `An organization has at most ${MAX_DOMAINS} domains: delete one that is not needed.`,
  });
}

/**
 * Marks the domain as verified if the name servers returned its record. They were queried before the transaction.
 * @returns the domain, and whether this call verified it
 * @throws NOT_FOUND, INVALID_STATE without the record, CONFLICT if another organization has verified the domain
 */
export async function verify(
  { db, services }: DomainRun,
  { id, status, record, verifiedAt }: RowOf<typeof OrganizationDomain>,
  state: RecordState,
): Promise<{ readonly row: RowOf<typeof OrganizationDomain>; readonly isNew: boolean }> {
  if (state !== 'present')
    throw fail('INVALID_STATE', { params: { state: status }, fix: fixOf(state, record) });
  const now = services.clock.now();
  const { row, changes } = await db
    .update(OrganizationDomain, id, {
      status: 'verified',
      verifiedAt: verifiedAt ?? now,
      checkedAt: now,
      missingSince: null,
      nextCheckAt: new Date(now.getTime() + RECHECK_MS),
    })
    .catch(heldByAnother);
  // `changes` are relative to the locked row, so of two calls at the same time only one counts as the verification.
  return { row, isNew: 'status' in changes };
}

const fixOf = (
  state: Exclude<RecordState, 'present'>,
  { name, value }: RowOf<typeof OrganizationDomain>['record'],
): string =>
  state === 'absent'
    ? `Publish a TXT record with the name ${name} and the text ${value}. A new record may take an hour to be seen everywhere.`
    : `The name servers of ${name} did not answer: check them, and try again.`;

/**
 * Translates a violation of the unique index, which decides which of two concurrently verifying organizations gets the
 * domain.
 */
function heldByAnother(error: unknown): never {
  if (takenField(error) !== 'verified') throw error;
  throw fail('CONFLICT', {
    details: [{ path: 'id', code: 'taken' }],
    fix: 'Another organization has verified this domain. It keeps the domain until its record has been gone for three days.',
    cause: error,
  });
}
