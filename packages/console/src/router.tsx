import { Suspense, useMemo } from 'react';
import {
  createRootRoute,
  createRoute,
  createRouter,
  Navigate,
  Outlet,
  useParams,
} from '@tanstack/react-router';
import { Frame } from './frame/frame.tsx';
import { NotFound } from './frame/notices/not-found.tsx';
import { PagesContext } from './pages/page.ts';
import { pagesOf } from './pages/pages.ts';
import { accountOfFirstUser } from './pages/first-user/first-user-link.ts';
import { Home } from './pages/home/home.tsx';
import { OwnPages } from './pages/me/own-pages.tsx';
import { scopeOf } from './scopes/scope.ts';
import { ScopeContext, useRights } from './scopes/use-scope.ts';
import { Skeleton } from './ui/states.tsx';

/** The search parameters of a URL, which store the state of a view besides its page and row. */
interface Query {
  /** The search text of a list. */
  readonly q?: string;
  /** The column by which a list is sorted. A leading `-` means descending. */
  readonly sort?: string;
  readonly [name: string]: string | undefined;
}

const queryOf = (search: Readonly<Record<string, unknown>>): Query =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  );

const root = createRootRoute({
  component: () => (
    <Frame>
      <Outlet />
    </Frame>
  ),
  validateSearch: queryOf,
  notFoundComponent: NotFound,
});

/** The page of a scope. An invalid scope, one that isn't the user's, and a missing page all look the same. */
function ScopePage() {
  const { tenant = '', id = '', page: name } = useParams({ strict: false });
  // Memoized, so that the object stays the same as long as the scope does.
  const scope = useMemo(() => scopeOf(tenant, id), [tenant, id]);
  const pages = useMemo(() => (scope ? pagesOf(scope.tenant) : []), [scope]);
  const found = pages.find((page) => page.name === name);
  const { isForeign } = useRights(scope);
  if (!scope || !found || isForeign) return <NotFound />;
  const { Component } = found;
  return (
    <ScopeContext value={scope}>
      <PagesContext value={pages}>
        <Suspense fallback={<Skeleton />}>
          <Component key={`${tenant}/${id}/${name}`} />
        </Suspense>
      </PagesContext>
    </ScopeContext>
  );
}

function FirstPage() {
  const { tenant = '', id = '' } = useParams({ strict: false });
  return <Navigate to="/$tenant/$id/$page" params={{ tenant, id, page: 'overview' }} replace />;
}

/**
 * Redirects signed-in users away from the first-user page: a new first user to their account, others to the start
 * page.
 */
function AfterFirstUser() {
  const scope = accountOfFirstUser();
  if (!scope) return <Navigate to="/" replace />;
  return <Navigate to="/$tenant/$id/$page" params={{ ...scope, page: 'overview' }} replace />;
}

const routes = [
  createRoute({ getParentRoute: () => root, path: '/', component: Home }),
  createRoute({ getParentRoute: () => root, path: '/first-user', component: AfterFirstUser }),
  createRoute({ getParentRoute: () => root, path: '/me/$page', component: OwnPages }),
  createRoute({ getParentRoute: () => root, path: '/$tenant/$id', component: FirstPage }),
  createRoute({ getParentRoute: () => root, path: '/$tenant/$id/$page', component: ScopePage }),
  createRoute({ getParentRoute: () => root, path: '/$tenant/$id/$page/$row', component: ScopePage }),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: import.meta.env.BASE_URL.replace(/\/$/, ''),
  defaultNotFoundComponent: NotFound,
  // `Crash` shows errors of pages instead, in the language of the user.
  disableGlobalCatchBoundary: true,
  // Project ids contain a colon. It is never encoded, so that the URL of a page is always the same.
  pathParamsAllowedCharacters: [':'],
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** Set by a link that proposes a change. After the change the browser returns to the page with the link. */
    isProposal?: boolean;
  }
}
