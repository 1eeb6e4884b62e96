import { PictureUpload } from '../../../entities/controls/picture-upload.tsx';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import { ownTexts } from '../parts/own-texts.ts';

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

/** Lets the user upload, replace and remove their picture. */
export function OwnPicture({ address }: { readonly address: string | null }) {
  const t = useTexts(texts);
  const own = useTexts(ownTexts);
  return (
    <section>
      <h2>{t.title}</h2>
      <PictureUpload
        address={address}
        alt={t.yours}
        texts={{ choose: t.choose, hint: t.hint, remove: own.remove }}
        save={(api, file) =>
          file === null ? api.updateMe({ pictureUrl: null }) : api.uploadMyPicture({ file })
        }
      />
    </section>
  );
}
