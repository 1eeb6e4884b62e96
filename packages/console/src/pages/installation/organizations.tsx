import type { components } from '@doorward/node/client';
import { createdColumn, textColumn } from '../../entities/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/entity.ts';
import { formatNumber } from '../../i18n/format.ts';
import { organizationTexts, type TenantListTexts } from './installation-texts.ts';

type Organization = components['schemas']['InstallationOrganization'];

const organizations: Entity<Organization, TenantListTexts> = {
  noun: 'InstallationOrganization',
  texts: organizationTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    textColumn('name', c.name, ({ name }) => name),
    textColumn('members', t.members, ({ counts }) => formatNumber(counts.members)),
    textColumn('projects', t.projects, ({ counts }) => formatNumber(counts.projects)),
    textColumn('keys', t.keys, ({ counts }) => formatNumber(counts.keys)),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.installationOrganizations(input, { signal }),
  read: (api, input, signal) => api.installationOrganization(input, { signal }),
};

const OrganizationsPage = () => <EntityPage entity={organizations} />;
export default OrganizationsPage;
