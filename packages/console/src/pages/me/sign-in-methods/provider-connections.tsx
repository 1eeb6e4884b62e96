import { useSearch } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { useRead, type Read } from '../../../api/use-api.ts';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import { askFor } from '../../../session/demands.ts';
import { serviceUrl } from '../../../session/session.ts';

interface ProviderTexts {
  readonly connect: (provider: string) => string;
  readonly failed: string;
  readonly stepUp: string;
  readonly linked: string;
  readonly declined: string;
  readonly unverified: string;
  readonly confirm: string;
}

const texts: Texts<ProviderTexts> = {
  en: {
    connect: (provider) => `Connect ${provider}`,
    failed: 'The account was not connected. Try again later.',
    stepUp: 'To connect an account, confirm first that it is you.',
    linked: 'The account or its address belongs to another user here.',
    declined: 'The account was not connected, because you declined.',
    unverified: 'The account has no verified e-mail address.',
    confirm: 'Confirm that it is you',
  },
  de: {
    connect: (provider) => `${provider} verbinden`,
    failed: 'Das Konto wurde nicht verbunden. Versuchen Sie es später noch einmal.',
    stepUp: 'Um ein Konto zu verbinden, bestätigen Sie erst, dass Sie es sind.',
    linked: 'Das Konto oder seine Adresse gehört hier zu jemand anderem.',
    declined: 'Das Konto wurde nicht verbunden, weil Sie abgelehnt haben.',
    unverified: 'Das Konto hat keine bestätigte E-Mail-Adresse.',
    confirm: 'Bestätigen, dass Sie es sind',
  },
  es: {
    connect: (provider) => `Conectar ${provider}`,
    failed: 'La cuenta no se conectó. Inténtelo más tarde.',
    stepUp: 'Para conectar una cuenta, confirme antes que es usted.',
    linked: 'La cuenta o su dirección pertenece aquí a otra persona.',
    declined: 'La cuenta no se conectó porque usted lo rechazó.',
    unverified: 'La cuenta no tiene una dirección de correo verificada.',
    confirm: 'Confirmar que es usted',
  },
  fr: {
    connect: (provider) => `Associer un compte ${provider}`,
    failed: 'Le compte n’a pas été associé. Réessayez plus tard.',
    stepUp: 'Pour associer un compte, confirmez d’abord que c’est vous.',
    linked: 'Le compte ou son adresse appartient ici à une autre personne.',
    declined: 'Le compte n’a pas été associé, car vous avez refusé.',
    unverified: 'Le compte n’a pas d’adresse e-mail vérifiée.',
    confirm: 'Confirmer que c’est vous',
  },
};

/** Sends the browser to the provider, which redirects it back to this page. */
function connect(key: string): void {
  const here = `${location.origin}${location.pathname}`;
  const start = `${serviceUrl}/api/auth/${key === 'github' ? 'github' : `providers/${key}`}`;
  location.assign(`${start}?${new URLSearchParams({ action: 'connect', redirect: here }).toString()}`);
}

const readProviders: Read<readonly components['schemas']['SignInProvider'][]> = (api, signal) =>
  api.signInProviders({}, { signal }).then(({ items }) => items);

/** Buttons that connect an account of a provider, and the error of the last attempt. */
export function ProviderConnections() {
  const t = useTexts(texts);
  const { error } = useSearch({ strict: false });
  const { data } = useRead(['SignInProvider'], readProviders);
  if (!data || data.length === 0) return null;
  const notices: Readonly<Record<string, string>> = {
    stepUpRequired: t.stepUp,
    alreadyLinked: t.linked,
    accessDenied: t.declined,
    emailNotVerified: t.unverified,
  };
  return (
    <>
      {data.map(({ key, name }) => (
        <button key={key} type="button" onClick={() => connect(key)}>
          {t.connect(name)}
        </button>
      ))}
      {error !== undefined && (
        <p className="problem" role="alert">
          {notices[error] ?? t.failed}
        </p>
      )}
      {error === 'stepUpRequired' && (
        <button type="button" onClick={() => void askFor('STEP_UP_REQUIRED')}>
          {t.confirm}
        </button>
      )}
    </>
  );
}
