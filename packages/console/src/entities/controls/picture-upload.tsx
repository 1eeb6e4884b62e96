import { useRef } from 'react';
import type { Api } from '@doorward/node/client';
import { useChange } from '../../api/use-api.ts';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import '../../styles/pictures.css';
import { announce } from '../../ui/announcer.tsx';
import { dataAddress } from '../../ui/data-address.ts';
import { ErrorBox } from '../../session/error-box.tsx';
import { Field } from '../../ui/field.tsx';

/** A picture that the service stores; the user can replace or remove it. It is saved as soon as a file is chosen. */
export function PictureUpload({
  address,
  alt = '',
  isSquare = false,
  texts: t,
  save,
}: {
  /** Null: there is none. */
  readonly address: string | null;
  readonly alt?: string;
  /** Shown whole, and not as a circle. */
  readonly isSquare?: boolean;
  readonly texts: { readonly choose: string; readonly hint: string; readonly remove: string };
  /** `file`: a `data:` address; null removes the picture. */
  readonly save: (api: Api, file: string | null) => Promise<unknown>;
}) {
  const c = useTexts(common);
  const input = useRef<HTMLInputElement>(null);
  const change = useChange(async (api: Api, file: File | null): Promise<unknown> =>
    save(api, file && (await dataAddress(file))),
  );
  const send = (file: File | null): void =>
    change.mutate(file, {
      onSuccess: () => announce(c.saved),
      // The same file can be chosen again.
      onSettled: () => {
        if (input.current) input.current.value = '';
      },
    });
  return (
    <>
      <div className={isSquare ? 'picture square' : 'picture'}>
        {address && <img src={address} alt={alt} />}
        <Field label={t.choose} hint={t.hint}>
          {(attributes) => (
            <input
              {...attributes}
              ref={input}
              type="file"
              accept="image/jpeg,image/png,image/webp,image/gif"
              disabled={change.isPending}
              onChange={(event) => {
                const [file] = event.target.files ?? [];
                if (file) send(file);
              }}
            />
          )}
        </Field>
      </div>
      {address && (
        <button type="button" disabled={change.isPending} onClick={() => send(null)}>
          {t.remove}
        </button>
      )}
      {change.error && <ErrorBox error={change.error} />}
    </>
  );
}
