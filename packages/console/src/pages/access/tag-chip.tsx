import type { components } from '@doorward/node/client';
import type { FormField } from '../../entities/declarations/form-field.ts';
import type { Common } from '../../i18n/common.ts';
import type { Column } from '../../ui/tables/table.tsx';
import { tagChoices } from './choices.ts';

type Tag = Pick<components['schemas']['Tag'], 'id' | 'name' | 'color'>;

/** Shows a color as a dot. SVG takes the color as an attribute, which the content security policy allows. */
export const ColorDot = ({ color }: { readonly color: string }) => (
  <svg className="dot" viewBox="0 0 10 10" aria-hidden="true">
    <circle cx="5" cy="5" r="4.5" fill={color} />
  </svg>
);

const TagChips = ({ tags }: { readonly tags: readonly Tag[] }) =>
  tags.length === 0
    ? '–'
    : tags.map(({ id, name, color }) => (
        <span key={id} className="chip">
          <ColorDot color={color} /> <bdi>{name}</bdi>
        </span>
      ));

/** A list column with the tags of a row. */
export const tagsColumn = <R extends { readonly tags?: readonly Tag[] }>(c: Common): Column<R> => ({
  key: 'tags',
  label: c.tags,
  text: ({ tags = [] }) => tags.map(({ name }) => name).join(', '),
  cell: ({ tags = [] }) => <TagChips tags={tags} />,
});

/** A form field for the tags of a row. It is harmless, because tags don't grant permissions. */
export const tagsField = (c: Common, tags: readonly Tag[] = []): FormField => ({
  kind: 'rows',
  name: 'tagIds',
  label: c.tags,
  noun: 'Tag',
  source: tagChoices,
  isHarmless: true,
  initial: tags.map(({ id }) => id),
});
