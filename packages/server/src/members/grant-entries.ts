import { eq, getTableColumns, inArray } from 'drizzle-orm';
import { setImmediate as nextTick } from 'node:timers/promises';
import { withoutRls } from '../db/tenancy/rls.ts';
import type { DeletedSubtree } from '../db/tenancy/tenant-tree.ts';
import type { Context } from '../services.ts';
import type { NodeRef, Recording } from '../kernel/event.ts';
import { projector } from '../kernel/output/projector.ts';
import type { ResolvedScope } from '../kernel/scope.ts';
import { grantedRoleIds, ProjectGrant, projectGrants } from '../schema/tenants/project-grant.ts';
import { projects } from '../schema/tenants/project.ts';

/* Entries about a change of a grant, for the owner of the project and for its customer. */

type RecordedGrant = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly organizationId: string | null;
};

const ROWS_PER_TICK = 1000;

const projectGrantData = projector(ProjectGrant.schema);

/** The fields of a grant that its customer must not see. */
const ownersOnly = ['name', 'email', 'metadata', 'createdBy'] as const;

/**
 * The recordings of a change of a grant, each with what its readers may see: one for the owner of the project and, once
 * there is a customer, one for the customer. The recording for the caller's own node comes first; the audit entry of
 * the other side omits the caller's address and browser.
 */
export function recordingsOf(
  scope: Pick<ResolvedScope, 'nodeId'>,
  project: NodeRef,
  grant: RecordedGrant,
  {
    event,
    changes = null,
    metadata,
  }: {
    readonly event: string;
    readonly changes?: Recording['changes'];
    readonly metadata?: Recording['metadata'] | undefined;
  },
): Recording[] {
  const data = projectGrantData(grant) as Record<string, unknown>;
  const target = { type: 'ProjectGrant', id: grant.id };
  const forOwner: Recording = { node: project, event, data, changes, target, metadata };
  const { organizationId } = grant;
  if (organizationId === null) return [forOwner];
  const isHidden = (name: string): boolean => (ownersOnly as readonly string[]).includes(name);
  const without = <V>(members: Readonly<Record<string, V>>) =>
    Object.fromEntries(Object.entries(members).filter(([name]) => !isHidden(name)));
  const forCustomer: Recording = {
    node: { id: organizationId, scope: { tenant: 'organization', id: organizationId } },
    event,
    data: without(data),
    changes: changes && without(changes),
    target,
    metadata,
  };
  return scope.nodeId === organizationId
    ? [forCustomer, { ...forOwner, audited: true }]
    : [forOwner, { ...forCustomer, audited: true }];
}

/**
 * Records the end of the grants that a deletion ended, for the side that still exists: the owner of the project if the
 * customer was deleted, the customer if the project was.
 */
export const recordEndedGrants = (
  { tx, record }: Pick<Context, 'tx' | 'record'>,
  { ids, endedGrants }: DeletedSubtree,
): Promise<void> =>
  withoutRls(tx, async () => {
    if (endedGrants.size === 0) return;
    const rows = await tx
      .select({
        grant: { ...getTableColumns(projectGrants), roleIds: grantedRoleIds },
        project: { id: projects.id, ownerId: projects.ownerId, ownerKind: projects.ownerKind },
      })
      .from(projectGrants)
      .innerJoin(projects, eq(projects.id, projectGrants.tenantId))
      .where(inArray(projectGrants.id, [...endedGrants.keys()]));
    for (const [at, { grant, project }] of rows.entries()) {
      if (at > 0 && at % ROWS_PER_TICK === 0) await nextTick();
      const node: NodeRef = {
        id: project.id,
        scope: { tenant: `${project.ownerKind}Project`, id: `${project.ownerId}:${project.id}` },
      };
      // The slice is empty now.
      const ended = { ...grant, projectId: project.id, userCount: 0, keyCount: 0, webhookCount: 0 };
      const changes = { status: { from: endedGrants.get(grant.id), to: 'revoked' } };
      const entries = recordingsOf({ nodeId: project.id }, node, ended, {
        event: 'project_grant.revoked',
        changes,
      });
      for (const entry of entries) {
        if (entry.node && !ids.has(entry.node.id))
          record({ ...entry, node: { ...entry.node, evenDeleted: true }, audited: true });
      }
    }
  });
