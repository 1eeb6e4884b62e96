import type { components } from '@doorward/node/client';
import { chipsColumn, nameColumn, textColumn, updatedColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity, EntityTexts } from '../../entities/declarations/entity.ts';
import { descriptionField, metadataField, nameField } from '../../entities/declarations/fields.ts';
import { formInput } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';
import { aboutRole } from './about-role.ts';
import { groupChoices } from './choices.ts';

type Role = components['schemas']['Role'];

interface RoleTexts extends EntityTexts {
  readonly level: string;
  readonly levels: Readonly<Record<Role['level'], string>>;
  readonly descriptionHint: string;
  readonly groups: string;
  readonly groupsHint: string;
}

const texts: Texts<RoleTexts> = {
  en: {
    title: 'Roles',
    about: 'A role is what you give to a person or a key. It holds groups, and these hold permissions.',
    create: 'New role',
    empty: 'There are no roles yet.',
    removal: 'Whoever has this role loses what it gives.',
    level: 'Level',
    levels: { account: 'account', organization: 'organization', project: 'project' },
    descriptionHint: 'It stands beside the role wherever somebody chooses one.',
    groups: 'Groups',
    groupsHint: 'The permissions of these groups come with the role.',
  },
  de: {
    title: 'Rollen',
    about:
      'Eine Rolle geben Sie einer Person oder einem Schlüssel. Sie enthält Gruppen, und diese enthalten Berechtigungen.',
    create: 'Neue Rolle',
    empty: 'Es gibt noch keine Rollen.',
    removal: 'Wer diese Rolle hat, verliert, was sie gibt.',
    level: 'Ebene',
    levels: { account: 'Konto', organization: 'Organisation', project: 'Projekt' },
    descriptionHint: 'Sie steht neben der Rolle, wo immer jemand eine wählt.',
    groups: 'Gruppen',
    groupsHint: 'Mit der Rolle kommen die Berechtigungen dieser Gruppen.',
  },
  es: {
    title: 'Roles',
    about: 'Un rol se da a una persona o a una clave. Contiene grupos, y estos contienen permisos.',
    create: 'Nuevo rol',
    empty: 'Aún no hay roles.',
    removal: 'Quien tenga este rol pierde lo que da.',
    level: 'Nivel',
    levels: { account: 'cuenta', organization: 'organización', project: 'proyecto' },
    descriptionHint: 'Aparece junto al rol dondequiera que alguien elija uno.',
    groups: 'Grupos',
    groupsHint: 'Con el rol vienen los permisos de estos grupos.',
  },
  fr: {
    title: 'Rôles',
    about:
      'Un rôle se donne à une personne ou à une clé. Il contient des groupes, qui contiennent des permissions.',
    create: 'Nouveau rôle',
    empty: 'Il n’y a pas encore de rôles.',
    removal: 'Quiconque a ce rôle perd ce qu’il donne.',
    level: 'Niveau',
    levels: { account: 'compte', organization: 'organisation', project: 'projet' },
    descriptionHint: 'Elle figure à côté du rôle partout où quelqu’un en choisit un.',
    groups: 'Groupes',
    groupsHint: 'Les permissions de ces groupes viennent avec le rôle.',
  },
};

const roles: Entity<Role, RoleTexts> = {
  noun: 'Role',
  texts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('description', c.description, ({ groups: _, ...role }) => aboutRole(role)),
    textColumn('level', t.level, ({ level }) => t.levels[level]),
    chipsColumn('groups', t.groups, ({ groups = [] }) => groups.map(({ name }) => name)),
    updatedColumn(c),
  ],
  list: (api, input, signal) => api.roles({ ...input, relations: ['groups'] }, { signal }),
  read: (api, input, signal) => api.role({ ...input, relations: ['groups'] }, { signal }),
  isSystem: ({ isSystem }) => isSystem,
  fields: (t, role, c) => [
    nameField(c, role?.name),
    { ...descriptionField(c, role?.description), hint: t.descriptionHint },
    {
      kind: 'rows',
      name: 'groupIds',
      label: t.groups,
      hint: t.groupsHint,
      noun: 'Group',
      source: groupChoices,
      initial: role?.groups?.map(({ id }) => id) ?? [],
    },
    metadataField(c, role?.metadata),
  ],
  create: (api, input) => api.createRole(formInput<'createRole'>(input)),
  update: (api, input) => api.updateRole(formInput<'updateRole'>(input)),
  remove: (api, input) => api.deleteRole(input),
  hasImpact: true,
};

const RolesPage = () => <EntityPage entity={roles} />;
export default RolesPage;
