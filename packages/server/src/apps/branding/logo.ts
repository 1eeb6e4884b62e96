import { and, eq, isNull, or, sql, type SQL } from 'drizzle-orm';
import { newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { isAnyOf } from '../../db/statements/rows.ts';
import { nodes } from '../../schema/nodes.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { projectApps } from '../../schema/apps/project-app.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { DetectedImage } from '../../images/image.ts';
import { logos } from '../../schema/tenants/logo.ts';

const folder = (appUrl: string): string => `${appUrl}/api/pictures/`;

/** Whether this service serves the picture. Then no other site learns who reads the page or mail. */
export const isOwnPicture = (appUrl: string, address: string | null): address is string =>
  address !== null &&
  address.startsWith(folder(appUrl)) &&
  fileName.test(address.slice(folder(appUrl).length));

/** Matches a plain file name. With a further path or a query, the address would lead elsewhere. */
const fileName = /^[\w-]{43}\.[a-z]{3,4}$/;

/**
 * Replaces the logo and returns its new address; the address of the previous one stops working. If `image` is null,
 * deletes the logo and returns null.
 */
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

/** Deletes the logos of these apps or organizations. */
export const removeLogos = (tx: Executor, ids: readonly string[]): Promise<unknown> =>
  tx.delete(logos).where(isAnyOf(logos.id, ids));

/** SQL condition: a live row of the table still refers to the logo with its `logo_url`. */
const ofLive = (table: typeof projectApps | typeof organizations): SQL =>
  sql`exists (select 1 from ${table} t where t.id = ${logos.id} and t.deleted_at is null
    and right(t.logo_url, length(${logos.name})) = ${logos.name})`;

/** Returns the logo with this name while its app or organization refers to it and is not deleted. */
export async function readLogo(db: Executor, name: string) {
  const [stored] = await db
    .select({ mediaType: logos.mediaType, bytes: logos.bytes })
    .from(logos)
    .innerJoin(nodes, and(eq(nodes.id, logos.tenantId), isNull(nodes.deletedAt)))
    .where(and(eq(logos.name, name), or(ofLive(projectApps), ofLive(organizations))));
  return stored;
}
