import { sql } from 'drizzle-orm';
import { isDomainOf, isEnforced } from '../../access/credentials/company-address.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * The name of one of the user's organizations that requires its provider for addresses in this domain; undefined if
 * none does.
 */
export async function organizationRequiringProvider(
  db: Executor,
  userId: string,
  domain: string,
): Promise<string | undefined> {
  const [row] = await rowsOf<{ name: string }>(
    db,
    sql`select o.name from organization_members m
      join organizations o on o.id = m.tenant_id
      join organization_connections c on c.tenant_id = m.tenant_id and ${isEnforced}
      join organization_domains d on ${isDomainOf('c')}
      where m.user_id = ${userId}::uuid and d.domain = ${domain} limit 1`,
  );
  return row?.name;
}
