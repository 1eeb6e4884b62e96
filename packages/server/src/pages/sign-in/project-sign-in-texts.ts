import type { Language } from '../../languages.ts';

interface Texts {
  readonly secondFactor: {
    readonly title: string;
    readonly text: string;
    /** For a user who has passkeys but no authenticator app. */
    readonly withPasskey: { readonly title: string; readonly text: string };
    readonly code: string;
    readonly confirm: string;
    readonly wrong: string;
    readonly noApp: string;
    readonly recoveryCode: string;
    readonly recover: string;
  };
  readonly cancel: string;
  readonly place: string;
}

/** Texts that the pages of a project sign-in share, and those of the second factor. `{place}` is a placeholder. */
export const signInTexts: Record<Language, Texts> = {
  en: {
    secondFactor: {
      title: 'Enter your code',
      text: 'Your account is protected by a second factor. Open your authenticator app to see the code.',
      withPasskey: {
        title: 'Confirm with your passkey',
        text: 'Your account is protected by a second factor. Use your passkey, or a recovery code.',
      },
      code: 'Six-digit code',
      confirm: 'Confirm',
      wrong:
        'This code is wrong or has already been used. Enter the code that your authenticator app shows now.',
      noApp: 'Use a recovery code instead',
      recoveryCode: 'Recovery code',
      recover: 'Confirm with a recovery code',
    },
    cancel: 'Cancel',
    place: 'Afterwards you return to {place}.',
  },
  de: {
    secondFactor: {
      title: 'Geben Sie Ihren Code ein',
      text: 'Ihr Konto ist durch einen zweiten Faktor geschützt. Öffnen Sie Ihre Authenticator-App, um den Code zu sehen.',
      withPasskey: {
        title: 'Bestätigen Sie mit Ihrem Passkey',
        text: 'Ihr Konto ist durch einen zweiten Faktor geschützt. Verwenden Sie Ihren Passkey oder einen Wiederherstellungscode.',
      },
      code: 'Sechsstelliger Code',
      confirm: 'Bestätigen',
      wrong:
        'Dieser Code ist falsch oder wurde schon verwendet. Geben Sie den Code ein, den Ihre Authenticator-App jetzt anzeigt.',
      noApp: 'Stattdessen einen Wiederherstellungscode verwenden',
      recoveryCode: 'Wiederherstellungscode',
      recover: 'Mit Wiederherstellungscode bestätigen',
    },
    cancel: 'Abbrechen',
    place: 'Danach kehren Sie zu {place} zurück.',
  },
  es: {
    secondFactor: {
      title: 'Escriba su código',
      text: 'Su cuenta está protegida con un segundo factor. Abra su aplicación de autenticación para ver el código.',
      withPasskey: {
        title: 'Confirme con su llave de acceso',
        text: 'Su cuenta está protegida con un segundo factor. Use su llave de acceso o un código de recuperación.',
      },
      code: 'Código de seis cifras',
      confirm: 'Confirmar',
      wrong:
        'Este código no es correcto o ya se ha usado. Escriba el código que su aplicación de autenticación muestra ahora.',
      noApp: 'Usar un código de recuperación',
      recoveryCode: 'Código de recuperación',
      recover: 'Confirmar con el código de recuperación',
    },
    cancel: 'Cancelar',
    place: 'Después volverá a {place}.',
  },
  fr: {
    secondFactor: {
      title: 'Saisissez votre code',
      text: 'Votre compte est protégé par un second facteur. Ouvrez votre application d’authentification pour voir le code.',
      withPasskey: {
        title: 'Confirmez avec votre clé d’accès',
        text: 'Votre compte est protégé par un second facteur. Utilisez votre clé d’accès ou un code de récupération.',
      },
      code: 'Code à six chiffres',
      confirm: 'Confirmer',
      wrong:
        'Ce code est incorrect ou a déjà été utilisé. Saisissez le code que votre application d’authentification affiche maintenant.',
      noApp: 'Utiliser un code de récupération',
      recoveryCode: 'Code de récupération',
      recover: 'Confirmer avec le code de récupération',
    },
    cancel: 'Annuler',
    place: 'Ensuite, vous reviendrez à {place}.',
  },
};
