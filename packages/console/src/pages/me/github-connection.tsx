import { useSearch } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { askFor } from '../../session/demands.ts';
import { client, serviceUrl } from '../../session/session.ts';

interface GithubTexts {
  readonly connect: string;
  readonly failed: string;
  readonly stepUp: string;
  readonly linked: string;
  readonly declined: string;
  readonly confirm: string;
}

const texts: Texts<GithubTexts> = {
  en: {
    connect: 'Connect GitHub',
    failed: 'GitHub was not connected. Try again later.',
    stepUp: 'To connect GitHub, confirm first that it is you.',
    linked: 'This GitHub account belongs to another user here.',
    declined: 'GitHub was not connected, because you declined.',
    confirm: 'Confirm and connect',
  },
  de: {
    connect: 'GitHub verbinden',
    failed: 'GitHub wurde nicht verbunden. Versuchen Sie es später noch einmal.',
    stepUp: 'Um GitHub zu verbinden, bestätigen Sie erst, dass Sie es sind.',
    linked: 'Dieses GitHub-Konto gehört hier zu jemand anderem.',
    declined: 'GitHub wurde nicht verbunden, weil Sie abgelehnt haben.',
    confirm: 'Bestätigen und verbinden',
  },
  es: {
    connect: 'Conectar GitHub',
    failed: 'GitHub no se conectó. Inténtelo más tarde.',
    stepUp: 'Para conectar GitHub, confirme antes que es usted.',
    linked: 'Esta cuenta de GitHub pertenece aquí a otra persona.',
    declined: 'GitHub no se conectó porque usted lo rechazó.',
    confirm: 'Confirmar y conectar',
  },
  fr: {
    connect: 'Connecter GitHub',
    failed: 'GitHub n’a pas été connecté. Réessayez plus tard.',
    stepUp: 'Pour connecter GitHub, confirmez d’abord que c’est vous.',
    linked: 'Ce compte GitHub appartient ici à une autre personne.',
    declined: 'GitHub n’a pas été connecté, car vous avez refusé.',
    confirm: 'Confirmer et connecter',
  },
};

const start = `${serviceUrl}/api/auth/github`;

/**
 * Whether the installation offers GitHub, which only the start of a sign-in tells: with a foreign address to return to it
 * begins nothing, and refuses the address or, before that, the provider.
 */
async function isOffered(): Promise<boolean> {
  const { error } = await client().http.GET('/api/auth/github', {
    params: { query: { redirect: 'https://nowhere.invalid/' } },
  });
  return error?.code === 'INVALID_REDIRECT_URI';
}

/** Leaves for GitHub, which leads back here. */
const connect = (): void => {
  const here = `${location.origin}${location.pathname}`;
  location.assign(`${start}?${new URLSearchParams({ action: 'connect', redirect: here }).toString()}`);
};

/** The way to GitHub, and what it says on the way back; nothing in an installation without it. */
export function GithubConnection() {
  const t = useTexts(texts);
  const { error } = useSearch({ strict: false });
  const { data } = useQuery({ queryKey: ['GithubConnection'], queryFn: isOffered, staleTime: 'static' });
  if (!data) return null;
  const notices: Readonly<Record<string, string>> = {
    stepUpRequired: t.stepUp,
    alreadyLinked: t.linked,
    accessDenied: t.declined,
  };
  return (
    <>
      {error === 'stepUpRequired' ? (
        <button
          type="button"
          onClick={() => void askFor('STEP_UP_REQUIRED').then((isSatisfied) => isSatisfied && connect())}
        >
          {t.confirm}
        </button>
      ) : (
        <button type="button" onClick={connect}>
          {t.connect}
        </button>
      )}
      {error !== undefined && (
        <p className="problem" role="alert">
          {notices[error] ?? t.failed}
        </p>
      )}
    </>
  );
}
