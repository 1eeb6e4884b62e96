import { Component, type ReactNode } from 'react';
import { language, type Texts } from '../../i18n/language.ts';

const texts: Texts<{ readonly title: string; readonly text: string; readonly reload: string }> = {
  en: {
    title: 'Something broke in this page.',
    text: 'No report of this left your browser. What you saved is saved.',
    reload: 'Load again',
  },
  de: {
    title: 'Auf dieser Seite ist etwas kaputtgegangen.',
    text: 'Kein Bericht darüber hat Ihren Browser verlassen. Gespeichertes ist gespeichert.',
    reload: 'Neu laden',
  },
  es: {
    title: 'Algo falló en esta página.',
    text: 'Ningún informe de esto salió de su navegador. Lo guardado está guardado.',
    reload: 'Volver a cargar',
  },
  fr: {
    title: 'Une erreur est survenue dans cette page.',
    text: 'Aucun rapport n’a quitté votre navigateur. Ce qui est enregistré l’est.',
    reload: 'Recharger',
  },
};

/** Shown instead of a page whose code failed. No report of the error leaves the browser. */
export class Crash extends Component<{ readonly children: ReactNode }, { readonly isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError = (): { readonly isBroken: boolean } => ({ isBroken: true });

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    const t = texts[language()];
    return (
      <main className="alone" role="alert">
        <h1>{t.title}</h1>
        <p>{t.text}</p>
        <button type="button" className="main" onClick={() => location.reload()}>
          {t.reload}
        </button>
      </main>
    );
  }
}
