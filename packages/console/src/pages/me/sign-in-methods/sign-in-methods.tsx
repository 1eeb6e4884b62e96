import { useState } from 'react';
import type { Api, components } from '@doorward/node/client';
import { useRead, type Read } from '../../../api/use-api.ts';
import { EntityForm } from '../../../entities/forms/entity-form.tsx';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import { announce } from '../../../ui/announcer.tsx';
import { Chip } from '../../../ui/chips.tsx';
import { Failure } from '../../../scopes/failure.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { Table } from '../../../ui/tables/table.tsx';
import { Confirmation } from '../parts/confirmation.tsx';
import { ProviderConnections } from './provider-connections.tsx';
import { lastUsedColumn } from '../parts/last-used-column.tsx';
import { ownTexts } from '../parts/own-texts.ts';
import { providerNames } from './provider-names.ts';
import { SendAgain } from '../parts/send-again.tsx';

type Method = components['schemas']['AuthenticationMethod'];

interface MethodTexts {
  readonly title: string;
  readonly about: string;
  readonly way: string;
  readonly state: string;
  readonly primary: string;
  readonly add: string;
  readonly addAbout: string;
  readonly firstPassword: string;
  readonly removal: string;
  readonly removeLabel: (address: string) => string;
}

const texts: Texts<MethodTexts> = {
  en: {
    title: 'Ways to sign in',
    about: 'We write to the address marked “your address”.',
    way: 'Way',
    state: 'State',
    primary: 'your address',
    add: 'Add an e-mail address',
    addAbout: 'You can sign in with it after you have opened the link in the mail that we send there.',
    firstPassword: 'The first password that you have here.',
    removal:
      'You can no longer sign in with it. If it is your address, your oldest other verified address takes its place.',
    removeLabel: (address) => `Remove ${address}`,
  },
  de: {
    title: 'Anmeldewege',
    about: 'Wir schreiben an die Adresse mit der Markierung „Ihre Adresse“.',
    way: 'Weg',
    state: 'Zustand',
    primary: 'Ihre Adresse',
    add: 'E-Mail-Adresse hinzufügen',
    addAbout:
      'Sie können sich damit anmelden, sobald Sie den Link in der Mail geöffnet haben, die wir dorthin senden.',
    firstPassword: 'Ihr erstes Passwort hier.',
    removal:
      'Sie können sich damit nicht mehr anmelden. Ist es Ihre Adresse, tritt Ihre älteste andere bestätigte Adresse an ihre Stelle.',
    removeLabel: (address) => `${address} entfernen`,
  },
  es: {
    title: 'Formas de iniciar sesión',
    about: 'Le escribimos a la dirección marcada como «su dirección».',
    way: 'Forma',
    state: 'Estado',
    primary: 'su dirección',
    add: 'Añadir un correo electrónico',
    addAbout: 'Podrá iniciar sesión con él cuando abra el enlace del correo que le enviaremos allí.',
    firstPassword: 'Su primera contraseña aquí.',
    removal:
      'Ya no podrá iniciar sesión con ella. Si es su dirección, la sustituye la más antigua de sus otras direcciones verificadas.',
    removeLabel: (address) => `Quitar ${address}`,
  },
  fr: {
    title: 'Moyens de connexion',
    about: 'Nous écrivons à l’adresse marquée « votre adresse ».',
    way: 'Moyen',
    state: 'État',
    primary: 'votre adresse',
    add: 'Ajouter une adresse e-mail',
    addAbout:
      'Vous pourrez vous connecter avec elle après avoir ouvert le lien de l’e-mail que nous y envoyons.',
    firstPassword: 'Votre premier mot de passe ici.',
    removal:
      'Vous ne pourrez plus vous connecter avec. Si c’est votre adresse, la plus ancienne autre adresse vérifiée la remplace.',
    removeLabel: (address) => `Retirer ${address}`,
  },
};

/** Reads all sign-in methods of the user. There are at most five, so one page contains them all. */
export const readMethods: Read<readonly Method[]> = (api, signal) =>
  api.myAuthenticationMethods({ limit: 100 }, { signal }).then(({ items }) => items);

export function SignInMethods() {
  const t = useTexts(texts);
  const own = useTexts(ownTexts);
  const providers = useTexts(providerNames);
  const { data, error, refetch } = useRead(['AuthenticationMethod', 'mine'], readMethods);
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Method | null>(null);
  const hasPassword = data?.some(({ provider }) => provider === 'email') ?? true;
  return (
    <section>
      <h2>{t.title}</h2>
      <p>{t.about}</p>
      {error && <Failure error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton rows={2} />}
      {data && (
        <Table
          label={t.title}
          rows={data}
          columns={[
            {
              key: 'way',
              label: t.way,
              cell: ({ provider, providerKey, label }) => (
                <>
                  {providerKey ?? providers[provider] ?? provider}: <bdi>{label}</bdi>
                </>
              ),
            },
            {
              key: 'state',
              label: t.state,
              cell: ({ isVerified, isPrimary, provider, label }) => (
                <>
                  <Chip>{isVerified ? own.verified : own.unverified}</Chip>
                  {isPrimary && <Chip>{t.primary}</Chip>}
                  {!isVerified && provider === 'email' && <SendAgain email={label} />}
                </>
              ),
            },
            lastUsedColumn(own),
            {
              key: 'remove',
              label: own.remove,
              cell: (method) =>
                data.length > 1 && (
                  <button
                    type="button"
                    className="quiet"
                    aria-label={t.removeLabel(method.label)}
                    onClick={() => setRemoved(method)}
                  >
                    {own.remove}
                  </button>
                ),
            },
          ]}
        />
      )}
      <div className="buttons">
        <button type="button" onClick={() => setAdding(true)}>
          {t.add}
        </button>
        <ProviderConnections />
      </div>
      {isAdding && (
        <EntityForm
          title={t.add}
          about={t.addAbout}
          submitLabel={t.add}
          fields={[
            { kind: 'email', name: 'providerId', label: own.email, isRequired: true, initial: '' },
            ...(hasPassword
              ? []
              : [
                  {
                    kind: 'password' as const,
                    name: 'providerData',
                    label: own.password,
                    hint: t.firstPassword,
                    isRequired: true,
                    initial: '',
                  },
                ]),
          ]}
          save={(api: Api, { providerId, providerData }) =>
            api.addMyAuthenticationMethod({
              provider: 'email',
              providerId: String(providerId).trim(),
              ...(hasPassword ? {} : { providerData: { password: String(providerData) } }),
            })
          }
          onDone={() => {
            setAdding(false);
            announce(own.mailSent);
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {removed && (
        <Confirmation
          title={t.removeLabel(removed.label)}
          consequence={t.removal}
          submitLabel={own.remove}
          act={(api) => api.removeMyAuthenticationMethod({ id: removed.id })}
          onClose={() => setRemoved(null)}
        />
      )}
    </section>
  );
}
