import type { Language } from '../../../languages.ts';

interface Texts {
  readonly title: string;
  readonly text: string;
  readonly scan: string;
  readonly picture: string;
  readonly byHand: string;
  readonly secretHint: string;
  readonly open: string;
  readonly code: string;
  readonly add: string;
  readonly wrong: string;
  readonly codesTitle: string;
  readonly codesText: string;
  readonly codes: string;
  readonly kept: string;
  readonly notKept: string;
  readonly next: string;
  readonly place: string;
}

/** Texts of the pages on which a user adds a second factor. `{app}` and `{place}` are placeholders. */
export const enrolmentTexts: Record<Language, Texts> = {
  en: {
    title: '{app} asks for a second factor',
    text: 'Add an authenticator app to your account. From now on, it protects every sign-in to your account.',
    scan: 'Scan this picture with the authenticator app on your phone, then enter the code that it shows.',
    picture: 'QR code for the authenticator app',
    byHand: 'Enter the key by hand instead',
    secretHint: 'Choose a time-based key, and enter this one. Spaces do not matter.',
    open: 'Open the authenticator app on this device',
    code: 'Six-digit code',
    add: 'Add the app',
    wrong:
      'This code is wrong. Enter the code that the authenticator app shows now, and check the clock of your phone.',
    codesTitle: 'Keep your recovery codes',
    codesText:
      'If you lose your authenticator app, you sign in with one of these codes. Each works once, and they are not shown again.',
    codes: 'Recovery codes',
    kept: 'I have kept these codes in a safe place.',
    notKept: 'Confirm that you have kept the codes.',
    next: 'Continue',
    place: 'Afterwards you return to {place}.',
  },
  de: {
    title: '{app} verlangt einen zweiten Faktor',
    text: 'Fügen Sie Ihrem Konto eine Authenticator-App hinzu. Von nun an schützt sie jede Anmeldung bei Ihrem Konto.',
    scan: 'Scannen Sie dieses Bild mit der Authenticator-App auf Ihrem Telefon und geben Sie dann den Code ein, den sie anzeigt.',
    picture: 'QR-Code für die Authenticator-App',
    byHand: 'Stattdessen den Schlüssel von Hand eingeben',
    secretHint:
      'Wählen Sie einen zeitbasierten Schlüssel und geben Sie diesen ein. Leerzeichen spielen keine Rolle.',
    open: 'Die Authenticator-App auf diesem Gerät öffnen',
    code: 'Sechsstelliger Code',
    add: 'App hinzufügen',
    wrong:
      'Dieser Code ist falsch. Geben Sie den Code ein, den die Authenticator-App jetzt anzeigt, und prüfen Sie die Uhr Ihres Telefons.',
    codesTitle: 'Bewahren Sie Ihre Wiederherstellungscodes auf',
    codesText:
      'Wenn Sie Ihre Authenticator-App verlieren, melden Sie sich mit einem dieser Codes an. Jeder Code gilt nur einmal, und sie werden nicht wieder angezeigt.',
    codes: 'Wiederherstellungscodes',
    kept: 'Ich habe diese Codes an einem sicheren Ort abgelegt.',
    notKept: 'Bestätigen Sie, dass Sie die Codes aufbewahrt haben.',
    next: 'Weiter',
    place: 'Danach kehren Sie zu {place} zurück.',
  },
  es: {
    title: '{app} pide un segundo factor',
    text: 'Añada una aplicación de autenticación a su cuenta. A partir de ahora protegerá todos los inicios de sesión de su cuenta.',
    scan: 'Escanee esta imagen con la aplicación de autenticación de su teléfono y escriba después el código que muestre.',
    picture: 'Código QR para la aplicación de autenticación',
    byHand: 'Escribir la clave a mano',
    secretHint: 'Elija una clave basada en el tiempo y escriba esta. Los espacios no importan.',
    open: 'Abrir la aplicación de autenticación en este dispositivo',
    code: 'Código de seis cifras',
    add: 'Añadir la aplicación',
    wrong:
      'Este código no coincide. Escriba el código que la aplicación de autenticación muestra ahora y compruebe la hora de su teléfono.',
    codesTitle: 'Guarde sus códigos de recuperación',
    codesText:
      'Si pierde su aplicación de autenticación, podrá iniciar sesión con uno de estos códigos. Cada uno vale una vez y no se vuelven a mostrar.',
    codes: 'Códigos de recuperación',
    kept: 'He guardado estos códigos en un lugar seguro.',
    notKept: 'Confirme que ha guardado los códigos.',
    next: 'Continuar',
    place: 'Después volverá a {place}.',
  },
  fr: {
    title: '{app} demande un second facteur',
    text: 'Ajoutez une application d’authentification à votre compte. Elle protégera désormais chaque connexion à votre compte.',
    scan: 'Scannez cette image avec l’application d’authentification de votre téléphone, puis saisissez le code qu’elle affiche.',
    picture: 'Code QR pour l’application d’authentification',
    byHand: 'Saisir la clé à la main',
    secretHint:
      'Choisissez une clé basée sur l’heure et saisissez celle-ci. Les espaces sont sans importance.',
    open: 'Ouvrir l’application d’authentification sur cet appareil',
    code: 'Code à six chiffres',
    add: 'Ajouter l’application',
    wrong:
      'Ce code ne correspond pas. Saisissez le code que l’application d’authentification affiche maintenant et vérifiez l’heure de votre téléphone.',
    codesTitle: 'Conservez vos codes de récupération',
    codesText:
      'Si vous perdez votre application d’authentification, connectez-vous avec un de ces codes. Chacun ne fonctionne qu’une fois, et ils ne seront plus affichés.',
    codes: 'Codes de récupération',
    kept: 'J’ai conservé ces codes en lieu sûr.',
    notKept: 'Confirmez que vous avez conservé les codes.',
    next: 'Continuer',
    place: 'Vous reviendrez ensuite à {place}.',
  },
};
