import { useState } from 'react';
import { Link, useLocation } from '@tanstack/react-router';
import {
  languageNames,
  languages,
  setLanguage,
  useLanguage,
  useTexts,
  type Language,
} from '../../i18n/language.ts';
import { ownPages } from '../../pages/me/pages.ts';
import { useMe } from '../../scopes/use-scopes.ts';
import { signOut } from '../../session/session.ts';
import { Menu } from '../../ui/menu.tsx';
import { frameTexts } from '../texts/frame-texts.ts';
import { setTheme, theme, themes, type Theme } from './theme.ts';

/** The menu of the signed-in user: their own pages, language, theme and sign-out. */
export function UserMenu() {
  const t = useTexts(frameTexts);
  const language = useLanguage();
  const { data: me } = useMe();
  const [look, setLook] = useState<Theme>(theme);
  const { pathname } = useLocation();
  return (
    // The key closes the menu when the page changes.
    <Menu key={pathname} className="user-menu" label={<bdi>{me?.user.name ?? t.you}</bdi>}>
      <div className="menu-body">
        {me?.organizationId === null &&
          ownPages.map(({ name, label }) => (
            <Link key={name} to="/me/$page" params={{ page: name }}>
              {label[language]}
            </Link>
          ))}
        <label>
          {t.language}
          <select value={language} onChange={(event) => setLanguage(event.target.value as Language)}>
            {languages.map((name) => (
              <option key={name} value={name}>
                {languageNames[name]}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t.theme}
          <select
            value={look}
            onChange={(event) => {
              const next = event.target.value as Theme;
              setLook(next);
              setTheme(next);
            }}
          >
            {themes.map((name) => (
              <option key={name} value={name}>
                {t.themes[name]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={() => void signOut()}>
          {t.signOut}
        </button>
      </div>
    </Menu>
  );
}
