import { useState } from 'react';
import type { Api } from '@doorward/node/client';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { SecretDialog } from '../../ui/dialogs/secret-dialog.tsx';
import { EntityForm } from './entity-form.tsx';
import { targetOf, type Entity, type EntityTexts, type Impact, type Row } from '../declarations/entity.ts';
import type { Values } from '../declarations/form-field.ts';

/** The form of a new row, and the dialog with its secret. Stays mounted when the form closes, to show the secret. */
export function NewRow<R extends Row, T extends EntityTexts>({
  entity,
  isOpen,
  onClose,
}: {
  readonly entity: Entity<R, T>;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const t = useTexts(entity.texts);
  const c = useTexts(common);
  const target = targetOf(useScope());
  const [secret, setSecret] = useState<{ readonly name: string; readonly text: string } | null>(null);
  const { create } = entity;
  return (
    <>
      {isOpen && entity.createForm?.(onClose)}
      {isOpen && create && (
        <EntityForm
          title={t.create}
          submitLabel={c.create}
          fields={entity.fields?.(t, null, c) ?? []}
          save={(api: Api, values: Values) => create(api, { ...target, ...values })}
          preview={
            entity.hasImpact
              ? async (api, values) => {
                  const answer: unknown = await create(api, { ...target, ...values, dryRun: true });
                  return answer as Impact;
                }
              : undefined
          }
          onDone={(answer) => {
            onClose();
            const text = entity.secretOf?.(answer);
            if (text) setSecret({ name: entity.name(answer as R), text });
          }}
          onClose={onClose}
        />
      )}
      {secret && (
        <SecretDialog
          title={entity.secretTitle?.(t)}
          name={secret.name}
          secret={secret.text}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  );
}
