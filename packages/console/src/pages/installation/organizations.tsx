import type { components } from '@doorward/node/client';
import { createdColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { formatNumber } from '../../i18n/format.ts';
import { OrganizationActions } from './acts/organization-actions.tsx';
import { organizationTexts, type OrganizationListTexts } from './organization-texts.ts';

type Organization = components['schemas']['InstallationOrganization'];

const organizations: Entity<Organization, OrganizationListTexts> = {
  noun: 'InstallationOrganization',
  path: () => 'installation/organizations',
  texts: organizationTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    textColumn('name', c.name, ({ name }) => name),
    textColumn('status', c.status, ({ status }) => t.statuses[status], {
      cell: ({ status }) => (
        <span className={status === 'active' ? '' : 'problem'}>{t.statuses[status]}</span>
      ),
    }),
    textColumn('members', t.members, ({ counts }) => formatNumber(counts.members)),
    textColumn('projects', t.projects, ({ counts }) => formatNumber(counts.projects)),
    textColumn('keys', t.keys, ({ counts }) => formatNumber(counts.keys)),
    createdColumn(c),
  ],
  filters: (t, c) => [
    {
      kind: 'option',
      name: 'status',
      label: c.status,
      initial: '',
      options: (['active', 'suspended'] as const).map((id) => ({ id, name: t.statuses[id] })),
    },
  ],
  list: (api, input, signal) => api.installationOrganizations(input, { signal }),
  read: (api, input, signal) => api.installationOrganization(input, { signal }),
  actions: (organization) => <OrganizationActions organization={organization} />,
};

const OrganizationsPage = () => <EntityPage entity={organizations} />;
export default OrganizationsPage;
