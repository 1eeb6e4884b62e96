import { useRef } from 'react';
import type { Api } from '@doorward/node/client';
import { useChange } from '../../api/use-api.ts';
import { common } from '../../i18n/common.ts';
import { useTexts } from '../../i18n/language.ts';
import '../../styles/pictures.css';
import { announce } from '../../ui/announcer.tsx';
import { dataUrl } from '../../ui/data-url.ts';
import { ErrorBox } from '../../session/error-box.tsx';
import { Field } from '../../ui/field.tsx';

/** Shows a stored picture, and lets the user replace or remove it. A chosen file is saved immediately. */
export function PictureUpload({
  address,
  alt = '',
  isSquare = false,
  texts: t,
  save,
}: {
  /** The URL of the picture; null if there is none. */
  readonly address: string | null;
  readonly alt?: string;
  /** Whether the picture is shown as a whole instead of being cropped to a circle. */
  readonly isSquare?: boolean;
  readonly texts: { readonly choose: string; readonly hint: string; readonly remove: string };
  /** Saves the picture. `file` is a `data:` URL, or null to remove the picture. */
  readonly save: (api: Api, file: string | null) => Promise<unknown>;
}) {
  const c = useTexts(common);
  const input = useRef<HTMLInputElement>(null);
  const change = useChange(async (api: Api, file: File | null): Promise<unknown> =>
    save(api, file && (await dataUrl(file))),
  );
  const send = (file: File | null): void =>
    change.mutate(file, {
      onSuccess: () => announce(c.saved),
      // Clears the input, so that the same file can be chosen again.
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
