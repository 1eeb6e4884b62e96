import type { components } from '@doorward/node/client';
import { chipsColumn, descriptionColumn, nameColumn, updatedColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity, EntityTexts } from '../../entities/declarations/entity.ts';
import { descriptionField, metadataField, nameField } from '../../entities/declarations/fields.ts';
import { formInput } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';
import { permissionChoices } from './choices.ts';
import { Metadata } from './metadata.tsx';
import { tagsColumn, tagsField } from './tag-chip.tsx';

type Group = components['schemas']['Group'];

interface GroupTexts extends EntityTexts {
  readonly permissions: string;
  readonly permissionsHint: string;
}

const texts: Texts<GroupTexts> = {
  en: {
    title: 'Groups',
    about: 'A group holds permissions that belong together. Roles hold groups.',
    create: 'New group',
    empty: 'There are no groups of your own yet. A group collects permissions for roles.',
    removal: 'Every role that holds this group loses its permissions.',
    permissions: 'Permissions',
    permissionsHint: 'Every role with this group gives these permissions.',
  },
  de: {
    title: 'Gruppen',
    about: 'Eine Gruppe enthält Berechtigungen, die zusammengehören. Rollen enthalten Gruppen.',
    create: 'Neue Gruppe',
    empty: 'Es gibt noch keine eigenen Gruppen. Eine Gruppe sammelt Berechtigungen für Rollen.',
    removal: 'Jede Rolle mit dieser Gruppe verliert deren Berechtigungen.',
    permissions: 'Berechtigungen',
    permissionsHint: 'Jede Rolle mit dieser Gruppe gibt diese Berechtigungen.',
  },
  es: {
    title: 'Grupos',
    about: 'Un grupo contiene permisos que van juntos. Los roles contienen grupos.',
    create: 'Nuevo grupo',
    empty: 'Aún no hay grupos propios. Un grupo reúne permisos para los roles.',
    removal: 'Cada rol con este grupo pierde sus permisos.',
    permissions: 'Permisos',
    permissionsHint: 'Cada rol con este grupo da estos permisos.',
  },
  fr: {
    title: 'Groupes',
    about: 'Un groupe contient des permissions qui vont ensemble. Les rôles contiennent des groupes.',
    create: 'Nouveau groupe',
    empty: 'Il n’y a pas encore de groupes à vous. Un groupe réunit des permissions pour les rôles.',
    removal: 'Chaque rôle qui contient ce groupe perd ses permissions.',
    permissions: 'Permissions',
    permissionsHint: 'Chaque rôle avec ce groupe donne ces permissions.',
  },
};

const relations = ['permissions' as const, 'tags' as const];

const groups: Entity<Group, GroupTexts> = {
  noun: 'Group',
  texts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    descriptionColumn(c),
    chipsColumn('permissions', t.permissions, ({ permissions = [] }) => permissions.map(({ name }) => name)),
    tagsColumn(c),
    updatedColumn(c),
  ],
  list: (api, input, signal) => api.groups({ ...input, relations }, { signal }),
  read: (api, input, signal) => api.group({ ...input, relations }, { signal }),
  isSystem: ({ isSystem }) => isSystem,
  fields: (t, group, c) => [
    nameField(c, group?.name),
    descriptionField(c, group?.description),
    {
      kind: 'rows',
      name: 'permissionIds',
      label: t.permissions,
      hint: t.permissionsHint,
      noun: 'Permission',
      source: permissionChoices,
      initial: group?.permissions?.map(({ id }) => id) ?? [],
    },
    tagsField(c, group?.tags),
    metadataField(c, group?.metadata),
  ],
  create: (api, input) => api.createGroup(formInput<'createGroup'>(input)),
  update: (api, input) => api.updateGroup(formInput<'updateGroup'>(input)),
  remove: (api, input) => api.deleteGroup(input),
  details: ({ metadata }) => <Metadata of={metadata} />,
  hasImpact: true,
  hidesBuiltIn: true,
};

const GroupsPage = () => <EntityPage entity={groups} />;
export default GroupsPage;
