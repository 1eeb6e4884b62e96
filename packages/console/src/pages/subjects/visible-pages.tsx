import { useLanguage, useTexts } from '../../i18n/language.ts';
import { offeredPages } from '../offered.ts';
import { usePages } from '../page.ts';
import { mayDoTexts } from './may-do-texts.ts';

/** Lists the pages of the scope that a user with these permissions sees in the navigation, and then the hidden ones. */
export function VisiblePages({ can }: { readonly can: (permission: string) => boolean }) {
  const t = useTexts(mayDoTexts);
  const language = useLanguage();
  const pages = usePages();
  const offered = offeredPages(pages, can);
  const hidden = pages.filter((page) => !offered.includes(page));
  return (
    <section>
      <h2>{t.pages}</h2>
      <ul className="chips" aria-label={t.pages}>
        {offered.map(({ name, label }) => (
          <li key={name} className="chip">
            {label[language]}
          </li>
        ))}
      </ul>
      {hidden.length > 0 && (
        <details className="hidden-pages">
          <summary>{t.hiddenPages}</summary>
          <ul>
            {hidden.map(({ name, label, needs }) => (
              <li key={name}>
                {label[language]} <small className="hint">{t.lacks}</small>{' '}
                <code>{needs.filter((permission) => !can(permission)).join(', ')}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
