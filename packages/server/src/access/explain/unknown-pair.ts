import { sql } from 'drizzle-orm';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { rowsOf } from '../../db/statements/rows.ts';
import type { ResolvedScope } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { nearest } from '../../kernel/input/nearest.ts';
import type { Target } from '@doorward/decision/evaluate';

/** The part of a question that does not exist in the scope, and the most similar existing name. */
interface UnknownPair {
  readonly part: 'resource' | 'action';
  readonly nearest?: string;
}

/** The maximum number of resources that are compared with a misspelled name. */
const MAX_RESOURCES = 1000;

interface NamedResource {
  readonly slug: string;
  readonly actions: readonly string[];
}

/**
 * Returns the part of a refused question that does not exist, or undefined if both exist. The result contains names of
 * the scope, so it is only for callers who may explain decisions there.
 */
export async function unknownPair(
  db: Executor,
  { nodeId, parentId }: ResolvedScope,
  { resource, action, management }: Target,
): Promise<UnknownPair | undefined> {
  const rows = await rowsOf<NamedResource>(
    db,
    sql`select slug, actions from resources
      where tenant_id in (${nodeId}::uuid, ${parentId}::uuid, ${SYSTEM_NODE}::uuid) and deleted_at is null
      order by is_system = ${management} and slug = ${resource} desc, created_at, id limit ${MAX_RESOURCES}`,
  );
  const [first] = rows;
  if (first?.slug !== resource)
    return unknownPart('resource', nearest(resource, [...new Set(rows.map(({ slug }) => slug))]));
  const actions = rows.filter(({ slug }) => slug === resource).flatMap((row) => row.actions);
  if (actions.some((item) => item.toLowerCase() === action)) return undefined;
  return unknownPart('action', nearest(action, actions));
}

const unknownPart = (part: UnknownPair['part'], meant: string | undefined): UnknownPair => ({
  part,
  ...(meant === undefined ? {} : { nearest: meant }),
});
