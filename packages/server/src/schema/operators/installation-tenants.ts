import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { AccountType, accounts } from '../people/account.ts';
import { entity, serverSet } from '../../kernel/entity.ts';
import { iso, uuid } from '../../kernel/input/values.ts';
import { organizations } from '../tenants/organization.ts';
import { projects } from '../tenants/project.ts';

/* Organizations, projects and accounts as operators see them: their state and size, but not their content. */

const everything = { within: () => sql`true`, order: 'DESC' } as const;

const count = (what: string) => z.int().describe(`Number of ${what}.`);

const counted = (from: SQL): SQL => sql`(select count(*)::int from ${from})`;
const liveKeys = (tenant: SQL): SQL =>
  counted(sql`api_keys k where k.tenant_id ${tenant} and k.revoked_at is null and k.deleted_at is null`);

/** SQL: the ids of the projects below a node, as a subquery. */
const below = (node: unknown): SQL =>
  sql`(select p.id from projects p where p.owner_id = ${node} and p.deleted_at is null)`;

const OrganizationCounts = z
  .object({
    members: count('members'),
    projects: count('projects'),
    keys: count('live API keys of the organization and its projects'),
    apps: count('apps of its projects'),
    subscriptions: count('webhook subscriptions of its projects'),
  })
  .meta({ id: 'InstallationOrganizationCounts', description: 'How large an organization is.' });

export const OrganizationStatus = z.enum(['active', 'suspended']).meta({
  id: 'OrganizationStatus',
  description: 'active, or suspended by an operator.',
});

export const InstallationOrganization = entity('InstallationOrganization', {
  table: organizations,
  doc: 'An organization, as operators of the installation see it.',
  fields: {
    name: serverSet(z.string().describe('Its name.')),
    slug: serverSet(z.string().describe('Its short name.')),
    accountId: serverSet(uuid.describe('The account that owns it.')),
    ownerId: serverSet(uuid.nullable().describe('The user who owns that account.')),
    status: serverSet(OrganizationStatus.describe('Whether it may be used.')),
    suspendedAt: serverSet(iso.nullable().describe('When an operator suspended it; null unless suspended.')),
    counts: serverSet(OrganizationCounts.describe('How large it is.')),
  },
  computed: {
    ownerId: sql`(select a.owner_id from accounts a where a.id = ${organizations.accountId})`,
    status: sql`case when ${organizations.suspendedAt} is null then 'active' else 'suspended' end`,
    counts: sql`json_build_object(
      'members', ${counted(sql`organization_members m where m.tenant_id = ${organizations.id}`)},
      'projects', ${counted(sql`projects p where p.owner_id = ${organizations.id} and p.deleted_at is null`)},
      'keys', ${liveKeys(sql`in (select ${organizations.id} union all select b.id from ${below(organizations.id)} b)`)},
      'apps', ${counted(sql`project_apps a where a.deleted_at is null and a.tenant_id in ${below(organizations.id)}`)},
      'subscriptions', ${counted(
        sql`webhook_subscriptions s where s.deleted_at is null and s.tenant_id in ${below(organizations.id)}`,
      )})`,
  },
  ...everything,
});

const ProjectCounts = z
  .object({
    users: count('users'),
    keys: count('live API keys'),
    apps: count('apps'),
    subscriptions: count('webhook subscriptions'),
  })
  .meta({ id: 'InstallationProjectCounts', description: 'How large a project is.' });

export const InstallationProject = entity('InstallationProject', {
  table: projects,
  doc: 'A project, as operators of the installation see it.',
  fields: {
    name: serverSet(z.string().describe('Its name.')),
    slug: serverSet(z.string().describe('Its short name.')),
    ownerKind: serverSet(
      z
        .enum(['account', 'organization'])
        .meta({ id: 'InstallationOwnerKind', description: 'What owns a project.' })
        .describe('Whether an account or an organization owns it.'),
    ),
    ownerId: serverSet(uuid.describe('Id of that account or organization.')),
    counts: serverSet(ProjectCounts.describe('How large it is.')),
  },
  computed: {
    counts: sql`json_build_object(
      'users', ${counted(sql`project_users u where u.tenant_id = ${projects.id}`)},
      'keys', ${liveKeys(sql`= ${projects.id}`)},
      'apps', ${counted(sql`project_apps a where a.deleted_at is null and a.tenant_id = ${projects.id}`)},
      'subscriptions', ${counted(
        sql`webhook_subscriptions s where s.deleted_at is null and s.tenant_id = ${projects.id}`,
      )})`,
  },
  ...everything,
});

const AccountCounts = z
  .object({
    organizations: count('organizations'),
    projects: count('projects of the account itself'),
    serviceUsers: count('service users'),
    keys: count('live API keys of the account and its own projects'),
  })
  .meta({ id: 'InstallationAccountCounts', description: 'How large an account is.' });

export const InstallationAccount = entity('InstallationAccount', {
  table: accounts,
  doc: 'An account, as operators of the installation see it.',
  fields: {
    type: serverSet(AccountType.describe('What it may hold.')),
    ownerId: serverSet(uuid.describe('Id of the user who owns it.')),
    counts: serverSet(AccountCounts.describe('How large it is.')),
  },
  computed: {
    counts: sql`json_build_object(
      'organizations', ${counted(
        sql`organizations o where o.account_id = ${accounts.id} and o.deleted_at is null`,
      )},
      'projects', ${counted(sql`projects p where p.owner_id = ${accounts.id} and p.deleted_at is null`)},
      'serviceUsers', ${counted(sql`account_service_users s where s.tenant_id = ${accounts.id}`)},
      'keys', ${liveKeys(sql`in (select ${accounts.id} union all select b.id from ${below(accounts.id)} b)`)})`,
  },
  ...everything,
});
