import { sql } from 'drizzle-orm';
import type { ResolvedScope, ScopeGrant, ScopeRef } from '../../kernel/scope.ts';

/** The columns of a project grant (the slice) that the scope of its customer needs. */
export interface Slice extends Omit<ScopeGrant, 'projectScope'> {
  readonly organizationId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** SQL for the slice as JSON; `pg` is the row of the grant. */
export const sliceAsJson = sql`json_build_object('id', pg.id, 'projectId', pg.tenant_id,
  'organizationId', pg.organization_id, 'features', pg.features, 'maxUsers', pg.max_users, 'metadata', pg.metadata)`;

/**
 * The members of a granted scope, `<customer>:<project>`, that differ from other scopes. `projectScope`: the project's
 * own scope.
 */
export function grantedScope(
  { organizationId, metadata, ...slice }: Slice,
  projectScope: ScopeRef,
): Pick<
  ResolvedScope,
  'tenant' | 'id' | 'accountId' | 'organizationId' | 'projectId' | 'level' | 'grant' | 'organizationMetadata'
> {
  return {
    tenant: 'organizationProject',
    id: `${organizationId}:${slice.projectId}`,
    accountId: null,
    organizationId,
    projectId: slice.projectId,
    level: 'project',
    grant: { ...slice, projectScope: { tenant: projectScope.tenant, id: projectScope.id } },
    organizationMetadata: metadata,
  };
}
