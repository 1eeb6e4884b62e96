import type { components } from '@doorward/node/client';
import { chipsColumn, createdColumn, nameColumn, textColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { metadataField, nameField } from '../../entities/declarations/fields.ts';
import { formInput, type ChoiceSource } from '../../entities/declarations/form-field.ts';
import { formatNumber } from '../../i18n/format.ts';
import { roleChoice } from '../access/choices.ts';
import { CustomerActions } from './customer-actions.tsx';
import { CustomerDetails } from './customer-details.tsx';
import { grantTexts, type GrantTexts } from './grant-texts.ts';

type Grant = components['schemas']['ProjectGrant'];

/** Lists the project's own roles, because customers can't assign built-in roles. */
const ownRoles: ChoiceSource = async (api, input) =>
  (await api.roles({ ...input, isSystem: false, limit: 100 })).items.map(roleChoice);

const isOver = ({ status }: Grant): boolean => ['declined', 'revoked', 'expired'].includes(status);

const customers: Entity<Grant, GrantTexts> = {
  noun: 'ProjectGrant',
  texts: grantTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('status', c.status, ({ status }) => t.statuses[status], {
      cell: ({ status }) => (
        <span className={status === 'active' ? 'gain' : status === 'pending' ? '' : 'problem'}>
          {t.statuses[status]}
        </span>
      ),
    }),
    chipsColumn('roles', t.roles, ({ roles = [] }) => roles.map(({ name }) => name)),
    textColumn('users', t.users, ({ userCount, maxUsers }) =>
      maxUsers === null ? formatNumber(userCount) : `${formatNumber(userCount)} / ${formatNumber(maxUsers)}`,
    ),
    createdColumn(c),
  ],
  list: (api, input, signal) => api.projectGrants({ ...input, relations: ['roles'] }, { signal }),
  read: (api, input, signal) => api.projectGrant({ ...input, relations: ['roles'] }, { signal }),
  isFixed: isOver,
  fields: (t, grant, c) => [
    { ...nameField(c, grant?.name), hint: t.nameHint },
    ...(grant === null
      ? [
          {
            kind: 'email' as const,
            name: 'email',
            label: c.email,
            hint: t.emailHint,
            isRequired: true,
            initial: '',
          },
        ]
      : []),
    {
      kind: 'rows',
      name: 'roleIds',
      label: t.roles,
      hint: t.rolesHint,
      noun: 'Role',
      isRequired: true,
      source: ownRoles,
      initial: grant?.roleIds ?? [],
    },
    {
      kind: 'row',
      name: 'defaultRoleId',
      label: t.defaultRole,
      hint: t.defaultRoleHint,
      noun: 'Role',
      source: ownRoles,
      initial: grant?.defaultRoleId ?? null,
    },
    {
      kind: 'number',
      name: 'maxUsers',
      label: t.maxUsers,
      hint: t.maxUsersHint,
      min: 1,
      max: 1_000_000,
      initial: grant?.maxUsers ?? null,
    },
    { ...metadataField(c, grant?.metadata), hint: t.metadataHint },
  ],
  create: (api, { maxUsers = null, ...input }) =>
    api.createProjectGrant(formInput<'createProjectGrant'>({ ...input, maxUsers })),
  update: (api, { maxUsers = null, ...input }) =>
    api.updateProjectGrant(formInput<'updateProjectGrant'>({ ...input, maxUsers })),
  details: (grant) => <CustomerDetails grant={grant} />,
  actions: (grant) => <CustomerActions grant={grant} />,
};

const CustomersPage = () => <EntityPage entity={customers} />;
export default CustomersPage;
