import { sql } from 'drizzle-orm';
import type { ResolvedScope, ScopeGrant, ScopeRef } from '../../kernel/scope.ts';

/** What a statement reads of a project grant, the slice, for the scope of its customer. */
export interface Slice extends Omit<ScopeGrant, 'projectScope'> {
  readonly organizationId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The slice as JSON; `pg` is the row of the grant. */
export const sliceAsJson = sql`json_build_object('id', pg.id, 'projectId', pg.tenant_id,
  'organizationId', pg.organization_id, 'features', pg.features, 'maxUsers', pg.max_users, 'metadata', pg.metadata)`;

/** What is particular to a granted scope, `<customer>:<project>`. `projectScope`: the project's own scope. */
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
