import { useState } from 'react';
import type { Api } from '@doorward/node/client';
import { EntityForm } from '../../entities/forms/entity-form.tsx';
import { targetOf, type Target } from '../../entities/declarations/entity.ts';
import type { FormField, Values } from '../../entities/declarations/form-field.ts';
import { useScope } from '../../scopes/use-scope.ts';
import { SecretDialog } from '../../ui/dialogs/secret-dialog.tsx';

/** A button for an operation on a row. A form confirms the operation, and a secret in its result is shown once. */
export function RowAction<A>({
  label,
  name,
  about,
  fields = [],
  isDangerous = false,
  isMain = false,
  save,
  secretOf,
  secretTitle,
  nameOf,
}: {
  readonly label: string;
  /** The name of the row, for the titles of the form and the secret. */
  readonly name: string;
  readonly about: string;
  readonly fields?: readonly FormField[];
  readonly isDangerous?: boolean;
  readonly isMain?: boolean;
  readonly save: (api: Api, input: Target & Values) => Promise<A>;
  readonly secretOf?: (answer: A) => string | null;
  /** The title above the secret. */
  readonly secretTitle?: string;
  /** Returns the name shown with the secret, if it isn't the name of the row. */
  readonly nameOf?: (answer: A) => string;
}) {
  const scope = useScope();
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState<{ readonly name: string; readonly secret: string } | null>(null);
  return (
    <>
      <button
        type="button"
        className={isDangerous ? 'bad' : isMain ? 'main' : ''}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {isOpen && (
        <EntityForm
          title={`${label}: ${name}`}
          about={about}
          fields={fields}
          submitLabel={label}
          isDangerous={isDangerous}
          save={(api, values) => save(api, { ...targetOf(scope), ...values })}
          onDone={(answer) => {
            setOpen(false);
            const secret = secretOf?.(answer) ?? null;
            setShown(secret === null ? null : { secret, name: nameOf?.(answer) ?? name });
          }}
          onClose={() => setOpen(false)}
        />
      )}
      {shown && <SecretDialog {...shown} title={secretTitle} onClose={() => setShown(null)} />}
    </>
  );
}
