import type { components } from '@doorward/node/client';
import { createdColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { onlyRow } from '../../entities/tables/only-row.ts';
import { formatNumber } from '../../i18n/format.ts';
import { accountTexts, type TenantListTexts } from './installation-texts.ts';

type Account = components['schemas']['InstallationAccount'];

const accounts: Entity<Account, TenantListTexts> = {
  noun: 'InstallationAccount',
  path: () => 'installation/accounts',
  texts: accountTexts,
  hasSearch: false,
  name: ({ id }) => id,
  columns: (t, c) => [
    textColumn('id', 'Id', ({ id }) => id),
    textColumn('owner', t.owner, ({ ownerId }) => ownerId),
    textColumn('organizations', t.organizations, ({ counts }) => formatNumber(counts.organizations)),
    textColumn('projects', t.projects, ({ counts }) => formatNumber(counts.projects)),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.installationAccounts(input, { signal }),
  read: async (api, { id, ...input }, signal) =>
    onlyRow(await api.installationAccounts({ ...input, ids: [id] }, { signal })),
};

const AccountsPage = () => <EntityPage entity={accounts} />;
export default AccountsPage;
