import type { components } from '@doorward/node/client';
import { ConditionTree } from '../../entities/conditions/condition-tree.tsx';
import { descriptionColumn, nameColumn, updatedColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { descriptionField, metadataField } from '../../entities/declarations/fields.ts';
import { formInput, type ChoiceSource, type FormField } from '../../entities/declarations/form-field.ts';
import { Metadata } from './metadata.tsx';
import { permissionTexts, type PermissionTexts } from './permission-texts.ts';
import { tagsColumn, tagsField } from './tag-chip.tsx';

type Permission = components['schemas']['Permission'];

const relations = ['tags' as const];

/** Lists resources with their actions, because a new permission must name one of these actions. */
const resourcesWithActions: ChoiceSource = async (api, input) => {
  const { items } = await api.resources({ ...input, limit: 100, sortField: 'createdAt', sortOrder: 'DESC' });
  return items.map(({ id, slug, actions }) => ({ id, name: `${slug}: ${actions.join(', ')}` }));
};

const whenNew = (row: Permission | null, ...fields: readonly FormField[]): readonly FormField[] =>
  row ? [] : fields;

const permissions: Entity<Permission, PermissionTexts> = {
  noun: 'Permission',
  texts: permissionTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    {
      key: 'allows',
      label: t.allows,
      sortField: 'action',
      text: ({ resource, action }) => `${resource.slug}:${action}`,
      cell: ({ resource, action }) => (
        <code>
          {resource.slug}:{action}
        </code>
      ),
    },
    {
      key: 'condition',
      label: t.condition,
      text: ({ condition }) => (condition ? JSON.stringify(condition) : ''),
      cell: ({ condition }) => <ConditionTree condition={condition} />,
    },
    descriptionColumn(c),
    tagsColumn(c),
    updatedColumn(c),
  ],
  list: (api, input, signal) => api.permissions({ ...input, relations }, { signal }),
  read: (api, input, signal) => api.permission({ ...input, relations }, { signal }),
  isSystem: ({ isSystem }) => isSystem,
  fields: (t, permission, c) => [
    ...whenNew(
      permission,
      {
        kind: 'row',
        name: 'resourceId',
        label: t.resource,
        hint: t.resourceHint,
        noun: 'Resource',
        source: resourcesWithActions,
        isRequired: true,
        initial: null,
      },
      { kind: 'text', name: 'action', label: t.action, hint: t.actionHint, isRequired: true, initial: '' },
    ),
    // If the name is missing, the service uses `resource:action`.
    {
      kind: 'text',
      name: 'name',
      label: c.name,
      ...(permission ? { isRequired: true } : { hint: t.nameHint }),
      initial: permission?.name ?? undefined,
    },
    descriptionField(c, permission?.description),
    {
      kind: 'condition',
      name: 'condition',
      label: t.condition,
      hint: t.conditionHint,
      initial: permission?.condition ?? null,
    },
    tagsField(c, permission?.tags),
    metadataField(c, permission?.metadata),
  ],
  create: (api, { name, ...input }) =>
    api.createPermission(formInput<'createPermission'>({ ...input, ...(name ? { name } : {}) })),
  update: (api, input) => api.updatePermission(formInput<'updatePermission'>(input)),
  remove: (api, input) => api.deletePermission(input),
  details: ({ metadata }) => <Metadata of={metadata} />,
  hasImpact: true,
  hidesBuiltIn: true,
};

const PermissionsPage = () => <EntityPage entity={permissions} />;
export default PermissionsPage;
