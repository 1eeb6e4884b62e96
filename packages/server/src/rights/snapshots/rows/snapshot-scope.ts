import type { SnapshotClaims } from '@doorward/decision/snapshot-claims';
import { scopeAttributes } from '../../../access/grants/grants.ts';
import type { ResolvedScope } from '../../../kernel/scope.ts';

/** The project of a snapshot. It is owned either by an account or by an organization. */
export interface SnapshotScope {
  readonly projectId: string;
  readonly ownerId: string;
  readonly accountId: string | null;
  readonly organizationId: string | null;
  /** The attributes of the scope that conditions can read. */
  readonly attributes: SnapshotClaims['scope'];
}

export function snapshotScope(scope: ResolvedScope): SnapshotScope {
  const { projectId, parentId, accountId, organizationId } = scope;
  if (scope.grant) throw new Error('A snapshot would show the users of the project to a customer.');
  if (projectId === null || parentId === null) throw new Error('A snapshot needs the scope of a project.');
  const attributes = scopeAttributes(scope) as SnapshotClaims['scope'];
  return { projectId, ownerId: parentId, accountId, organizationId, attributes };
}
