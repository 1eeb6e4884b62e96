import { useState, type KeyboardEvent } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { common } from '../../i18n/common.ts';
import { useLanguage, useTexts } from '../../i18n/language.ts';
import { offeredPages } from '../../pages/offered.ts';
import { pagesOf } from '../../pages/pages.ts';
import { keyOf, type Scope } from '../../scopes/scope.ts';
import { useRights } from '../../scopes/use-scope.ts';
import { useScopes } from '../../scopes/use-scopes.ts';
import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { frameTexts } from '../texts/frame-texts.ts';

interface Place {
  readonly key: string;
  readonly name: string;
  readonly go: () => unknown;
}

/** Finds pages of this scope and other scopes by name, and opens them. */
export function Palette({ scope, onClose }: { readonly scope: Scope | null; readonly onClose: () => void }) {
  const t = useTexts(frameTexts);
  const c = useTexts(common);
  const language = useLanguage();
  const navigate = useNavigate();
  const { scopes } = useScopes(t);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const pagePlaces = usePagePlaces(scope, language);
  const places: readonly Place[] = [
    ...pagePlaces,
    ...scopes.map(({ scope: other, name, owner }) => ({
      key: keyOf(other),
      name: owner ? `${owner} / ${name}` : name,
      go: () => navigate({ to: '/$tenant/$id/$page', params: { ...other, page: 'overview' } }),
    })),
  ];
  const found = places.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  const chosen = found[Math.min(at, found.length - 1)];
  const open = (place: Place | undefined): void => {
    if (!place) return;
    onClose();
    place.go();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      event.preventDefault();
      open(chosen);
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const move = event.key === 'ArrowDown' ? 1 : -1;
      setAt((before) => Math.max(0, Math.min(found.length - 1, before + move)));
    }
  };
  return (
    <Dialog title={t.palette} onClose={onClose}>
      <input
        // Not a search field, in which the first Escape would only clear the text.
        type="text"
        role="combobox"
        aria-label={t.palette}
        aria-expanded="true"
        aria-controls="places"
        aria-activedescendant={chosen ? `place-${chosen.key}` : undefined}
        placeholder={t.paletteHint}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="places" role="listbox" aria-label={t.palette} className="places">
        {found.map((place) => (
          <li
            key={place.key}
            id={`place-${place.key}`}
            role="option"
            aria-selected={place === chosen}
            onClick={() => open(place)}
          >
            <bdi>{place.name}</bdi>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>{c.noMatch}</p>}
    </Dialog>
  );
}

function usePagePlaces(scope: Scope | null, language: ReturnType<typeof useLanguage>): readonly Place[] {
  const navigate = useNavigate();
  const { can } = useRights(scope);
  if (!scope) return [];
  return offeredPages(pagesOf(scope.tenant), can).map(({ name, label }) => ({
    key: name,
    name: label[language],
    go: () => navigate({ to: '/$tenant/$id/$page', params: { ...scope, page: name } }),
  }));
}
