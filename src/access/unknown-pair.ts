import { sql } from 'drizzle-orm';
import { SYSTEM_NODE } from '../db/nodes.ts';
import { rowsOf } from '../db/rows.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { nearest } from '../nearest.ts';
import type { Target } from './evaluate.ts';

/** The part of a question that does not exist in the scope, and the existing name that was most likely meant. */
export interface UnknownPair {
  readonly part: 'resource' | 'action';
  readonly nearest?: string;
}

/** The most resources that are compared with a misspelled name. */
const MOST = 1000;

interface NamedResource {
  readonly slug: string;
  readonly actions: readonly string[];
}

/**
 * Whether a refused question names something that does not exist. It reads names of the scope, so it is only for
 * callers who may have decisions explained there.
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
      order by is_system = ${management} and slug = ${resource} desc, created_at, id limit ${MOST}`,
  );
  const [first] = rows;
  if (first?.slug !== resource)
    return unknownPart('resource', nearest(resource, [...new Set(rows.map(({ slug }) => slug))]));
  const actions = rows.filter(({ slug }) => slug === resource).flatMap((row) => row.actions);
  if (actions.some((one) => one.toLowerCase() === action)) return undefined;
  return unknownPart('action', nearest(action, actions));
}

const unknownPart = (part: UnknownPair['part'], meant: string | undefined): UnknownPair => ({
  part,
  ...(meant === undefined ? {} : { nearest: meant }),
});
