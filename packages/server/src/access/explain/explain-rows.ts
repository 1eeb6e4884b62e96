import type { GrantSource, Target } from '@doorward/decision/evaluate';
import { sql, type SQL } from 'drizzle-orm';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { definingNodeOf, type ResolvedScope } from '../../kernel/scope.ts';
import { isGranting } from '../grants/role-permissions.ts';

/** A role, group or permission as the statements of an explanation read it. */
export interface Row extends GrantSource {
  readonly tenantId: string;
  readonly isSystem: boolean;
}

export interface PermissionRow {
  readonly id: string;
  readonly name: string;
  readonly action: string;
  readonly tenantId: string;
  readonly slug: string;
  readonly builtIn: boolean;
}

/** SQL for the matching permissions of the tenant, of its owner and of the system. */
export const matching = (scope: ResolvedScope, { management, resource, action }: Target): SQL => sql`
  select p.id, p.created_at, p.condition, json_build_object('id', p.id, 'name', p.name, 'action', p.action,
      'tenantId', p.tenant_id, 'slug', s.slug, 'builtIn', s.is_system) as permission
  from resources s join permissions p on p.resource_id = s.id and ${isGranting.permission}
  where s.slug = ${resource} and s.is_system = ${management} and ${isGranting.resource}
    and lower(p.action) = ${action}
    and p.tenant_id in (${definingNodeOf(scope)}::uuid, ${scope.grant ? scope.organizationId : scope.parentId}::uuid, ${SYSTEM_NODE}::uuid)`;

/** SQL for a row as a JSON object. The parenthesis is left open, so that callers can append members. */
export const row = (table: SQL): SQL => sql`json_build_object('id', ${table}.id, 'name', ${table}.name,
  'metadata', ${table}.metadata, 'tenantId', ${table}.tenant_id, 'isSystem', ${table}.is_system`;
export const [r, g] = [sql.raw('r'), sql.raw('g')];

/** The rows by id; empty if the list is missing. */
export const byId = <T extends { readonly id: string }>(rows: readonly T[] | null | undefined) =>
  new Map((rows ?? []).map((item) => [item.id, item]));
