import { eq, sql } from 'drizzle-orm';
import { rowsOf } from '../../db/statements/rows.ts';
import { nodes } from '../../schema/nodes.ts';
import { fail } from '../../errors.ts';
import type { Executor, ScopedDb } from '../../kernel/scoped-db.ts';

/**
 * Asserts that no connection uses the domain, so that a caller who may delete domains, but not change connections,
 * cannot disable a connection.
 * @throws IN_USE
 */
export async function assertUnused(
  tx: Executor,
  { nodeId }: ScopedDb['scope'],
  domainId: string,
): Promise<void> {
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, nodeId)).for('no key update');
  const [user] = await rowsOf<{ name: string }>(
    tx,
    sql`select name from organization_connections
        where tenant_id = ${nodeId}::uuid and deleted_at is null and ${domainId}::uuid = any(domain_ids)`,
  );
  if (!user) return;
  throw fail('IN_USE', {
    details: [{ path: 'id', code: 'in_use' }],
    fix: `Take the domain out of the connection "${user.name}" first.`,
  });
}
