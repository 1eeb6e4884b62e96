import { sql } from 'drizzle-orm';
import { SYSTEM_NODE } from '../db/nodes.ts';
import { rowsOf } from '../db/rows.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import { nearest } from '../nearest.ts';
import type { Target } from './evaluate.ts';

/** Which part of a question names nothing of the scope, and what was most likely meant. */
export interface UnknownPair {
  readonly part: 'resource' | 'action';
  readonly nearest?: string;
}

/** Resources that are compared; a scope with more has others to look through than by an explanation. */
const MOST = 1000;

interface Known {
  readonly slug: string;
  readonly actions: readonly string[];
}

/**
 * Whether a question that was refused asks for something that does not exist. It reads names of the scope, so it is for
 * whoever may have decisions explained there.
 */
export async function unknownPair(
  db: Executor,
  { nodeId, parentId }: ResolvedScope,
  { resource, action, management }: Target,
): Promise<UnknownPair | undefined> {
  const rows = await rowsOf<Known>(
    db,
    sql`select slug, actions from resources
      where tenant_id in (${nodeId}::uuid, ${parentId}::uuid, ${SYSTEM_NODE}::uuid) and deleted_at is null
      order by is_system = ${management} and slug = ${resource} desc, created_at, id limit ${MOST}`,
  );
  const [first] = rows;
  if (first?.slug !== resource)
    return told('resource', nearest(resource, [...new Set(rows.map(({ slug }) => slug))]));
  const actions = rows.filter(({ slug }) => slug === resource).flatMap((known) => known.actions);
  if (actions.some((one) => one.toLowerCase() === action)) return undefined;
  return told('action', nearest(action, actions));
}

const told = (part: UnknownPair['part'], meant: string | undefined): UnknownPair => ({
  part,
  ...(meant === undefined ? {} : { nearest: meant }),
});
