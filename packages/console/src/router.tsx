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

/** What the address keeps of a view, beside its page and row. */
interface Query {
  /** The search of a list. */
  readonly q?: string;
  /** The column by which a list is sorted; `-` before it: descending. */
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

/** The page of a scope. An address that names no scope, a scope of others and a missing page look alike. */
function ScopePage() {
  const { tenant = '', id = '', page: name } = useParams({ strict: false });
  // The same object while the address names the same scope.
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

/** Who is signed in needs no first user: the address leads on, to the account of who has just become the first one. */
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
  // `Crash` shows the failure of a page, in the language of the user.
  disableGlobalCatchBoundary: true,
  // The ids of projects hold one, and addresses should be equal however they came about.
  pathParamsAllowedCharacters: [':'],
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** Who has come by a link that proposes a change goes back to it afterwards. */
    isProposal?: boolean;
  }
}
