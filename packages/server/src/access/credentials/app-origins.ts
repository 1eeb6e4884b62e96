import { sql, type SQL } from 'drizzle-orm';
import type { Changes } from '../../db/cache/changes.ts';
import { createFreshCache } from '../../db/cache/fresh-cache.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * The origins of the pages from which live apps call (`ProjectApp.allowedOrigins`). An app is live while its project
 * and the owner of the project exist. An entry stays in memory until the app, its project or that owner changes.
 */
export interface AppOrigins {
  /** Whether any live app names this origin; undefined if that is not cached. */
  peek(origin: string): boolean | undefined;
  /** Whether any live app names this origin. */
  has(origin: string): Promise<boolean> | boolean;
  /** Origins of the live app with this client id; null where there is none. */
  of(clientId: string): Promise<readonly string[] | null>;
}

/** The topic that every change invalidates that adds an origin to an app. */
export const appOriginsTopic = 'app-origins';

interface AppRow {
  readonly id: string;
  readonly origins: readonly string[];
  readonly projectId: string;
  readonly ownerId: string;
}

interface CachedOrigins {
  readonly origins: readonly string[];
}

const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function createAppOrigins(pool: Executor, changes: Changes): AppOrigins {
  const byOrigin = createFreshCache<CachedOrigins>(changes, 10_000);
  const byClient = createFreshCache<CachedOrigins>(changes, 10_000);

  /** The first live app that matches, and the topics of changes that make this answer stale. */
  async function load(which: SQL) {
    const [row] = await preparedRowsOf<AppRow>(
      pool,
      sql`
      select a.id, a.allowed_origins as origins, n.id as "projectId", o.id as "ownerId"
      from project_apps a
      join nodes n on n.id = a.tenant_id and n.deleted_at is null
      join nodes o on o.id = n.parent_id and o.deleted_at is null
      where ${which} and a.deleted_at is null limit 1`,
    );
    if (!row) return null;
    const topics = [`credential:${row.id}`, `node:${row.projectId}`, `node:${row.ownerId}`];
    return { value: { origins: row.origins }, topics };
  }

  const noApp = { value: { origins: [] }, topics: [appOriginsTopic] };
  const loadByOrigin = (origin: string) => load(sql`a.allowed_origins @> array[${origin}::text]`);
  const peek = (origin: string): boolean | undefined => byOrigin.peek(origin)?.origins.includes(origin);

  return {
    peek,
    has: (origin) =>
      peek(origin) ??
      byOrigin
        .get(origin, async () => (await loadByOrigin(origin)) ?? noApp)
        .then((entry) => entry?.origins.includes(origin) ?? false),
    of: async (clientId) => {
      if (!uuidForm.test(clientId)) return null;
      const entry = await byClient.get(clientId.toLowerCase(), () =>
        load(sql`a.client_id = ${clientId}::uuid`),
      );
      return entry && entry.origins;
    },
  };
}
