import { isNotNull, isNull } from 'drizzle-orm';
import { equals } from '../../db/query/filters.ts';
import { setSuspended } from '../suspend-organization.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { mutation, query } from '../../declare.ts';
import { Scope } from '../../kernel/scope.ts';
import { organizations } from '../../schema/tenants/organization.ts';
import { projects } from '../../schema/tenants/project.ts';
import { installation, reason } from './inputs.ts';
import { tenantsBy } from './search.ts';
import {
  InstallationAccount,
  InstallationOrganization,
  InstallationProject,
  OrganizationStatus,
} from '../../schema/operators/installation-tenants.ts';

const search = text(2, 255)
  .optional()
  .meta({ description: 'An id, a whole slug, or words of the name or their beginnings.' });

const isInState = {
  active: isNull(organizations.suspendedAt),
  suspended: isNotNull(organizations.suspendedAt),
};

const filtered = (searched: string | undefined, table: typeof organizations | typeof projects) =>
  searched === undefined ? undefined : tenantsBy(searched, table);

export const installationOrganizations = query({
  ...installation,
  rest: 'GET /installation/organizations',
  access: 'InstallationOrganization:Query',
  summary: 'List or search the organizations of the installation',
  description: 'With their sizes, without their content. `totalCount` may be a minute old.',
  input: {
    scope: Scope,
    ...paging(InstallationOrganization),
    search,
    status: OrganizationStatus.optional().describe('Only organizations with this status.'),
  },
  output: pageOf(InstallationOrganization),
  run: ({ db, input }) =>
    db.page(InstallationOrganization, input, [
      filtered(input.search, organizations),
      input.status && isInState[input.status],
    ]),
});

export const installationOrganization = query({
  ...installation,
  rest: 'GET /installation/organizations/:id',
  access: 'InstallationOrganization:Query',
  summary: 'Read an organization: what it is and how large, not its content',
  input: { scope: Scope, id: uuid },
  output: InstallationOrganization.schema,
  target: InstallationOrganization,
  run: ({ target }) => target,
});

const act = {
  ...installation,
  stepUp: true,
  permissionChange: 'none',
  input: { scope: Scope, id: uuid, reason },
  output: InstallationOrganization.schema,
  target: InstallationOrganization,
  codes: ['INVALID_STATE', 'NOT_FOUND'],
} as const;

export const suspendOrganization = mutation({
  ...act,
  rest: 'POST /installation/organizations/:id/suspend',
  access: 'InstallationOrganization:Suspend',
  summary: 'Suspend an organization: its members, keys and apps can use neither it nor its projects',
  description:
    'Effective at once. Members get SUSPENDED, keys 401, checks the reason SUBJECT_INACTIVE; webhooks wait, and project grants from and to it do not work. Nothing is deleted. Members may read the organization and leave it, owners export its audit log. The owners get a mail with the reason.',
  run: async (ctx) => {
    await setSuspended(ctx, ctx.input, ctx.services.clock.now());
    return ctx.db.get(InstallationOrganization, ctx.input.id);
  },
});

export const reactivateOrganization = mutation({
  ...act,
  rest: 'POST /installation/organizations/:id/reactivate',
  access: 'InstallationOrganization:Reactivate',
  summary: 'End the suspension of an organization',
  description:
    'Roles, keys, sessions with apps and project grants work as before, and waiting webhooks are sent.',
  run: async (ctx) => {
    await setSuspended(ctx, ctx.input, null);
    return ctx.db.get(InstallationOrganization, ctx.input.id);
  },
});

export const installationProjects = query({
  ...installation,
  rest: 'GET /installation/projects',
  access: 'InstallationProject:Query',
  summary: 'List or search the projects of the installation',
  description: 'With their sizes, without their content. `totalCount` may be a minute old.',
  input: {
    scope: Scope,
    ...paging(InstallationProject),
    search,
    ownerId: uuid.optional().describe('Only projects of this account or organization.'),
  },
  output: pageOf(InstallationProject),
  run: ({ db, input }) =>
    db.page(InstallationProject, input, [
      filtered(input.search, projects),
      equals(InstallationProject, 'ownerId', input.ownerId),
    ]),
});

export const installationAccounts = query({
  ...installation,
  rest: 'GET /installation/accounts',
  access: 'InstallationAccount:Query',
  summary: 'List the accounts of the installation',
  description: 'With their sizes, without their content. `totalCount` may be a minute old.',
  input: {
    scope: Scope,
    ...paging(InstallationAccount),
    ownerId: uuid.optional().describe('Only accounts of this user.'),
  },
  output: pageOf(InstallationAccount),
  run: ({ db, input }) =>
    db.page(InstallationAccount, input, [equals(InstallationAccount, 'ownerId', input.ownerId)]),
});
