import { useState } from 'react';
import type { Api } from '@doorward/node/client';
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useChange } from '../../api/use-api.ts';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { EntityForm, type Refused } from './entity-form.tsx';
import type { Impact, Row } from '../declarations/entity.ts';
import type { FormField, Values } from '../declarations/form-field.ts';

/**
 * The form of an existing row. If only harmless fields changed, the new values are shown immediately. If the service
 * refuses them, the row is restored and the form opens again with the values and the error. This component must stay
 * mounted while the form is closed, because that request may still be running.
 */
export function RowForm({
  noun,
  row,
  title,
  fields,
  save,
  preview,
  proposal,
  isOpen,
  onOpen,
  onClose,
  onSaved = onClose,
  onDiscard = onClose,
}: {
  readonly noun: string;
  readonly row: Row;
  readonly title: string;
  readonly fields: readonly FormField[];
  readonly save: (api: Api, values: Values) => Promise<unknown>;
  readonly preview?: ((api: Api, values: Values) => Promise<Impact>) | undefined;
  readonly proposal?: Values | undefined;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  readonly onSaved?: () => void;
  /** Called after the user has discarded their changes. */
  readonly onDiscard?: () => void;
  readonly onClose: () => void;
}) {
  const c = useTexts(common);
  const queries = useQueryClient();
  const [refused, setRefused] = useState<Refused | null>(null);
  const atOnce = useChange(save, {
    expected: (expectation, values) =>
      expectation.rows<Row>(
        noun,
        ({ id }) => id === row.id,
        (before) => ({ ...before, ...membersOf(before, values, queries) }),
      ),
  });
  if (!isOpen) return null;
  const close = (): void => {
    setRefused(null);
    onClose();
  };
  return (
    <EntityForm
      title={title}
      submitLabel={c.save}
      fields={fields}
      save={save}
      // Keeps the form open until the row has been read again; reopened sooner, it would save old values.
      row={{ noun, id: row.id }}
      preview={preview}
      proposal={proposal}
      refused={refused}
      saveAtOnce={(values) => {
        close();
        atOnce.mutate(values, {
          onError: (error) => {
            setRefused({ values, error });
            onOpen();
          },
        });
      }}
      onDone={() => {
        setRefused(null);
        onSaved();
      }}
      onDiscard={() => {
        setRefused(null);
        onDiscard();
      }}
      onClose={close}
    />
  );
}

/** Returns the form values that the row has too. Tag ids become tags, because the page shows names and colors. */
function membersOf(row: Row, values: Values, queries: QueryClient): Values {
  const { tagIds, ...others } = values;
  const members = Object.fromEntries(Object.entries(others).filter(([name]) => name in row));
  if (!Array.isArray(tagIds) || !('tags' in row)) return members;
  const read = queries
    .getQueriesData<readonly { readonly id: string }[]>({ queryKey: ['Tag'] })
    .flatMap(([, data]) => (Array.isArray(data) ? (data as readonly { readonly id: string }[]) : []));
  const tags = tagIds.flatMap((id) => read.find((tag) => tag.id === id) ?? []);
  return { ...members, tags };
}
