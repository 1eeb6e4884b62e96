import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { anyOf, rowsOf } from '../../db/statements/rows.ts';
import { selectionOf } from '../../db/query/entity-columns.ts';
import { visible } from '../../db/query/visible-rows.ts';
import { nodes } from '../../schema/nodes.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { createNode, deleteNode } from '../../db/tenancy/tenant-tree.ts';
import { fail } from '../../errors.ts';
import type { ReadContext, RowOf } from '../../kernel/entity.ts';
import type { NodeRef } from '../../kernel/event.ts';
import type { ScopeRef } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { liveStates, ProjectGrant, projectGrants } from '../../schema/tenants/project-grant.ts';

export type GrantRow = RowOf<typeof ProjectGrant>;

/** The maximum number of live grants of one organization. */
const MAX_PER_ORGANIZATION = 1000;

interface Counts {
  readonly id: string;
  readonly userCount: number;
  readonly keyCount: number;
  readonly webhookCount: number;
}

/**
 * Adds the numbers of users, keys and subscriptions of each grant. The project may know the numbers, but not read the
 * rows.
 */
export const withCounts = <R extends { readonly id: string }>(
  tx: Executor,
  grants: readonly R[],
): Promise<(R & Counts)[]> =>
  withoutRls(tx, async () => {
    const counts = await rowsOf<Counts>(
      tx,
      sql`select g.id,
        (select count(distinct u.user_id)::int from project_user_roles u where u.tenant_id = g.id) as "userCount",
        (select count(*)::int from api_keys k where k.tenant_id = g.id and k.deleted_at is null
          and k.revoked_at is null) as "keyCount",
        (select count(*)::int from webhook_subscriptions w where w.tenant_id = g.id
          and w.deleted_at is null) as "webhookCount"
      from project_grants g where g.id = ${anyOf(grants.map(({ id }) => id))}`,
    );
    const byId = new Map(counts.map((row) => [row.id, row]));
    return grants.map((grant) => ({ ...grant, ...(byId.get(grant.id) as Counts) }));
  });

/** Returns the grant of the project, locked until the commit. @throws NOT_FOUND */
export async function lockGrant(tx: Executor, at: ReadContext, id: string): Promise<GrantRow> {
  const [locked] = await tx
    .select({ id: projectGrants.id })
    .from(projectGrants)
    .where(and(eq(projectGrants.id, id), visible(ProjectGrant, at.scope)))
    .for('update');
  if (!locked) throw fail('NOT_FOUND');
  return readGrant(tx, at, id);
}

/** Returns a grant of any scope, for callers that have checked who may read it. @throws NOT_FOUND */
export async function readGrant(tx: Executor, at: ReadContext, id: string): Promise<GrantRow> {
  const [row] = await tx
    .select(selectionOf(ProjectGrant, at))
    .from(projectGrants)
    .where(and(eq(projectGrants.id, id), isNull(projectGrants.deletedAt)));
  if (!row) throw fail('NOT_FOUND');
  const [counted] = await withCounts(tx, [row as GrantRow]);
  return counted as GrantRow;
}

/** The project of a grant, and its owner. */
interface Place {
  readonly project: NodeRef;
  readonly projectName: string;
  readonly ownerId: string;
  readonly ownerName: string;
}

/**
 * Reads the project of a grant and its owner. Call it without row-level security.
 * @throws NOT_FOUND if either was deleted
 */
export async function placeOf(tx: Executor, projectId: string): Promise<Place> {
  const [row] = await rowsOf<{ name: string; owner_id: string; owner_kind: string; owner: string }>(
    tx,
    sql`select p.name, p.owner_id, p.owner_kind,
      coalesce((select o.name from organizations o where o.id = p.owner_id),
        (select u.name from accounts a join users u on u.id = a.owner_id where a.id = p.owner_id)) as owner
    from projects p join nodes n on n.id = p.id and n.deleted_at is null
    join nodes own on own.id = p.owner_id and own.deleted_at is null
    where p.id = ${projectId}::uuid and p.deleted_at is null`,
  );
  if (!row) throw fail('NOT_FOUND');
  const scope: ScopeRef = {
    tenant: `${row.owner_kind as 'account' | 'organization'}Project`,
    id: `${row.owner_id}:${projectId}`,
  };
  return {
    project: { id: projectId, scope },
    projectName: row.name,
    ownerId: row.owner_id,
    ownerName: row.owner,
  };
}

/**
 * Asserts that the organization may get a grant of the project. Locks the organization's node, so that concurrent
 * grants to it are checked one after the other; the unique index is only a safeguard. Call it without row-level
 * security.
 *
 * @throws CONFLICT
 */
export async function assertCanReceiveGrant(
  tx: Executor,
  organizationId: string,
  { project, ownerId }: Pick<Place, 'project' | 'ownerId'>,
  field: 'token' | 'organizationId',
): Promise<void> {
  const refuse = (code: 'not_allowed' | 'taken' | 'limit', fix: string) =>
    fail('CONFLICT', { details: [{ path: field, code }], fix });
  if (organizationId === ownerId) throw refuse('not_allowed', 'The owner of a project needs no grant of it.');
  await tx.select({ id: nodes.id }).from(nodes).where(eq(nodes.id, organizationId)).for('no key update');
  const live = await tx
    .select({ projectId: projectGrants.tenantId })
    .from(projectGrants)
    .where(
      and(
        eq(projectGrants.organizationId, organizationId),
        inArray(projectGrants.status, [...liveStates]),
        isNull(projectGrants.deletedAt),
      ),
    )
    .limit(MAX_PER_ORGANIZATION);
  if (live.some(({ projectId }) => projectId === project.id))
    throw refuse(
      'taken',
      'The organization has a grant of this project already: change that one, or revoke it.',
    );
  if (live.length >= MAX_PER_ORGANIZATION)
    throw refuse('limit', `An organization has at most ${MAX_PER_ORGANIZATION} grants.`);
}

/** Creates the tenant node (the slice) of an accepted grant. Call it outside row-level security. */
export const openSlice = (tx: Executor, grantId: string, projectId: string): Promise<void> =>
  createNode(tx, { id: grantId, kind: 'grant', parentId: projectId });

/** Deletes the slice with everything in it for good; a new grant begins empty. Returns the topics to invalidate. */
export const closeSlice = async (tx: Executor, grantId: string): Promise<string[]> =>
  (await deleteNode(tx, grantId)).topics;
