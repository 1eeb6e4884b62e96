import type { Texts } from '../../i18n/language.ts';

interface FrameTexts {
  readonly home: string;
  readonly skip: string;
  readonly menu: string;
  readonly navigation: string;
  readonly switchScope: string;
  readonly personalAccount: string;
  readonly installation: string;
  readonly you: string;
  readonly signOut: string;
  readonly language: string;
  readonly theme: string;
  readonly themes: Readonly<Record<'system' | 'light' | 'dark', string>>;
  readonly palette: string;
  readonly paletteHint: string;
  readonly keys: string;
  readonly keyTexts: readonly (readonly [string, string])[];
  readonly offline: string;
  readonly notifications: string;
  readonly unread: (count: string) => string;
}

export const frameTexts: Texts<FrameTexts> = {
  en: {
    home: 'All scopes',
    skip: 'To the content',
    menu: 'Menu',
    navigation: 'Pages',
    switchScope: 'Go to',
    personalAccount: 'My account',
    installation: 'Installation',
    you: 'You',
    signOut: 'Sign out',
    language: 'Language',
    theme: 'Look',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    palette: 'Go to a page or scope',
    paletteHint: 'Type a name',
    keys: 'Keys',
    keyTexts: [
      ['Ctrl K', 'Go to a page or scope'],
      ['/', 'Search in the list'],
      ['g, then a letter', 'Open a page'],
      ['j, k', 'Next and previous row'],
      ['Enter', 'Open the row'],
      ['Esc', 'Close'],
      ['?', 'This list'],
    ],
    offline: 'You are offline. What you see may be old, and nothing can be saved.',
    notifications: 'Notifications',
    unread: (count) => `Notifications, ${count} unread`,
  },
  de: {
    home: 'Alle Bereiche',
    skip: 'Zum Inhalt',
    menu: 'Menü',
    navigation: 'Seiten',
    switchScope: 'Wechseln zu',
    personalAccount: 'Mein Konto',
    installation: 'Installation',
    you: 'Sie',
    signOut: 'Abmelden',
    language: 'Sprache',
    theme: 'Aussehen',
    themes: { system: 'Wie das System', light: 'Hell', dark: 'Dunkel' },
    palette: 'Zu einer Seite oder einem Bereich',
    paletteHint: 'Namen eingeben',
    keys: 'Tasten',
    keyTexts: [
      ['Strg K', 'Zu einer Seite oder einem Bereich'],
      ['/', 'In der Liste suchen'],
      ['g, dann ein Buchstabe', 'Eine Seite öffnen'],
      ['j, k', 'Nächste und vorige Zeile'],
      ['Eingabe', 'Die Zeile öffnen'],
      ['Esc', 'Schließen'],
      ['?', 'Diese Liste'],
    ],
    offline: 'Sie sind offline. Was Sie sehen, kann alt sein, und nichts lässt sich speichern.',
    notifications: 'Benachrichtigungen',
    unread: (count) => `Benachrichtigungen, ${count} ungelesen`,
  },
  es: {
    home: 'Todos los ámbitos',
    skip: 'Ir al contenido',
    menu: 'Menú',
    navigation: 'Páginas',
    switchScope: 'Ir a',
    personalAccount: 'Mi cuenta',
    installation: 'Instalación',
    you: 'Usted',
    signOut: 'Cerrar sesión',
    language: 'Idioma',
    theme: 'Aspecto',
    themes: { system: 'Como el sistema', light: 'Claro', dark: 'Oscuro' },
    palette: 'Ir a una página o ámbito',
    paletteHint: 'Escriba un nombre',
    keys: 'Teclas',
    keyTexts: [
      ['Ctrl K', 'Ir a una página o ámbito'],
      ['/', 'Buscar en la lista'],
      ['g y una letra', 'Abrir una página'],
      ['j, k', 'Fila siguiente y anterior'],
      ['Intro', 'Abrir la fila'],
      ['Esc', 'Cerrar'],
      ['?', 'Esta lista'],
    ],
    offline: 'Está sin conexión. Lo que ve puede ser antiguo y no se puede guardar nada.',
    notifications: 'Notificaciones',
    unread: (count) => `Notificaciones, ${count} sin leer`,
  },
  fr: {
    home: 'Tous les périmètres',
    skip: 'Aller au contenu',
    menu: 'Menu',
    navigation: 'Pages',
    switchScope: 'Aller à',
    personalAccount: 'Mon compte',
    installation: 'Installation',
    you: 'Vous',
    signOut: 'Se déconnecter',
    language: 'Langue',
    theme: 'Apparence',
    themes: { system: 'Comme le système', light: 'Claire', dark: 'Sombre' },
    palette: 'Aller à une page ou un périmètre',
    paletteHint: 'Saisissez un nom',
    keys: 'Touches',
    keyTexts: [
      ['Ctrl K', 'Aller à une page ou un périmètre'],
      ['/', 'Rechercher dans la liste'],
      ['g puis une lettre', 'Ouvrir une page'],
      ['j, k', 'Ligne suivante et précédente'],
      ['Entrée', 'Ouvrir la ligne'],
      ['Échap', 'Fermer'],
      ['?', 'Cette liste'],
    ],
    offline: 'Vous êtes hors ligne. Ce que vous voyez peut être ancien, et rien ne peut être enregistré.',
    notifications: 'Notifications',
    unread: (count) => `Notifications, non lues : ${count}`,
  },
};
