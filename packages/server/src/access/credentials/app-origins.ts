/*
 * The origins of pages that may call on behalf of live apps (`ProjectApp.allowedOrigins`). An app is live while its
 * project and the project's owner exist. An entry is cached until the app, its project or that owner changes.
 */

import { sql, type SQL } from 'drizzle-orm';
import type { Changes } from '../../db/cache/changes.ts';
import { createFreshCache } from '../../db/cache/fresh-cache.ts';
import { preparedRowsOf } from '../../db/statements/prepared.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/** Reads the allowed origins of apps, mostly from the cache. */
export interface AppOrigins {
  /** Whether any live app lists this origin; undefined if the answer is not cached. */
  peek(origin: string): boolean | undefined;
  /** Whether any live app lists this origin. */
  has(origin: string): Promise<boolean> | boolean;
  /** Origins of the live app with this client id; null if there is none. */
  of(clientId: string): Promise<readonly string[] | null>;
}

/** Invalidated by every change that adds an origin to an app. */
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

  /** Loads the first live app that matches, and the topics of changes that make the result stale. */
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
