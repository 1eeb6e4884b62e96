import { eq, inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import { anyOf, rowsOf } from '../../db/query/rows.ts';
import { withoutRls } from '../../db/tenancy/rls.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { uuid } from '../../kernel/input/values.ts';
import { grantFeatures, ScopeOutput } from '../../kernel/scope.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { projectGrants, ProjectGrantStatus } from './grant.ts';

const GrantedProject = z
  .object({
    id: uuid.describe('Id of the project.'),
    name: z.string().describe('Its name.'),
    description: z.string().nullable().describe('What it is for.'),
  })
  .meta({ id: 'GrantedProject', description: 'A project of another owner, as its customer sees it.' });

const GrantedRole = z
  .object({
    id: uuid.describe('Id of the role.'),
    name: z.string().describe('Its name.'),
    description: z.string().nullable().describe('What it is for.'),
  })
  .meta({ id: 'GrantedRole', description: 'A role that the customer may assign.' });

/** What row-level security hides from the customer's organization: `withProjects` fills it in. */
const hidden = sql`null`;

/** A project grant as the organization of the customer sees it: without the owner's name for it, and its metadata. */
export const OrganizationGrant = entity('OrganizationGrant', {
  table: projectGrants,
  doc: 'A project of another owner that the organization may use, with the roles that it may assign.',
  fields: {
    project: serverSet(GrantedProject.describe('The granted project.')),
    owner: serverSet(
      z
        .object({ name: z.string().describe('Their name.') })
        .meta({ id: 'GrantedProjectOwner', description: 'Who owns a granted project.' })
        .describe('The organization or person that owns the project.'),
    ),
    roles: serverSet(z.array(GrantedRole).describe('The roles that the organization may assign.')),
    scope: serverSet(ScopeOutput.describe('The scope of the project for the organization, for requests.')),
    status: serverSet(ProjectGrantStatus.describe('Whether the organization may use the project.')),
    features: serverSet(z.array(z.enum(grantFeatures)).describe('What it may use besides users and checks.')),
    maxUsers: serverSet(z.int().nullable().describe('Most users with roles; null: no limit.')),
    userCount: serverSet(z.int().describe('Users with roles.')),
  },
  computed: {
    project: hidden,
    owner: hidden,
    roles: hidden,
    scope: sql`json_build_object('tenant', 'organizationProject', 'id', ${projectGrants.organizationId} || ':' || ${projectGrants.tenantId})`,
    userCount: sql<number>`0`,
  },
  // A pending offer has no organization yet.
  within: ({ nodeId }) => eq(projectGrants.organizationId, nodeId),
  sort: ['createdAt'],
});

/** Grants that the organization has or had; a suspended one may be resumed. */
export const ofOrganization = (status?: z.output<typeof ProjectGrantStatus>) =>
  status === undefined
    ? inArray(projectGrants.status, ['active', 'suspended', 'revoked'])
    : eq(projectGrants.status, status);

/** The grants with what their customer may know of project, owner, roles and users. They come from its own organization. */
export const withProjects = <R extends { readonly id: string }>(tx: Executor, grants: readonly R[]) =>
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
