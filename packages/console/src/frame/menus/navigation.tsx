import { useId } from 'react';
import { Link } from '@tanstack/react-router';
import { useLanguage } from '../../i18n/language.ts';
import { offeredSections } from '../../pages/offered.ts';
import { pagesOf } from '../../pages/pages.ts';
import type { Scope } from '../../scopes/scope.ts';
import { useRights } from '../../scopes/use-scope.ts';

/** The pages of a scope that the user may read, grouped under headings. */
export function Navigation({ scope }: { readonly scope: Scope }) {
  const { can } = useRights(scope);
  const language = useLanguage();
  const id = useId();
  return offeredSections(pagesOf(scope.tenant), can).map(({ heading, pages }, at) => (
    <section key={heading?.en ?? ''}>
      {heading && <p id={`${id}-${at}`}>{heading[language]}</p>}
      <ul {...(heading ? { 'aria-labelledby': `${id}-${at}` } : {})}>
        {pages.map(({ name, label }) => (
          <li key={name}>
            <Link
              to="/$tenant/$id/$page"
              params={{ ...scope, page: name }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {label[language]}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  ));
}
