import { eq, inArray, sql } from 'drizzle-orm';
import type { z } from 'zod';
import { anyOf, rowsOf } from '../../db/statements/rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { type ProjectGrantStatus, projectGrants } from '../../schema/tenants/project-grant.ts';
import type { GrantedProject, GrantedRole } from '../../schema/tenants/organization-grant.ts';

/** The condition for grants with this status; by default, for all grants that the organization has accepted. */
export const withGrantStatus = (status?: z.output<typeof ProjectGrantStatus>) =>
  status === undefined
    ? inArray(projectGrants.status, ['active', 'suspended', 'revoked'])
    : eq(projectGrants.status, status);

/**
 * Adds the details of project, owner, roles and users that a customer may know. Call it only with grants of the
 * caller's organization.
 */
export const withGrantDetails = <R extends { readonly id: string }>(tx: Executor, grants: readonly R[]) =>
  withoutRls(tx, async () => {
    const rows = await rowsOf<{
      id: string;
      project: z.output<typeof GrantedProject>;
      owner: { name: string };
      roles: z.output<typeof GrantedRole>[];
      userCount: number;
    }>(
      tx,
      sql`select g.id,
        json_build_object('id', p.id, 'name', p.name, 'description', p.description) as project,
        json_build_object('name', coalesce((select o.name from organizations o where o.id = p.owner_id),
          (select u.name from accounts a join users u on u.id = a.owner_id where a.id = p.owner_id), '')) as owner,
        (select coalesce(json_agg(json_build_object('id', r.id, 'name', r.name, 'description', r.description)
            order by r.name, r.id), '[]'::json)
          from project_grant_roles gr join roles r on r.id = gr.role_id and r.deleted_at is null
          where gr.project_grant_id = g.id) as roles,
        (select count(distinct u.user_id)::int from project_user_roles u where u.tenant_id = g.id) as "userCount"
      from project_grants g join projects p on p.id = g.tenant_id
      where g.id = ${anyOf(grants.map(({ id }) => id))}`,
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return grants.flatMap((grant) => {
      const row = byId.get(grant.id);
      return row ? [{ ...grant, ...row }] : [];
    });
  });
