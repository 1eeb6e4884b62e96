import { useEffect, useState, type ReactNode } from 'react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useTexts } from '../i18n/language.ts';
import { scopeOf } from '../scopes/scope.ts';
import { writeSetting } from '../settings.ts';
import { Announcer } from '../ui/announcer.tsx';
import { ImpersonationBanner } from './notices/impersonation-banner.tsx';
import { Demands } from './demands-dialog.tsx';
import { Bell } from './notices/bell.tsx';
import { frameTexts } from './texts/frame-texts.ts';
import { KeysDialog, useKeys } from './menus/keys.tsx';
import { Navigation } from './menus/navigation.tsx';
import { Offline } from './notices/offline.tsx';
import { Palette } from './menus/palette.tsx';
import { ScopeSwitcher } from './menus/scope-switcher.tsx';
import { useTitle } from './title.ts';
import { UserMenu } from './menus/user-menu.tsx';

/** The layout around every page: scope, navigation, notices and user menu. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const t = useTexts(frameTexts);
  const { tenant = '', id = '', page } = useParams({ strict: false });
  const scope = scopeOf(tenant, id);
  const navigate = useNavigate();
  useTitle();
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState<'palette' | 'keys' | null>(null);
  useKeys({
    scope,
    onPalette: () => setShown('palette'),
    onKeys: () => setShown('keys'),
    onPage: (name) =>
      void (scope && navigate({ to: '/$tenant/$id/$page', params: { ...scope, page: name } })),
  });
  useEffect(() => setOpen(false), [tenant, id, page]);
  useEffect(() => {
    if (tenant && id) writeSetting('scope', `${tenant}/${id}`);
  }, [tenant, id]);
  return (
    <div className="frame" data-menu={isOpen ? 'open' : 'closed'}>
      <a className="skip" href="#content">
        {t.skip}
      </a>
      <header className="bar">
        <button
          type="button"
          className="icon menu"
          aria-expanded={isOpen}
          aria-controls="pages"
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">☰</span>
          <span className="hidden">{t.menu}</span>
        </button>
        <Link to="/" className="brand">
          Doorward
        </Link>
        <ScopeSwitcher scope={scope} onOpen={() => setShown('palette')} />
        <Bell />
        <UserMenu />
      </header>
      <div className="banners">
        <Offline />
        <ImpersonationBanner />
      </div>
      <nav id="pages" className="pages" aria-label={t.navigation}>
        {scope && <Navigation scope={scope} />}
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {shown === 'palette' && <Palette scope={scope} onClose={() => setShown(null)} />}
      {shown === 'keys' && <KeysDialog onClose={() => setShown(null)} />}
      <Demands />
      <Announcer />
    </div>
  );
}
