import { sql } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { rowsOf } from '../statements/rows.ts';
import { withoutRls } from './rls.ts';

/**
 * Derives a slug from a name: `Acme GmbH` becomes `acme-gmbh`, followed by the lowest free number if a live row already
 * has it. The unique index decides races for the same slug.
 */
export async function freeSlug(
  tx: Executor,
  table: 'organizations' | 'projects',
  name: string,
  ownerId: string | null,
): Promise<string> {
  const base =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 55)
      .replace(/-+$/, '') || table.slice(0, -1);
  const owner = ownerId === null ? sql`true` : sql`owner_id = ${ownerId}::uuid`;
  // Organization slugs are unique in the whole installation.
  const rows = await withoutRls(tx, () =>
    rowsOf<{ slug: string }>(
      tx,
      sql`
      select slug from ${sql.identifier(table)}
      where deleted_at is null and ${owner} and (slug = ${base} or slug like ${`${base}-%`})`,
    ),
  );
  const taken = new Set(rows.map(({ slug }) => slug));
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(slug)) return slug;
  }
}
