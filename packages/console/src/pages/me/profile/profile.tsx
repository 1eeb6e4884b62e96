import { useState } from 'react';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { nameField } from '../../../entities/declarations/fields.ts';
import { common } from '../../../i18n/common.ts';
import { formatDateTime } from '../../../i18n/format.ts';
import { languageNames, languages, useTexts, type Texts } from '../../../i18n/language.ts';
import { useMe } from '../../../scopes/use-scopes.ts';
import { Chip } from '../../../ui/chips.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Time } from '../../../ui/times/time.tsx';
import { ownTexts } from '../parts/own-texts.ts';
import { OwnPicture } from './own-picture.tsx';
import { SendAgain } from '../parts/send-again.tsx';

interface ProfileTexts {
  readonly title: string;
  readonly about: string;
  readonly locale: string;
  readonly asBrowser: string;
  readonly noEmail: string;
  readonly verifyUntil: (time: string) => string;
}

const texts: Texts<ProfileTexts> = {
  en: {
    title: 'Profile',
    about: 'How others see you here, and the language in which we write to you.',
    locale: 'Language of mails',
    asBrowser: 'As the browser',
    noEmail: 'none',
    verifyUntil: (time) => `Verify the address by ${time}.`,
  },
  de: {
    title: 'Profil',
    about: 'Wie andere Sie hier sehen, und die Sprache, in der wir Ihnen schreiben.',
    locale: 'Sprache der Mails',
    asBrowser: 'Wie der Browser',
    noEmail: 'keine',
    verifyUntil: (time) => `Bestätigen Sie die Adresse bis ${time}.`,
  },
  es: {
    title: 'Perfil',
    about: 'Cómo le ven los demás aquí, y el idioma en que le escribimos.',
    locale: 'Idioma de los correos',
    asBrowser: 'Como el navegador',
    noEmail: 'ninguno',
    verifyUntil: (time) => `Verifique la dirección antes del ${time}.`,
  },
  fr: {
    title: 'Profil',
    about: 'Comment les autres vous voient ici, et la langue dans laquelle nous vous écrivons.',
    locale: 'Langue des e-mails',
    asBrowser: 'Comme le navigateur',
    noEmail: 'aucune',
    verifyUntil: (time) => `Vérifiez l’adresse avant le ${time}.`,
  },
};

const BROWSER = 'browser';

const Profile = () => {
  const t = useTexts(texts);
  const own = useTexts(ownTexts);
  const c = useTexts(common);
  const { data, error, refetch } = useMe();
  const [isEditing, setEditing] = useState(false);
  if (!data) return error ? <Failure error={error} onRetry={() => refetch()} /> : <Skeleton />;
  const { user, emailVerified, emailVerificationDeadline } = data;
  return (
    <div className="own">
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
        <button type="button" className="main" onClick={() => setEditing(true)}>
          {c.edit}
        </button>
      </header>
      <section>
        <Facts
          facts={[
            [c.name, <bdi>{user.name}</bdi>],
            [
              c.email,
              user.email === null ? (
                t.noEmail
              ) : (
                <>
                  <bdi>{user.email}</bdi> <Chip>{emailVerified ? own.verified : own.unverified}</Chip>
                  {!emailVerified && (
                    <div>
                      {emailVerificationDeadline && (
                        <p>{t.verifyUntil(formatDateTime(emailVerificationDeadline))}</p>
                      )}
                      <SendAgain email={user.email} />
                    </div>
                  )}
                </>
              ),
            ],
            [t.locale, user.locale === null ? t.asBrowser : languageNames[user.locale]],
            [c.createdAt, <Time iso={user.createdAt} />],
          ]}
        />
      </section>
      <OwnPicture address={user.pictureUrl} />
      {isEditing && (
        <EntityForm
          title={t.title}
          submitLabel={c.save}
          fields={[
            nameField(c, user.name),
            {
              kind: 'option',
              name: 'locale',
              label: t.locale,
              options: [
                { id: BROWSER, name: t.asBrowser },
                ...languages.map((id) => ({ id, name: languageNames[id] })),
              ],
              initial: user.locale ?? BROWSER,
            },
          ]}
          save={(api, { name, locale }) =>
            api.updateMe({
              name: String(name),
              locale: languages.find((language) => language === locale) ?? null,
            })
          }
          onDone={() => setEditing(false)}
          onClose={() => setEditing(false)}
        />
      )}
    </div>
  );
};
export default Profile;
