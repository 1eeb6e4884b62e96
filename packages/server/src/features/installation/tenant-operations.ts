import { equals } from '../../db/query/filters.ts';
import { pageOf, paging } from '../../kernel/input/inputs.ts';
import { text, uuid } from '../../kernel/input/values.ts';
import { query } from '../../kernel/operation.ts';
import { Scope } from '../../kernel/scope.ts';
import { organizations } from '../organizations/organization.ts';
import { projects } from '../projects/project.ts';
import { installation } from './inputs.ts';
import { tenantsBy } from './search.ts';
import { InstallationAccount, InstallationOrganization, InstallationProject } from './tenants.ts';

const search = text(2, 255)
  .optional()
  .meta({ description: 'An id, a whole slug, or words of the name or their beginnings.' });

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
  },
  output: pageOf(InstallationOrganization),
  run: ({ db, input }) => db.page(InstallationOrganization, input, [filtered(input.search, organizations)]),
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
