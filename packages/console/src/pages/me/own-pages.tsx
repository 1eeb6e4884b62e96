import { Suspense } from 'react';
import { Link, useParams } from '@tanstack/react-router';
import { NotFound } from '../../frame/notices/not-found.tsx';
import { useLanguage, useTexts, type Texts } from '../../i18n/language.ts';
import { useMe } from '../../scopes/use-scopes.ts';
import { signOut } from '../../session/session.ts';
import '../../styles/own.css';
import { Failure } from '../../scopes/failure.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { ownPages } from './pages.ts';

const navigation: Texts<string> = {
  en: 'Pages about you',
  de: 'Seiten über Sie',
  es: 'Páginas sobre usted',
  fr: 'Pages qui vous concernent',
};

/** Shown instead of the user's own pages if the session came through an organization, because it can't use them. */
const closed: Texts<{ readonly title: string; readonly about: string; readonly signOut: string }> = {
  en: {
    title: 'You came through your organization',
    about:
      'The pages about you need a sign-in by a way of your own, such as your password or a passkey. Sign out to choose it.',
    signOut: 'Sign out',
  },
  de: {
    title: 'Sie sind über Ihre Organisation gekommen',
    about:
      'Die Seiten über Sie verlangen eine Anmeldung auf einem eigenen Weg, etwa mit Ihrem Passwort oder einem Passkey. Melden Sie sich ab, um ihn zu wählen.',
    signOut: 'Abmelden',
  },
  es: {
    title: 'Ha entrado a través de su organización',
    about:
      'Las páginas sobre usted necesitan un inicio de sesión propio, como su contraseña o una llave de acceso. Cierre la sesión para elegirlo.',
    signOut: 'Cerrar sesión',
  },
  fr: {
    title: 'Vous vous êtes connecté par votre organisation',
    about:
      'Les pages qui vous concernent demandent une connexion personnelle, comme votre mot de passe ou une clé d’accès. Déconnectez-vous pour la choisir.',
    signOut: 'Se déconnecter',
  },
};

function Closed() {
  const t = useTexts(closed);
  return (
    <div className="empty">
      <h1>{t.title}</h1>
      <p>{t.about}</p>
      <button type="button" onClick={() => void signOut()}>
        {t.signOut}
      </button>
    </div>
  );
}

export function OwnPages() {
  const { page: name } = useParams({ strict: false });
  const language = useLanguage();
  const label = useTexts(navigation);
  const { data: me, error, refetch } = useMe();
  const page = ownPages.find((other) => other.name === name);
  if (!page) return <NotFound />;
  // Until the user is loaded, it isn't known which calls are allowed. After an error no page is mounted, because it
  // would repeat the call that failed.
  if (!me) return error ? <Failure error={error} onRetry={() => refetch()} /> : <Skeleton />;
  if (me.organizationId !== null) return <Closed />;
  return (
    <>
      <nav className="tabs" aria-label={label}>
        <ul>
          {ownPages.map((other) => (
            <li key={other.name}>
              <Link to="/me/$page" params={{ page: other.name }} activeProps={{ 'aria-current': 'page' }}>
                {other.label[language]}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Suspense fallback={<Skeleton />}>
        <page.Component />
      </Suspense>
    </>
  );
}
