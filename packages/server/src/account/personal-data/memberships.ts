import { and, asc, eq, getTableColumns, isNull, sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { iso, uuid } from '../../kernel/input/values.ts';
import { ApiKey, apiKeys } from '../../schema/machines/api-key.ts';
import { organizationMembers, projectUserRoles, projectUsers } from '../../schema/rights/membership.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { projects } from '../../schema/tenants/project.ts';
import { roles } from '../../schema/rights/role.ts';
import { list } from './section.ts';

/*
 * Memberships of the user, and the keys that act as the user. Of organizations and projects, only the names are
 * exported.
 */

const Role = z
  .object({ id: uuid.describe('Id of the role.'), name: z.string().describe('What people call it.') })
  .meta({ id: 'ExportedRole', description: 'A role that the user has.' });

const OrganizationMembership = z
  .object({
    organizationId: uuid.describe('Id of the organization.'),
    organizationName: z.string().describe('What people call it.'),
    role: Role,
    joinedAt: iso.describe('When the user joined.'),
  })
  .meta({ id: 'ExportedOrganizationMembership', description: 'An organization that the user belongs to.' });

const ProjectMembership = z
  .object({
    projectId: uuid.describe('Id of the project.'),
    projectName: z.string().describe('What people call it.'),
    roles: z.array(Role).describe('The roles of the user in it.'),
    joinedAt: iso.describe('When the user joined.'),
  })
  .meta({ id: 'ExportedProjectMembership', description: 'A project that the user is in.' });

export const organizationMemberships = list(OrganizationMembership, ({ tx, userId }) =>
  tx
    .select({
      organizationId: organizations.id,
      organizationName: organizations.name,
      role: { id: roles.id, name: roles.name },
      joinedAt: organizationMembers.createdAt,
    })
    .from(organizationMembers)
    .innerJoin(organizations, eq(organizations.id, organizationMembers.tenantId))
    .innerJoin(roles, eq(roles.id, organizationMembers.roleId))
    .where(and(eq(organizationMembers.userId, userId), isNull(organizations.deletedAt)))
    .orderBy(asc(organizationMembers.createdAt), asc(organizations.id)),
);

const assignedRoles = sql`coalesce((select json_agg(json_build_object('id', ${roles.id}, 'name', ${roles.name}) order by ${roles.name}, ${roles.id})
  from ${projectUserRoles} join ${roles} on ${roles.id} = ${projectUserRoles.roleId} and ${roles.deletedAt} is null
  where ${projectUserRoles.tenantId} = ${projectUsers.tenantId}
    and ${projectUserRoles.userId} = ${projectUsers.userId}), '[]')`;

export const projectMemberships = list(ProjectMembership, ({ tx, userId }) =>
  tx
    .select({
      projectId: projects.id,
      projectName: projects.name,
      roles: assignedRoles,
      joinedAt: projectUsers.createdAt,
    })
    .from(projectUsers)
    .innerJoin(projects, eq(projects.id, projectUsers.tenantId))
    .where(and(eq(projectUsers.userId, userId), isNull(projects.deletedAt)))
    .orderBy(asc(projectUsers.createdAt), asc(projects.id)),
);

/**
 * The ProjectUser keys of the user. A key of a project belongs to the project, not to its creator, so it is not
 * exported.
 */
export const keys = list(ApiKey.schema, ({ tx, userId }) =>
  tx
    .select({ ...getTableColumns(apiKeys), ...(ApiKey.computed as Record<string, SQL>) })
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, userId), eq(apiKeys.scopeTenant, 'ProjectUser'), isNull(apiKeys.deletedAt)))
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id)),
);
