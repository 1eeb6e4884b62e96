import type { components } from '@doorward/node/client';
import { chipsColumn, nameColumn, textColumn, updatedColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity, EntityTexts } from '../../entities/declarations/entity.ts';
import { metadataField, nameField } from '../../entities/declarations/fields.ts';
import { formInput } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';
import { roleChoices } from '../access/choices.ts';
import { MayDoLink } from '../subjects/may-do-link.tsx';

type User = components['schemas']['User'];

interface UserTexts extends EntityTexts {
  readonly statuses: Readonly<Record<User['status'], string>>;
  readonly roles: string;
  readonly rolesHint: string;
  readonly managed: string;
}

const texts: Texts<UserTexts> = {
  en: {
    title: 'Users',
    about: 'The people of this project, each with their roles here.',
    create: 'New managed user',
    empty: 'Nobody belongs to this project yet.',
    removal: 'They leave this project and lose their roles here. Keys that act for them end.',
    statuses: { active: 'active', disabled: 'disabled', suspended: 'suspended' },
    roles: 'Roles',
    rolesHint: 'What the person may do here.',
    managed: 'managed',
  },
  de: {
    title: 'Personen',
    about: 'Wer zu diesem Projekt gehört, mit den Rollen hier.',
    create: 'Neue verwaltete Person',
    empty: 'Noch gehört niemand zu diesem Projekt.',
    removal:
      'Die Person verlässt das Projekt und verliert ihre Rollen hier. Schlüssel, die für sie handeln, enden.',
    statuses: { active: 'aktiv', disabled: 'gesperrt', suspended: 'vom Betreiber gesperrt' },
    roles: 'Rollen',
    rolesHint: 'Was die Person hier darf.',
    managed: 'verwaltet',
  },
  es: {
    title: 'Usuarios',
    about: 'Las personas de este proyecto, con sus roles aquí.',
    create: 'Nuevo usuario administrado',
    empty: 'Nadie pertenece aún a este proyecto.',
    removal: 'La persona deja el proyecto y pierde sus roles aquí. Las claves que actúan por ella terminan.',
    statuses: { active: 'activo', disabled: 'desactivado', suspended: 'suspendido' },
    roles: 'Roles',
    rolesHint: 'Lo que la persona puede hacer aquí.',
    managed: 'administrado',
  },
  fr: {
    title: 'Utilisateurs',
    about: 'Les personnes de ce projet, avec leurs rôles ici.',
    create: 'Nouvel utilisateur géré',
    empty: 'Personne n’appartient encore à ce projet.',
    removal:
      'La personne quitte le projet et perd ses rôles ici. Les clés qui agissent pour elle prennent fin.',
    statuses: { active: 'actif', disabled: 'désactivé', suspended: 'suspendu' },
    roles: 'Rôles',
    rolesHint: 'Ce que la personne peut faire ici.',
    managed: 'géré',
  },
};

const users: Entity<User, UserTexts> = {
  noun: 'User',
  texts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('email', c.email, ({ email }) => email),
    textColumn('status', c.status, ({ status, isManaged }) =>
      isManaged ? `${t.statuses[status]}, ${t.managed}` : t.statuses[status],
    ),
    chipsColumn('roles', t.roles, ({ roles = [] }) => roles.map(({ name }) => name)),
    updatedColumn({ ...c, updatedAt: c.profileChangedAt }),
  ],
  list: (api, input, signal) => api.users({ ...input, relations: ['roles'] }, { signal }),
  read: (api, input, signal) => api.user({ ...input, relations: ['roles'] }, { signal }),
  fields: (t, user, c) => [
    nameField(c, user?.name),
    {
      kind: 'rows',
      name: 'roleIds',
      label: t.roles,
      hint: t.rolesHint,
      noun: 'Role',
      source: roleChoices,
      initial: user?.roles?.map(({ id }) => id) ?? [],
    },
    metadataField(c, user?.metadata),
  ],
  create: (api, input) => api.createUser(formInput<'createUser'>(input)),
  update: (api, input) => api.updateUser(formInput<'updateUser'>(input)),
  remove: (api, input) => api.deleteUser(input),
  hasImpact: true,
  actions: ({ id }) => <MayDoLink userId={id} />,
};

const UsersPage = () => <EntityPage entity={users} />;
export default UsersPage;
