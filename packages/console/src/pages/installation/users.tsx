import type { components } from '@doorward/node/client';
import { createdColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { common } from '../../i18n/common.ts';
import { formatNumber } from '../../i18n/format.ts';
import { useTexts } from '../../i18n/language.ts';
import { Chips } from '../../ui/chips.tsx';
import { Facts } from '../../ui/facts.tsx';
import { userTexts, type AllUsersTexts } from './installation-texts.ts';
import { providerNames } from '../me/sign-in-methods/provider-names.ts';
import { secondFactorTexts } from '../me/second-factors/second-factor-texts.ts';
import { UserActions } from './acts/user-actions.tsx';

type User = components['schemas']['InstallationUser'];
type Details = components['schemas']['InstallationUserDetails'];

const users: Entity<User, AllUsersTexts> = {
  noun: 'InstallationUser',
  path: () => 'installation/users',
  texts: userTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    textColumn('name', c.name, ({ name }) => name),
    textColumn('email', c.email, ({ email }) => email),
    textColumn('kind', t.kind, ({ kind }) => t.kinds[kind]),
    textColumn('status', c.status, ({ status }) => t.statuses[status], {
      cell: ({ status }) => (
        <span className={status === 'active' ? '' : 'problem'}>{t.statuses[status]}</span>
      ),
    }),
    createdColumn(c),
  ],
  filters: (t, c) => [
    {
      kind: 'option',
      name: 'status',
      label: c.status,
      initial: '',
      options: (['active', 'disabled', 'suspended'] as const).map((id) => ({ id, name: t.statuses[id] })),
    },
    {
      kind: 'option',
      name: 'kind',
      label: t.kind,
      initial: '',
      options: (['person', 'service'] as const).map((id) => ({ id, name: t.kinds[id] })),
    },
  ],
  list: (api, input, signal) => api.installationUsers(input, { signal }),
  read: (api, input, signal) => api.installationUser(input, { signal }),
  details: (user) => <UserDetails user={user as Details} />,
  actions: (user) => <UserActions user={user} />,
};

/** Shows what the installation knows about a user, without data that tenants store about them. */
function UserDetails({ user }: { readonly user: Details }) {
  const t = useTexts(userTexts);
  const c = useTexts(common);
  const f = useTexts(secondFactorTexts);
  const providers = useTexts(providerNames);
  const { methods, factors, sessions, memberships, projects, keyCount, isOperator } = user;
  return (
    <Facts
      facts={[
        [
          t.methods,
          methods.length > 0 && (
            <Chips
              texts={methods.map(({ provider, label }) => `${providers[provider] ?? provider}: ${label}`)}
            />
          ),
        ],
        [
          t.factors,
          factors.length > 0 && (
            <Chips
              texts={factors.map(({ type, isEnabled }) =>
                isEnabled ? t.factorTypes[type] : `${t.factorTypes[type]} (${f.pending})`,
              )}
            />
          ),
        ],
        [t.sessions, sessions.length > 0 && formatNumber(sessions.length)],
        [
          t.memberships,
          memberships.length > 0 && (
            <Chips
              texts={memberships.map(({ organizationName, role }) => `${organizationName}: ${role.name}`)}
            />
          ),
        ],
        [t.projects, projects.length > 0 && <Chips texts={projects.map(({ projectName }) => projectName)} />],
        [t.keys, keyCount > 0 && formatNumber(keyCount)],
        [t.isOperator, isOperator && c.yes],
      ]}
    />
  );
}

const UsersPage = () => <EntityPage entity={users} />;
export default UsersPage;
