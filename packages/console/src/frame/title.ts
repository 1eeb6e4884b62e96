import { useEffect } from 'react';
import { useLocation, useParams } from '@tanstack/react-router';
import { common } from '../i18n/common.ts';
import { useLanguage, useTexts } from '../i18n/language.ts';
import { ownPages } from '../pages/me/pages.ts';
import { pagesOf } from '../pages/pages.ts';
import { isSameScope, scopeOf } from '../scopes/scope.ts';
import { useScopes } from '../scopes/use-scopes.ts';
import { frameTexts } from './texts/frame-texts.ts';

/** Sets the title of the browser tab: page, scope and service. */
export function useTitle(): void {
  const f = useTexts(frameTexts);
  const c = useTexts(common);
  const language = useLanguage();
  const { pathname } = useLocation();
  const { tenant = '', id = '', page: name } = useParams({ strict: false });
  const scope = scopeOf(tenant, id);
  const { scopes, isLoading } = useScopes(f, scope);
  const named = scope && scopes.find((other) => isSameScope(other.scope, scope));
  const page = (scope ? pagesOf(scope.tenant) : ownPages).find((other) => other.name === name);
  // For a scope that the user doesn't belong to, the title is "not found", as on the page.
  const isMissing = pathname !== '/' && (!page || (scope !== null && !named && !isLoading));
  const parts = isMissing ? [c.notFound] : [page?.label[language], named?.name];
  const title = [...parts, 'Doorward'].filter(Boolean).join(' – ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
