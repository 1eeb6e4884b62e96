import type { Texts } from '../../../i18n/language.ts';

interface SecondFactorTexts {
  readonly title: string;
  readonly about: string;
  readonly setUp: string;
  readonly another: string;
  readonly name: string;
  readonly nameInitial: string;
  readonly added: string;
  readonly pending: string;
  readonly codesLeft: { readonly one: string; readonly other: string };
  readonly newCodes: string;
  readonly newCodesText: string;
  readonly codes: string;
  readonly removeLabel: (name: string) => string;
  readonly removal: string;
  readonly removalOfLastApp: string;
  readonly codesEnd: string;
  readonly codesMayEnd: string;
  readonly scan: string;
  readonly qr: string;
  readonly secret: string;
  readonly address: string;
  readonly code: string;
  readonly codeHint: string;
  readonly enable: string;
  readonly enabled: string;
  readonly next: string;
}

export const secondFactorTexts: Texts<SecondFactorTexts> = {
  en: {
    title: 'Second factor',
    about:
      'An authenticator app shows a code that we ask for after your password. Whoever knows only the password stays out.',
    setUp: 'Set up a second factor',
    another: 'Add another app',
    name: 'Name of the app or device',
    nameInitial: 'Authenticator app',
    added: 'Added',
    pending: 'waits for its first code',
    codesLeft: { one: '# recovery code is left.', other: '# recovery codes are left.' },
    newCodes: 'New recovery codes',
    newCodesText: 'The codes that you have now stop working.',
    codes: 'Recovery codes',
    removeLabel: (name) => `Remove ${name}`,
    removal: 'Codes of this app no longer work.',
    removalOfLastApp: 'Your password alone lets you in then.',
    codesEnd: 'You have no other passkey or authenticator app: your recovery codes stop working too.',
    codesMayEnd: 'If you have no other passkey or authenticator app, your recovery codes stop working too.',
    scan: 'Scan this with your authenticator app, or enter the key there.',
    qr: 'QR code for the authenticator app',
    secret: 'Key',
    address: 'Address',
    code: 'Code that the app shows now',
    codeHint: 'Six digits.',
    enable: 'Enable',
    enabled: 'The second factor is enabled.',
    next: 'Continue',
  },
  de: {
    title: 'Zweiter Faktor',
    about:
      'Eine Authenticator-App zeigt einen Code, nach dem wir nach dem Passwort fragen. Wer nur das Passwort kennt, bleibt draußen.',
    setUp: 'Zweiten Faktor einrichten',
    another: 'Weitere App hinzufügen',
    name: 'Name der App oder des Geräts',
    nameInitial: 'Authenticator-App',
    added: 'Hinzugefügt',
    pending: 'wartet auf den ersten Code',
    codesLeft: { one: '# Wiederherstellungscode ist übrig.', other: '# Wiederherstellungscodes sind übrig.' },
    newCodes: 'Neue Wiederherstellungscodes',
    newCodesText: 'Die Codes, die Sie jetzt haben, gelten dann nicht mehr.',
    codes: 'Wiederherstellungscodes',
    removeLabel: (name) => `${name} entfernen`,
    removal: 'Codes dieser App gelten dann nicht mehr.',
    removalOfLastApp: 'Dann genügt Ihr Passwort allein.',
    codesEnd:
      'Sie haben keinen anderen Passkey und keine andere Authenticator-App: Auch Ihre Wiederherstellungscodes gelten dann nicht mehr.',
    codesMayEnd:
      'Haben Sie keinen anderen Passkey und keine andere Authenticator-App, gelten auch Ihre Wiederherstellungscodes nicht mehr.',
    scan: 'Scannen Sie dies mit Ihrer Authenticator-App, oder geben Sie dort den Schlüssel ein.',
    qr: 'QR-Code für die Authenticator-App',
    secret: 'Schlüssel',
    address: 'Adresse',
    code: 'Code, den die App jetzt zeigt',
    codeHint: 'Sechs Ziffern.',
    enable: 'Einschalten',
    enabled: 'Der zweite Faktor ist eingeschaltet.',
    next: 'Weiter',
  },
  es: {
    title: 'Segundo factor',
    about:
      'Una aplicación de autenticación muestra un código que pedimos después de la contraseña. Quien solo conoce la contraseña se queda fuera.',
    setUp: 'Configurar un segundo factor',
    another: 'Añadir otra aplicación',
    name: 'Nombre de la aplicación o del dispositivo',
    nameInitial: 'Aplicación de autenticación',
    added: 'Añadida',
    pending: 'espera su primer código',
    codesLeft: { one: 'Queda # código de recuperación.', other: 'Quedan # códigos de recuperación.' },
    newCodes: 'Nuevos códigos de recuperación',
    newCodesText: 'Los códigos que tiene ahora dejan de funcionar.',
    codes: 'Códigos de recuperación',
    removeLabel: (name) => `Quitar ${name}`,
    removal: 'Los códigos de esta aplicación dejan de funcionar.',
    removalOfLastApp: 'Entonces basta su contraseña.',
    codesEnd:
      'No tiene otra llave de acceso ni otra aplicación de autenticación: sus códigos de recuperación también dejarán de funcionar.',
    codesMayEnd:
      'Si no tiene otra llave de acceso ni otra aplicación de autenticación, sus códigos de recuperación también dejarán de funcionar.',
    scan: 'Escanee esto con su aplicación de autenticación, o introduzca allí la clave.',
    qr: 'Código QR para la aplicación de autenticación',
    secret: 'Clave',
    address: 'Dirección',
    code: 'Código que muestra ahora la aplicación',
    codeHint: 'Seis cifras.',
    enable: 'Activar',
    enabled: 'El segundo factor está activado.',
    next: 'Continuar',
  },
  fr: {
    title: 'Second facteur',
    about:
      'Une application d’authentification affiche un code que nous demandons après le mot de passe. Qui ne connaît que le mot de passe reste dehors.',
    setUp: 'Configurer un second facteur',
    another: 'Ajouter une autre application',
    name: 'Nom de l’application ou de l’appareil',
    nameInitial: 'Application d’authentification',
    added: 'Ajoutée',
    pending: 'attend son premier code',
    codesLeft: { one: 'Il reste # code de récupération.', other: 'Il reste # codes de récupération.' },
    newCodes: 'Nouveaux codes de récupération',
    newCodesText: 'Les codes que vous avez maintenant ne fonctionneront plus.',
    codes: 'Codes de récupération',
    removeLabel: (name) => `Retirer ${name}`,
    removal: 'Les codes de cette application ne fonctionneront plus.',
    removalOfLastApp: 'Votre mot de passe suffira alors.',
    codesEnd:
      'Vous n’avez pas d’autre clé d’accès ni d’autre application d’authentification : vos codes de récupération cesseront aussi de fonctionner.',
    codesMayEnd:
      'Si vous n’avez pas d’autre clé d’accès ni d’autre application d’authentification, vos codes de récupération cesseront aussi de fonctionner.',
    scan: 'Scannez ceci avec votre application d’authentification, ou saisissez-y la clé.',
    qr: 'Code QR pour l’application d’authentification',
    secret: 'Clé',
    address: 'Adresse',
    code: 'Code que l’application affiche maintenant',
    codeHint: 'Six chiffres.',
    enable: 'Activer',
    enabled: 'Le second facteur est activé.',
    next: 'Continuer',
  },
};
