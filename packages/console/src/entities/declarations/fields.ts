import type { Common } from '../../i18n/common.ts';
import type { FormField } from './form-field.ts';

/* Fields that many forms have. */

export const nameField = (c: Common, name = ''): FormField => ({
  kind: 'text',
  name: 'name',
  label: c.name,
  isRequired: true,
  initial: name,
});

export const descriptionField = (c: Common, description: string | null = null): FormField => ({
  kind: 'textarea',
  name: 'description',
  label: c.description,
  isNullable: true,
  isHarmless: true,
  initial: description,
});

export const metadataField = (c: Common, metadata: unknown = {}): FormField => ({
  kind: 'json',
  name: 'metadata',
  label: c.metadata,
  initial: metadata,
});
