import type { Texts } from '../../../i18n/language.ts';

interface PasskeyTexts {
  readonly title: string;
  readonly about: string;
  readonly add: string;
  readonly addAbout: string;
  readonly next: string;
  readonly nameInitial: string;
  readonly unavailable: string;
  readonly backedUp: string;
  readonly added: string;
  readonly addedNow: (name: string) => string;
  readonly rename: string;
  readonly renameLabel: (name: string) => string;
  readonly removeLabel: (name: string) => string;
  readonly removal: string;
}

export const passkeyTexts: Texts<PasskeyTexts> = {
  en: {
    title: 'Passkeys',
    about:
      'A passkey on your device or in your password manager signs you in without a password. It works only on our pages, so a forged page gets nothing.',
    add: 'Add a passkey',
    addAbout: 'Your browser will then ask where to keep it, and for your PIN, fingerprint or face.',
    next: 'Continue',
    nameInitial: 'My passkey',
    unavailable: 'Your browser does not support passkeys at this address.',
    backedUp: 'backed up',
    added: 'Added',
    addedNow: (name) => `The passkey ${name} is added.`,
    rename: 'Rename',
    renameLabel: (name) => `Rename ${name}`,
    removeLabel: (name) => `Remove ${name}`,
    removal: 'You can no longer sign in with it. Remove it on your device or in your password manager too.',
  },
  de: {
    title: 'Passkeys',
    about:
      'Mit einem Passkey auf Ihrem Gerät oder in Ihrem Passwortmanager melden Sie sich ohne Passwort an. Er gilt nur auf unseren Seiten; eine gefälschte Seite bekommt nichts.',
    add: 'Passkey hinzufügen',
    addAbout:
      'Ihr Browser fragt dann, wo er ihn aufbewahren soll, und nach Ihrer PIN, Ihrem Fingerabdruck oder Ihrem Gesicht.',
    next: 'Weiter',
    nameInitial: 'Mein Passkey',
    unavailable: 'Ihr Browser unterstützt an dieser Adresse keine Passkeys.',
    backedUp: 'gesichert',
    added: 'Hinzugefügt',
    addedNow: (name) => `Der Passkey ${name} ist hinzugefügt.`,
    rename: 'Umbenennen',
    renameLabel: (name) => `${name} umbenennen`,
    removeLabel: (name) => `${name} entfernen`,
    removal:
      'Sie können sich damit nicht mehr anmelden. Entfernen Sie ihn auch auf Ihrem Gerät oder in Ihrem Passwortmanager.',
  },
  es: {
    title: 'Llaves de acceso',
    about:
      'Una llave de acceso en su dispositivo o en su gestor de contraseñas le permite iniciar sesión sin contraseña. Solo funciona en nuestras páginas: una página falsa no obtiene nada.',
    add: 'Añadir una llave de acceso',
    addAbout: 'Su navegador le preguntará dónde guardarla, y le pedirá su PIN, su huella o su cara.',
    next: 'Continuar',
    nameInitial: 'Mi llave de acceso',
    unavailable: 'Su navegador no admite llaves de acceso en esta dirección.',
    backedUp: 'con copia de seguridad',
    added: 'Añadida',
    addedNow: (name) => `Se ha añadido la llave de acceso ${name}.`,
    rename: 'Cambiar el nombre',
    renameLabel: (name) => `Cambiar el nombre de ${name}`,
    removeLabel: (name) => `Quitar ${name}`,
    removal:
      'Ya no podrá iniciar sesión con ella. Quítela también de su dispositivo o de su gestor de contraseñas.',
  },
  fr: {
    title: 'Clés d’accès',
    about:
      'Une clé d’accès sur votre appareil ou dans votre gestionnaire de mots de passe vous connecte sans mot de passe. Elle ne fonctionne que sur nos pages : une page contrefaite n’obtient rien.',
    add: 'Ajouter une clé d’accès',
    addAbout:
      'Votre navigateur vous demandera où l’enregistrer, puis votre code PIN, votre empreinte ou votre visage.',
    next: 'Continuer',
    nameInitial: 'Ma clé d’accès',
    unavailable: 'Votre navigateur ne prend pas en charge les clés d’accès à cette adresse.',
    backedUp: 'sauvegardée',
    added: 'Ajoutée',
    addedNow: (name) => `La clé d’accès ${name} est ajoutée.`,
    rename: 'Renommer',
    renameLabel: (name) => `Renommer ${name}`,
    removeLabel: (name) => `Retirer ${name}`,
    removal:
      'Vous ne pourrez plus vous connecter avec elle. Retirez-la aussi de votre appareil ou de votre gestionnaire de mots de passe.',
  },
};
