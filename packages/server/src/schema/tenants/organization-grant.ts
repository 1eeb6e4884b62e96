import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { entity, serverSet } from '../../kernel/entity.ts';
import { uuid } from '../../kernel/input/values.ts';
import { grantFeatures, ScopeOutput } from '../../kernel/scope.ts';
import { projectGrants, ProjectGrantStatus } from './project-grant.ts';

export const GrantedProject = z
  .object({
    id: uuid.describe('Id of the project.'),
    name: z.string().describe('Its name.'),
    description: z.string().nullable().describe('What it is for.'),
  })
  .meta({ id: 'GrantedProject', description: 'A project of another owner, as its customer sees it.' });

export const GrantedRole = z
  .object({
    id: uuid.describe('Id of the role.'),
    name: z.string().describe('Its name.'),
    description: z.string().nullable().describe('What it is for.'),
  })
  .meta({ id: 'GrantedRole', description: 'A role that the customer may assign.' });

/** Placeholder for what row-level security hides from the customer's organization; `withGrantDetails` fills it in. */
const hidden = sql`null`;

/** A project grant as the customer's organization sees it: without the owner's name for the grant and its metadata. */
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
  // A pending offer has no organization yet, so it is in no list.
  within: ({ nodeId }) => eq(projectGrants.organizationId, nodeId),
  sort: ['createdAt'],
});
