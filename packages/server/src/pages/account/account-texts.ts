import type { Language } from '../../languages.ts';

/** The account pages, in the order of their links. Except `profile`, each name is the last part of a page's address. */
export type Section =
  | 'profile'
  | 'password'
  | 'passkeys'
  | 'second-factor'
  | 'sessions'
  | 'providers'
  | 'apps'
  | 'notifications'
  | 'data';

/** Texts that all account pages share. */
interface Texts {
  readonly navigation: string;
  readonly sections: Readonly<Record<Section, string>>;
  readonly saved: string;
  readonly signOut: string;
  readonly save: string;
  readonly remove: string;
  /** `{name}` is the item that the button removes. */
  readonly removeNamed: string;
  readonly atMost: string;
  readonly confirmation: {
    readonly title: string;
    readonly text: string;
    readonly code: string;
    readonly button: string;
    readonly wrong: string;
    readonly again: string;
    readonly againText: string;
  };
}

export const accountTexts: Record<Language, Texts> = {
  en: {
    navigation: 'Your account',
    sections: {
      profile: 'Profile',
      password: 'Password',
      passkeys: 'Passkeys',
      'second-factor': 'Second factor',
      sessions: 'Sessions',
      providers: 'Ways to sign in',
      apps: 'Apps',
      notifications: 'Notifications',
      data: 'Your data',
    },
    saved: 'Your change is saved.',
    signOut: 'Sign out',
    save: 'Save',
    remove: 'Remove',
    removeNamed: 'Remove {name}',
    atMost: 'At most {length} characters.',
    confirmation: {
      title: 'Confirm that it is you',
      text: 'You signed in some time ago. This page changes how you sign in or shows your data, so it asks again.',
      code: 'Code of your authenticator app, or a recovery code',
      button: 'Confirm',
      wrong: 'This code is wrong or was used before. After five wrong codes, wait 15 minutes.',
      again: 'Sign in again',
      againText: 'Signing in again leads back to this page.',
    },
  },
  de: {
    navigation: 'Ihr Konto',
    sections: {
      profile: 'Profil',
      password: 'Passwort',
      passkeys: 'Passkeys',
      'second-factor': 'Zweiter Faktor',
      sessions: 'Sitzungen',
      providers: 'Anmeldewege',
      apps: 'Apps',
      notifications: 'Benachrichtigungen',
      data: 'Ihre Daten',
    },
    saved: 'Ihre Änderung ist gespeichert.',
    signOut: 'Abmelden',
    save: 'Speichern',
    remove: 'Entfernen',
    removeNamed: '{name} entfernen',
    atMost: 'Höchstens {length} Zeichen.',
    confirmation: {
      title: 'Bestätigen Sie, dass Sie es sind',
      text: 'Sie haben sich vor einiger Zeit angemeldet. Diese Seite ändert, wie Sie sich anmelden, oder zeigt Ihre Daten; deshalb fragt sie noch einmal.',
      code: 'Code Ihrer Authenticator-App oder ein Wiederherstellungscode',
      button: 'Bestätigen',
      wrong:
        'Dieser Code ist falsch oder wurde schon benutzt. Nach fünf falschen Codes warten Sie 15 Minuten.',
      again: 'Neu anmelden',
      againText: 'Nach einer neuen Anmeldung kommen Sie zu dieser Seite zurück.',
    },
  },
  es: {
    navigation: 'Su cuenta',
    sections: {
      profile: 'Perfil',
      password: 'Contraseña',
      passkeys: 'Llaves de acceso',
      'second-factor': 'Segundo factor',
      sessions: 'Sesiones',
      providers: 'Formas de acceso',
      apps: 'Aplicaciones',
      notifications: 'Notificaciones',
      data: 'Sus datos',
    },
    saved: 'Su cambio se ha guardado.',
    signOut: 'Cerrar sesión',
    save: 'Guardar',
    remove: 'Quitar',
    removeNamed: 'Quitar {name}',
    atMost: 'Como máximo {length} caracteres.',
    confirmation: {
      title: 'Confirme que es usted',
      text: 'Inició sesión hace un tiempo. Esta página cambia cómo inicia sesión o muestra sus datos, así que pregunta de nuevo.',
      code: 'Código de su aplicación de autenticación o un código de recuperación',
      button: 'Confirmar',
      wrong: 'Este código es incorrecto o ya se usó. Tras cinco códigos incorrectos, espere 15 minutos.',
      again: 'Iniciar sesión de nuevo',
      againText: 'Después de iniciar sesión de nuevo volverá a esta página.',
    },
  },
  fr: {
    navigation: 'Votre compte',
    sections: {
      profile: 'Profil',
      password: 'Mot de passe',
      passkeys: 'Clés d’accès',
      'second-factor': 'Second facteur',
      sessions: 'Sessions',
      providers: 'Moyens de connexion',
      apps: 'Applications',
      notifications: 'Notifications',
      data: 'Vos données',
    },
    saved: 'Votre modification est enregistrée.',
    signOut: 'Se déconnecter',
    save: 'Enregistrer',
    remove: 'Retirer',
    removeNamed: 'Retirer {name}',
    atMost: '{length} caractères au plus.',
    confirmation: {
      title: 'Confirmez que c’est vous',
      text: 'Vous vous êtes connecté il y a un certain temps. Cette page change votre façon de vous connecter ou montre vos données : elle redemande donc.',
      code: 'Code de votre application d’authentification, ou un code de récupération',
      button: 'Confirmer',
      wrong: 'Ce code est faux ou a déjà été utilisé. Après cinq codes faux, attendez 15 minutes.',
      again: 'Se connecter à nouveau',
      againText: 'Après une nouvelle connexion, vous revenez à cette page.',
    },
  },
};
