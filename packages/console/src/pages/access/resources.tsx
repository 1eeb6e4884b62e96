import type { components } from '@doorward/node/client';
import { chipsColumn, nameColumn, textColumn, updatedColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity } from '../../entities/declarations/entity.ts';
import { descriptionField, metadataField, nameField } from '../../entities/declarations/fields.ts';
import { formInput, type FormField } from '../../entities/declarations/form-field.ts';
import { isProject } from '../../scopes/scope.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { Metadata } from './metadata.tsx';
import { resourceTexts, type ResourceTexts } from './resource-texts.ts';
import { tagsColumn, tagsField } from './tag-chip.tsx';

type Resource = components['schemas']['Resource'];

const relations = ['tags' as const];

/** The resources of an organization: only built-in ones, which can't be changed. Projects define their own. */
const shown: Entity<Resource, ResourceTexts> = {
  noun: 'Resource',
  texts: resourceTexts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    textColumn('slug', t.slug, ({ slug }) => slug, {
      sortField: 'slug',
      cell: ({ slug }) => <code>{slug}</code>,
    }),
    chipsColumn('actions', t.actions, ({ actions }) => actions, { isCode: true }),
    { key: 'isActive', label: t.state, cell: ({ isActive }) => (isActive ? t.active : t.inactive) },
    tagsColumn(c),
    updatedColumn(c),
  ],
  list: (api, input, signal) => api.resources({ ...input, relations }, { signal }),
  read: (api, input, signal) => api.resource({ ...input, relations }, { signal }),
  isSystem: ({ isSystem }) => isSystem,
  details: ({ metadata }) => <Metadata of={metadata} />,
};

const whenNew = (row: Resource | null, ...fields: readonly FormField[]): readonly FormField[] =>
  row ? [] : fields;

const own: Entity<Resource, ResourceTexts> = {
  ...shown,
  fields: (t, resource, c) => [
    { ...nameField(c, resource?.name), isHarmless: true },
    ...whenNew(resource, {
      kind: 'text',
      name: 'slug',
      label: t.slug,
      hint: t.slugHint,
      isRequired: true,
      initial: '',
    }),
    descriptionField(c, resource?.description),
    {
      kind: 'lines',
      name: 'actions',
      label: t.actions,
      hint: t.actionsHint,
      isRequired: true,
      initial: resource?.actions ?? ['create', 'read', 'update', 'delete'],
    },
    ...whenNew(resource, {
      kind: 'switch',
      name: 'createPermissions',
      label: t.createPermissions,
      hint: t.createPermissionsHint,
      initial: true,
    }),
    {
      kind: 'switch',
      name: 'isActive',
      label: t.active,
      hint: t.activeHint,
      initial: resource?.isActive ?? true,
    },
    tagsField(c, resource?.tags),
    metadataField(c, resource?.metadata),
  ],
  create: (api, input) => api.createResource(formInput<'createResource'>(input)),
  update: (api, input) => api.updateResource(input),
  remove: (api, input) => api.deleteResource(input),
  hidesBuiltIn: true,
};

function ResourcesPage() {
  const scope = useScope();
  return <EntityPage entity={isProject(scope) ? own : shown} />;
}
export default ResourcesPage;
