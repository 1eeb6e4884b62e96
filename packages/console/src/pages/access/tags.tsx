import type { components } from '@doorward/node/client';
import { nameColumn, updatedColumn } from '../../entities/tables/columns.tsx';
import { EntityPage } from '../../entities/entity-page.tsx';
import type { Entity, EntityTexts } from '../../entities/declarations/entity.ts';
import { metadataField, nameField } from '../../entities/declarations/fields.ts';
import { formInput } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';
import { Metadata } from './metadata.tsx';
import { ColorDot } from './tag-chip.tsx';

type Tag = components['schemas']['Tag'];

interface TagTexts extends EntityTexts {
  readonly color: string;
  readonly colorHint: string;
}

const texts: Texts<TagTexts> = {
  en: {
    title: 'Tags',
    about: 'A tag is a coloured label. It helps to find rows, and gives no rights.',
    create: 'New tag',
    empty: 'There are no tags yet. A tag is a label for what belongs together.',
    removal: 'The tag disappears from everything that carries it.',
    color: 'Colour',
    colorHint: 'A name such as teal, or # and six digits such as #1f3a5f.',
  },
  de: {
    title: 'Tags',
    about: 'Ein Tag ist ein farbiges Etikett. Es hilft beim Finden und gibt keine Rechte.',
    create: 'Neues Tag',
    empty: 'Es gibt noch keine Tags. Ein Tag ist ein Etikett für das, was zusammengehört.',
    removal: 'Das Tag verschwindet von allem, was es trägt.',
    color: 'Farbe',
    colorHint: 'Ein englischer Name wie teal, oder # und sechs Ziffern wie #1f3a5f.',
  },
  es: {
    title: 'Etiquetas',
    about: 'Una etiqueta de color ayuda a encontrar lo que va junto y no da permisos.',
    create: 'Nueva etiqueta',
    empty: 'Aún no hay etiquetas. Una etiqueta señala lo que va junto.',
    removal: 'La etiqueta desaparece de todo lo que la lleva.',
    color: 'Color',
    colorHint: 'Un nombre en inglés como teal, o # y seis cifras como #1f3a5f.',
  },
  fr: {
    title: 'Étiquettes',
    about: 'Une étiquette de couleur aide à retrouver ce qui va ensemble et ne donne aucun droit.',
    create: 'Nouvelle étiquette',
    empty: 'Il n’y a pas encore d’étiquettes. Une étiquette marque ce qui va ensemble.',
    removal: 'L’étiquette disparaît de tout ce qui la porte.',
    color: 'Couleur',
    colorHint: 'Un nom anglais comme teal, ou # et six chiffres comme #1f3a5f.',
  },
};

/** Color names that all browsers support. */
const colors = [
  'gray',
  'red',
  'orange',
  'gold',
  'green',
  'teal',
  'blue',
  'navy',
  'purple',
  'pink',
  'brown',
  'black',
];

const tags: Entity<Tag, TagTexts> = {
  noun: 'Tag',
  texts,
  name: ({ name }) => name,
  columns: (t, c) => [
    nameColumn(c),
    {
      key: 'color',
      label: t.color,
      sortField: 'color',
      text: ({ color }) => color,
      cell: ({ color }) => (
        <>
          <ColorDot color={color} /> {color}
        </>
      ),
    },
    updatedColumn(c),
  ],
  list: (api, input, signal) => api.tags(input, { signal }),
  read: (api, input, signal) => api.tag(input, { signal }),
  fields: (t, tag, c) => [
    { ...nameField(c, tag?.name), isHarmless: true },
    {
      kind: 'text',
      name: 'color',
      label: t.color,
      hint: t.colorHint,
      suggestions: colors,
      isRequired: true,
      isHarmless: true,
      initial: tag?.color ?? 'gray',
    },
    { ...metadataField(c, tag?.metadata), isHarmless: true },
  ],
  create: (api, input) => api.createTag(formInput<'createTag'>(input)),
  update: (api, input) => api.updateTag(input),
  remove: (api, input) => api.deleteTag(input),
  details: ({ metadata }) => <Metadata of={metadata} />,
};

const TagsPage = () => <EntityPage entity={tags} />;
export default TagsPage;
