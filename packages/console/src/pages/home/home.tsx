import { lazy, Suspense, useState } from 'react';
import { Link, Navigate } from '@tanstack/react-router';
import { useTexts, type Texts } from '../../i18n/language.ts';
import { frameTexts } from '../../frame/texts/frame-texts.ts';
import { readSetting } from '../../settings.ts';
import { isSameScope, keyOf, scopeOf } from '../../scopes/scope.ts';
import { useScopes, type NamedScope } from '../../scopes/use-scopes.ts';
import { Failure } from '../../scopes/failure.tsx';
import { Skeleton } from '../../ui/states.tsx';

const texts: Texts<{
  readonly title: string;
  readonly about: string;
  readonly projects: string;
  readonly owners: string;
  readonly create: string;
}> = {
  en: {
    title: 'Where do you want to go?',
    about:
      'Everything you belong to. Users, roles and keys live in projects; projects belong to an account or organization.',
    projects: 'Projects',
    owners: 'Accounts and organizations',
    create: 'New organization',
  },
  de: {
    title: 'Wohin möchten Sie?',
    about:
      'Alles, wozu Sie gehören. Personen, Rollen und Schlüssel leben in Projekten; Projekte gehören einem Konto oder einer Organisation.',
    projects: 'Projekte',
    owners: 'Konten und Organisationen',
    create: 'Neue Organisation',
  },
  es: {
    title: '¿Adónde quiere ir?',
    about:
      'Todo a lo que pertenece. Los usuarios, roles y claves viven en proyectos; los proyectos pertenecen a una cuenta u organización.',
    projects: 'Proyectos',
    owners: 'Cuentas y organizaciones',
    create: 'Nueva organización',
  },
  fr: {
    title: 'Où voulez-vous aller ?',
    about:
      'Tout ce à quoi vous appartenez. Les utilisateurs, rôles et clés vivent dans des projets ; les projets appartiennent à un compte ou une organisation.',
    projects: 'Projets',
    owners: 'Comptes et organisations',
    create: 'Nouvelle organisation',
  },
};

const NewOrganization = lazy(() => import('../tenants/new-organization.tsx'));

/** Lists all scopes of the user. When the console is opened, it redirects to the last scope instead. */
export function Home() {
  const t = useTexts(texts);
  const f = useTexts(frameTexts);
  const last = takeLastScope();
  const near = useScopes(f, last);
  const found = last && near.scopes.find(({ scope }) => isSameScope(scope, last));
  const isOpening = last !== null && (found !== undefined || near.isLoading);
  const { scopes, isLoading, error, refetch } = useScopes(f, isOpening ? null : undefined);
  const projects = scopes.filter(({ owner }) => owner !== null);
  const owners = scopes.filter(({ owner }) => owner === null);
  const account = owners.find(({ scope }) => scope.tenant === 'account')?.scope.id;
  const [isCreating, setCreating] = useState(false);
  if (found)
    return <Navigate to="/$tenant/$id/$page" params={{ ...found.scope, page: 'overview' }} replace />;
  if (isOpening) return <Skeleton />;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p>{t.about}</p>
        </div>
        {account && (
          <button type="button" onClick={() => setCreating(true)}>
            {t.create}
          </button>
        )}
      </header>
      {account && isCreating && (
        <Suspense fallback={null}>
          <NewOrganization accountId={account} onClose={() => setCreating(false)} />
        </Suspense>
      )}
      {error && <Failure error={error} onRetry={refetch} />}
      {isLoading && scopes.length === 0 && <Skeleton />}
      {projects.length > 0 && <ScopeList title={t.projects} scopes={projects} />}
      {owners.length > 0 && <ScopeList title={t.owners} scopes={owners} />}
    </>
  );
}

/** Only the first view redirects to the last scope. After a click or a step in the history the user wants the list. */
let isFirst = true;
function takeLastScope() {
  if (!isFirst) return null;
  const [tenant = '', id = ''] = (readSetting('scope') ?? '').split('/');
  return scopeOf(tenant, id);
}
addEventListener('popstate', () => {
  isFirst = false;
});
// Captures the click before the link handles it, because the router may show this page before the event has ended.
addEventListener(
  'click',
  () => {
    isFirst = false;
  },
  { capture: true },
);

function ScopeList({ title, scopes }: { readonly title: string; readonly scopes: readonly NamedScope[] }) {
  return (
    <section>
      <h2>{title}</h2>
      <ul className="cards">
        {scopes.map(({ scope, name, owner }) => (
          <li key={keyOf(scope)}>
            <Link to="/$tenant/$id/$page" params={{ ...scope, page: 'overview' }}>
              <strong>
                <bdi>{name}</bdi>
              </strong>
              {owner && <small>{owner}</small>}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
