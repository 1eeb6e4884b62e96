import { Link } from '@tanstack/react-router';
import type { components } from '@doorward/node/client';
import { useTexts, type Texts } from '../../../i18n/language.ts';
import { formatNumber } from '../../../i18n/format.ts';
import type { Scope } from '../../../scopes/scope.ts';

/* Components that several overview pages share. */

/** Shows scopes as cards that link to their overviews. */
export function Cards({
  items,
}: {
  readonly items: readonly {
    readonly id: string;
    readonly scope: Scope;
    readonly name: string;
    readonly slug: string;
  }[];
}) {
  return (
    <ul className="cards">
      {items.map(({ id, scope, name, slug }) => (
        <li key={id}>
          <Link to="/$tenant/$id/$page" params={{ ...scope, page: 'overview' }}>
            <strong>
              <bdi>{name}</bdi>
            </strong>
            <small>{slug}</small>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const texts: Texts<{ readonly all: (count: string) => string }> = {
  en: { all: (count) => `Show all ${count}` },
  de: { all: (count) => `Alle ${count} anzeigen` },
  es: { all: (count) => `Mostrar los ${count}` },
  fr: { all: (count) => `Tout afficher (${count})` },
};

/** A link to the full list; nothing if all rows are already shown. */
export function AllLink({
  scope,
  page,
  shown,
  total,
}: {
  readonly scope: Scope;
  readonly page: string;
  readonly shown: number;
  readonly total: number;
}) {
  const t = useTexts(texts);
  if (total <= shown) return null;
  return (
    <p>
      <Link to="/$tenant/$id/$page" params={{ ...scope, page }}>
        {t.all(formatNumber(total))}
      </Link>
    </p>
  );
}

export const projectCard = ({ id, scope, name, slug }: components['schemas']['Project']) => ({
  id,
  scope: scope as Scope,
  name,
  slug,
});
