import { Suspense } from 'react';
import { Link, useParams } from '@tanstack/react-router';
import { NotFound } from '../../frame/not-found.tsx';
import { useLanguage, useTexts, type Texts } from '../../i18n/language.ts';
import '../../styles/own.css';
import { Skeleton } from '../../ui/states.tsx';
import { ownPages } from './pages.ts';

const navigation: Texts<string> = {
  en: 'Pages about you',
  de: 'Seiten über Sie',
  es: 'Páginas sobre usted',
  fr: 'Pages qui vous concernent',
};

export function OwnPages() {
  const { page: name } = useParams({ strict: false });
  const language = useLanguage();
  const label = useTexts(navigation);
  const page = ownPages.find((other) => other.name === name);
  if (!page) return <NotFound />;
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
