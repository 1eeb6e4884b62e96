import type { Language } from '../../../languages.ts';

interface Texts {
  readonly about: string;
  readonly setUp: string;
  readonly name: string;
  readonly nameInitial: string;
  readonly added: string;
  readonly pending: string;
  readonly scan: string;
  readonly qr: string;
  readonly secret: string;
  readonly code: string;
  readonly enable: string;
  readonly wrong: string;
  readonly codesLeft: string;
  readonly newCodes: string;
  readonly newCodesText: string;
  readonly removal: string;
}

/** Texts of the page for the second factor. */
export const secondFactorTexts: Record<Language, Texts> = {
  en: {
    about:
      'An authenticator app shows a code that we ask for after your password. A person who knows only the password stays out.',
    setUp: 'Add an authenticator app',
    name: 'Name of the app or device',
    nameInitial: 'Authenticator app',
    added: 'Added',
    pending: 'waits for its first code',
    scan: 'Scan this picture with the authenticator app, or enter the key there. Then enter the code that it shows.',
    qr: 'QR code for the authenticator app',
    secret: 'Key',
    code: 'Code that the app shows now',
    enable: 'Enable',
    wrong:
      'This code is wrong. Enter the code that the app shows now. After five wrong codes, wait 15 minutes.',
    codesLeft: 'Recovery codes that are left: {count}',
    newCodes: 'New recovery codes',
    newCodesText: 'If you make new codes, the ones that you have stop working.',
    removal:
      'If you remove your last second factor, your recovery codes stop working, and nothing but your usual sign-in protects you.',
  },
  de: {
    about:
      'Eine Authenticator-App zeigt einen Code, nach dem wir nach dem Passwort fragen. Wer nur das Passwort kennt, bleibt draußen.',
    setUp: 'Authenticator-App hinzufügen',
    name: 'Name der App oder des Geräts',
    nameInitial: 'Authenticator-App',
    added: 'Hinzugefügt',
    pending: 'wartet auf den ersten Code',
    scan: 'Scannen Sie dieses Bild mit der Authenticator-App, oder geben Sie dort den Schlüssel ein. Geben Sie dann den Code ein, den sie zeigt.',
    qr: 'QR-Code für die Authenticator-App',
    secret: 'Schlüssel',
    code: 'Code, den die App jetzt zeigt',
    enable: 'Einschalten',
    wrong:
      'Dieser Code ist falsch. Geben Sie den Code ein, den die App jetzt zeigt. Nach fünf falschen Codes warten Sie 15 Minuten.',
    codesLeft: 'Übrige Wiederherstellungscodes: {count}',
    newCodes: 'Neue Wiederherstellungscodes',
    newCodesText: 'Wenn Sie neue Codes erstellen, gelten die bisherigen nicht mehr.',
    removal:
      'Wenn Sie Ihren letzten zweiten Faktor entfernen, gelten auch die Wiederherstellungscodes nicht mehr, und nur Ihre gewöhnliche Anmeldung schützt Sie.',
  },
  es: {
    about:
      'Una aplicación de autenticación muestra un código que pedimos después de la contraseña. Quien solo conoce la contraseña se queda fuera.',
    setUp: 'Añadir una aplicación de autenticación',
    name: 'Nombre de la aplicación o del dispositivo',
    nameInitial: 'Aplicación de autenticación',
    added: 'Añadida',
    pending: 'espera su primer código',
    scan: 'Escanee esta imagen con la aplicación de autenticación, o introduzca allí la clave. Después escriba el código que muestra.',
    qr: 'Código QR para la aplicación de autenticación',
    secret: 'Clave',
    code: 'Código que muestra ahora la aplicación',
    enable: 'Activar',
    wrong:
      'Este código es incorrecto. Escriba el código que la aplicación muestra ahora. Tras cinco códigos incorrectos, espere 15 minutos.',
    codesLeft: 'Códigos de recuperación que quedan: {count}',
    newCodes: 'Nuevos códigos de recuperación',
    newCodesText: 'Si crea códigos nuevos, los que tiene dejan de funcionar.',
    removal:
      'Si quita su último segundo factor, sus códigos de recuperación dejan de funcionar y solo le protege su forma de acceso habitual.',
  },
  fr: {
    about:
      'Une application d’authentification affiche un code que nous demandons après le mot de passe. Qui ne connaît que le mot de passe reste dehors.',
    setUp: 'Ajouter une application d’authentification',
    name: 'Nom de l’application ou de l’appareil',
    nameInitial: 'Application d’authentification',
    added: 'Ajoutée',
    pending: 'attend son premier code',
    scan: 'Scannez cette image avec l’application d’authentification, ou saisissez-y la clé. Saisissez ensuite le code qu’elle affiche.',
    qr: 'Code QR pour l’application d’authentification',
    secret: 'Clé',
    code: 'Code que l’application affiche maintenant',
    enable: 'Activer',
    wrong:
      'Ce code est faux. Saisissez le code que l’application affiche maintenant. Après cinq codes faux, attendez 15 minutes.',
    codesLeft: 'Codes de récupération restants : {count}',
    newCodes: 'Nouveaux codes de récupération',
    newCodesText: 'Si vous créez de nouveaux codes, ceux que vous avez ne fonctionnent plus.',
    removal:
      'Si vous retirez votre dernier second facteur, vos codes de récupération ne fonctionnent plus, et seul votre moyen de connexion habituel vous protège.',
  },
};
