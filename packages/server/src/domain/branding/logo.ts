import { and, eq, isNull, or, sql, type SQL } from 'drizzle-orm';
import { pgTable, text as textColumn, unique, uuid as uuidColumn } from 'drizzle-orm/pg-core';
import { newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { bytea, time } from '../../db/query/columns.ts';
import { isAnyOf } from '../../db/query/rows.ts';
import { nodes } from '../../db/tenancy/nodes.ts';
import { organizations } from '../../features/organizations/organization.ts';
import { projectApps } from '../../features/project-apps/project-app.ts';
import type { Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { DetectedImage } from '../pictures/image.ts';

/** Uploaded logos of apps and organizations; `id` is that of the app or organization, `tenantId` its node. */
export const logos = pgTable(
  'logos',
  {
    id: uuidColumn('id').primaryKey(),
    tenantId: uuidColumn('tenant_id')
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    /** Cannot be guessed, and anyone who knows it may see the logo. */
    name: textColumn('name').notNull(),
    mediaType: textColumn('media_type').notNull(),
    bytes: bytea('bytes').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [unique('logos_name').on(table.name)],
);

const folder = (appUrl: string): string => `${appUrl}/api/pictures/`;

/** Whether this service serves the picture, so that no other site learns of its readers. */
export const isOwnPicture = (appUrl: string, address: string | null): address is string =>
  address !== null &&
  address.startsWith(folder(appUrl)) &&
  fileName.test(address.slice(folder(appUrl).length));

/** Without any other path or query, by which the address would lead elsewhere. */
const fileName = /^[\w-]{43}\.[a-z]{3,4}$/;

/** Stores the logo in place of the earlier one, whose address stops working. Returns the new address. */
export async function storeLogo(
  { tx, services }: { readonly tx: Executor; readonly services: Services },
  owner: { readonly id: string; readonly tenantId: string },
  image: DetectedImage | null,
): Promise<string | null> {
  if (image === null) {
    await removeLogos(tx, [owner.id]);
    return null;
  }
  const name = `${newOneTimeToken()}.${image.extension}`;
  const { mediaType, bytes } = image;
  const set = { name, mediaType, bytes, createdAt: services.clock.now() };
  await tx
    .insert(logos)
    .values({ ...owner, ...set })
    .onConflictDoUpdate({ target: logos.id, set });
  return folder(services.config.appUrl) + name;
}

/** Of these apps or organizations. */
export const removeLogos = (tx: Executor, ids: readonly string[]): Promise<unknown> =>
  tx.delete(logos).where(isAnyOf(logos.id, ids));

/** Whatever changed the address or deleted the row, also a policy document: the logo is not served any more. */
const ofLive = (table: typeof projectApps | typeof organizations): SQL =>
  sql`exists (select 1 from ${table} t where t.id = ${logos.id} and t.deleted_at is null
    and right(t.logo_url, length(${logos.name})) = ${logos.name})`;

/** The logo with this name, while its app or organization refers to it and is not deleted. */
export async function readLogo(db: Executor, name: string) {
  const [stored] = await db
    .select({ mediaType: logos.mediaType, bytes: logos.bytes })
    .from(logos)
    .innerJoin(nodes, and(eq(nodes.id, logos.tenantId), isNull(nodes.deletedAt)))
    .where(and(eq(logos.name, name), or(ofLive(projectApps), ofLive(organizations))));
  return stored;
}
