import { useRef } from 'react';
import type { Api } from '@doorward/node/client';
import { useChange } from '../../api/use-api.ts';
import { common } from '../../i18n/common.ts';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { announce } from '../../ui/announcer.tsx';
import { dataAddress } from '../../ui/data-address.ts';
import { ErrorBox } from '../../ui/error-box.tsx';
import { Field } from '../../ui/field.tsx';
import { ownTexts } from './own-texts.ts';

const texts: Texts<{
  readonly title: string;
  readonly choose: string;
  readonly hint: string;
  readonly yours: string;
}> = {
  en: {
    title: 'Picture',
    choose: 'New picture',
    hint: 'JPEG, PNG, WebP or GIF, up to 2 MB. We remove place, time and device from it.',
    yours: 'Your picture',
  },
  de: {
    title: 'Bild',
    choose: 'Neues Bild',
    hint: 'JPEG, PNG, WebP oder GIF, bis 2 MB. Wir entfernen Ort, Zeit und Gerät daraus.',
    yours: 'Ihr Bild',
  },
  es: {
    title: 'Imagen',
    choose: 'Nueva imagen',
    hint: 'JPEG, PNG, WebP o GIF, hasta 2 MB. Quitamos de ella el lugar, la hora y el dispositivo.',
    yours: 'Su imagen',
  },
  fr: {
    title: 'Photo',
    choose: 'Nouvelle photo',
    hint: 'JPEG, PNG, WebP ou GIF, jusqu’à 2 Mo. Nous en retirons le lieu, l’heure et l’appareil.',
    yours: 'Votre photo',
  },
};

/** The picture of the user, a new one, and none. */
export function OwnPicture({ address }: { readonly address: string | null }) {
  const t = useTexts(texts);
  const c = useTexts(common);
  const own = useTexts(ownTexts);
  const input = useRef<HTMLInputElement>(null);
  const change = useChange(async (api: Api, file: File | null): Promise<unknown> =>
    file ? api.uploadMyPicture({ file: await dataAddress(file) }) : api.updateMe({ pictureUrl: null }),
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
    <section>
      <h2>{t.title}</h2>
      <div className="picture">
        {address && <img src={address} alt={t.yours} />}
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
          {own.remove}
        </button>
      )}
      {change.error && <ErrorBox error={change.error} />}
    </section>
  );
}
