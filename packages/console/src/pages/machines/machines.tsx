import type { components } from '@doorward/node/client';
import { chipsColumn, nameColumn, textColumn, updatedColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { metadataField, nameField } from '../../entities/declarations/fields.ts';
import { formInput } from '../../entities/declarations/form-field.ts';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { useRights, useScope } from '../../scopes/use-scope.ts';
import { RowAction } from '../keys/row-action.tsx';
import { nameOfKey, variablesOf } from '../keys/api-keys/api-key-actions.tsx';
import { lifetimeFields } from '../keys/api-keys/api-key-fields.ts';
import { apiKeyTexts } from '../keys/api-keys/api-key-texts.ts';
import { MayDoLink } from '../subjects/may-do-link.tsx';
import { roleChoicesButOwner } from '../access/choices.ts';
import { machineTexts, type MachineTexts } from './machine-texts.ts';

type User = components['schemas']['User'];

/** Converts the chosen role to a list, which the service expects although a service user has exactly one role. */
const withRole = ({ roleIds, ...input }: Readonly<Record<string, unknown>>) => ({
  ...input,
  roleIds: [roleIds],
});

const machines: Entity<User, MachineTexts> = {
  noun: 'User',
  texts: machineTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('status', c.status, ({ status }) => t[status]),
    chipsColumn('roles', t.role, ({ roles = [] }) => roles.map(({ name }) => name)),
    updatedColumn({ ...c, updatedAt: c.profileChangedAt }),
  ],
  list: (api, input, signal) => api.users({ ...input, kind: 'service', relations: ['roles'] }, { signal }),
  read: (api, input, signal) => api.user({ ...input, relations: ['roles'] }, { signal }),
  fields: (t, machine, c) => [
    nameField(c, machine?.name),
    {
      kind: 'row',
      name: 'roleIds',
      label: t.role,
      hint: t.roleHint,
      noun: 'Role',
      isRequired: true,
      source: roleChoicesButOwner,
      initial: machine?.roles?.[0]?.id ?? null,
    },
    ...(machine === null
      ? []
      : [
          {
            kind: 'option' as const,
            name: 'status',
            label: c.status,
            options: (['active', 'disabled'] as const).map((id) => ({ id, name: t[id] })),
            initial: machine.status,
          },
        ]),
    metadataField(c, machine?.metadata),
  ],
  create: (api, input) => api.createUser(formInput<'createUser'>(withRole(input), { kind: 'service' })),
  update: (api, input) => api.updateUser(formInput<'updateUser'>(withRole(input))),
  remove: (api, input) => api.deleteUser(input),
  hasImpact: true,
  actions: (machine) => <MachineActions machine={machine} />,
};

function MachineActions({ machine }: { readonly machine: User }) {
  const t = useTexts(machineTexts);
  const k = useTexts(apiKeyTexts);
  const c = useTexts(common);
  const scope = useScope();
  const { can } = useRights(scope);
  return (
    <>
      {can('ApiKey:Create') && machine.status === 'active' && (
        <RowAction
          label={t.newKey}
          name={machine.name}
          about={t.newKeyAbout}
          fields={[nameField(c), ...lifetimeFields(k)]}
          save={(api, input) => api.createApiKey({ ...input, userId: machine.id })}
          secretOf={variablesOf}
          secretTitle={k.yourKey}
          nameOf={nameOfKey}
        />
      )}
      {scope.tenant === 'organization' && <MayDoLink userId={machine.id} />}
    </>
  );
}

const MachinesPage = () => <EntityPage entity={machines} />;
export default MachinesPage;
