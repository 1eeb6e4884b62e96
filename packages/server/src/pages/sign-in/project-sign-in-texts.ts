import type { Language } from '../../i18n/translate.ts';

/** The texts of the pages of a project sign-in up to the consent. `{app}`, `{address}` and `{place}` are placeholders. */
interface Texts {
  readonly title: string;
  readonly address: string;
  readonly addressHint: string;
  readonly send: string;
  readonly or: string;
  readonly github: string;
  readonly mailed: {
    readonly title: string;
    readonly text: string;
    readonly again: string;
  };
  readonly link: {
    readonly text: string;
    readonly button: string;
    readonly invalid: { readonly title: string; readonly text: string };
    readonly otherBrowser: { readonly title: string; readonly text: string };
  };
  readonly notices: {
    readonly addressInvalid: string;
    readonly providerFailed: string;
    readonly providerRefused: string;
    readonly emailNotVerified: string;
  };
  readonly secondFactor: {
    readonly title: string;
    readonly text: string;
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

export const signInTexts: Record<Language, Texts> = {
  en: {
    title: 'Sign in to {app}',
    address: 'E-mail address',
    addressHint: 'We will e-mail you a link to sign in. You do not need a password.',
    send: 'Send link',
    or: 'or',
    github: 'Continue with GitHub',
    mailed: {
      title: 'Check your e-mail',
      text: 'We sent a sign-in link to {address}. Open it in this browser within the next few minutes.',
      again: 'No e-mail? Send another link or sign in another way',
    },
    link: {
      text: 'Continue to finish signing in. If you did not start this sign-in, close this page.',
      button: 'Continue',
      invalid: {
        title: 'This link is no longer valid',
        text: 'It has expired, has already been used, or was replaced by a newer link. Go back to the app and start the sign-in again.',
      },
      otherBrowser: {
        title: 'Open this link in the browser where you started',
        text: 'You started the sign-in in another browser or on another device. Copy the link from the e-mail and open it there, or start the sign-in again in this browser. If you did not start a sign-in, ignore the e-mail.',
      },
    },
    notices: {
      addressInvalid: 'This is not a valid e-mail address. Please check it.',
      providerFailed:
        'We could not reach GitHub, or GitHub did not confirm who you are. Please try again in a moment.',
      providerRefused: 'You cancelled the sign-in at GitHub. Try again or choose another way to sign in.',
      emailNotVerified:
        'Your GitHub account has no verified primary e-mail address. Verify one at GitHub, then try again.',
    },
    secondFactor: {
      title: 'Enter your code',
      text: 'Your account is protected by a second factor. Open your authenticator app to see the code.',
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
    title: 'Bei {app} anmelden',
    address: 'E-Mail-Adresse',
    addressHint: 'Wir senden Ihnen per E-Mail einen Link zum Anmelden. Sie brauchen kein Passwort.',
    send: 'Link senden',
    or: 'oder',
    github: 'Weiter mit GitHub',
    mailed: {
      title: 'Prüfen Sie Ihr Postfach',
      text: 'Wir haben einen Anmeldelink an {address} gesendet. Öffnen Sie ihn in den nächsten Minuten in diesem Browser.',
      again: 'Keine E-Mail? Neuen Link senden oder anders anmelden',
    },
    link: {
      text: 'Mit „Weiter“ schließen Sie die Anmeldung ab. Wenn Sie diese Anmeldung nicht begonnen haben, schließen Sie diese Seite.',
      button: 'Weiter',
      invalid: {
        title: 'Dieser Link ist nicht mehr gültig',
        text: 'Er ist abgelaufen, wurde schon verwendet oder durch einen neueren ersetzt. Gehen Sie zurück zur App und beginnen Sie die Anmeldung noch einmal.',
      },
      otherBrowser: {
        title: 'Öffnen Sie diesen Link in dem Browser, in dem Sie begonnen haben',
        text: 'Sie haben die Anmeldung in einem anderen Browser oder auf einem anderen Gerät begonnen. Kopieren Sie den Link aus der E-Mail und öffnen Sie ihn dort, oder beginnen Sie die Anmeldung in diesem Browser noch einmal. Wenn Sie keine Anmeldung begonnen haben, ignorieren Sie die E-Mail.',
      },
    },
    notices: {
      addressInvalid: 'Das ist keine gültige E-Mail-Adresse. Bitte prüfen Sie sie.',
      providerFailed:
        'Wir konnten GitHub nicht erreichen, oder GitHub hat nicht bestätigt, wer Sie sind. Bitte versuchen Sie es gleich noch einmal.',
      providerRefused:
        'Sie haben die Anmeldung bei GitHub abgebrochen. Versuchen Sie es noch einmal oder wählen Sie einen anderen Anmeldeweg.',
      emailNotVerified:
        'Ihr GitHub-Konto hat keine bestätigte primäre E-Mail-Adresse. Bestätigen Sie eine bei GitHub und versuchen Sie es dann noch einmal.',
    },
    secondFactor: {
      title: 'Geben Sie Ihren Code ein',
      text: 'Ihr Konto ist durch einen zweiten Faktor geschützt. Öffnen Sie Ihre Authenticator-App, um den Code zu sehen.',
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
    title: 'Iniciar sesión en {app}',
    address: 'Dirección de correo',
    addressHint: 'Le enviaremos por correo un enlace para iniciar sesión. No necesita contraseña.',
    send: 'Enviar enlace',
    or: 'o',
    github: 'Continuar con GitHub',
    mailed: {
      title: 'Revise su correo',
      text: 'Hemos enviado un enlace de inicio de sesión a {address}. Ábralo en este navegador en los próximos minutos.',
      again: '¿No llega el correo? Envíe otro enlace o inicie sesión de otra forma',
    },
    link: {
      text: 'Continúe para terminar de iniciar sesión. Si usted no ha empezado este inicio de sesión, cierre esta página.',
      button: 'Continuar',
      invalid: {
        title: 'Este enlace ya no es válido',
        text: 'Ha caducado, ya se ha usado o se ha sustituido por uno más reciente. Vuelva a la aplicación y empiece de nuevo el inicio de sesión.',
      },
      otherBrowser: {
        title: 'Abra este enlace en el navegador donde empezó',
        text: 'Empezó el inicio de sesión en otro navegador o en otro dispositivo. Copie el enlace del correo y ábralo allí, o empiece de nuevo en este navegador. Si no ha empezado ningún inicio de sesión, ignore el correo.',
      },
    },
    notices: {
      addressInvalid: 'Esta dirección de correo no es válida. Revísela, por favor.',
      providerFailed:
        'No hemos podido contactar con GitHub, o GitHub no ha confirmado quién es usted. Inténtelo de nuevo en un momento.',
      providerRefused:
        'Ha cancelado el inicio de sesión en GitHub. Inténtelo de nuevo o elija otra forma de iniciar sesión.',
      emailNotVerified:
        'Su cuenta de GitHub no tiene una dirección de correo principal verificada. Verifique una en GitHub e inténtelo de nuevo.',
    },
    secondFactor: {
      title: 'Escriba su código',
      text: 'Su cuenta está protegida con un segundo factor. Abra su aplicación de autenticación para ver el código.',
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
    title: 'Se connecter à {app}',
    address: 'Adresse e-mail',
    addressHint:
      'Nous vous enverrons par e-mail un lien de connexion. Vous n’avez pas besoin de mot de passe.',
    send: 'Envoyer le lien',
    or: 'ou',
    github: 'Continuer avec GitHub',
    mailed: {
      title: 'Consultez vos e-mails',
      text: 'Nous avons envoyé un lien de connexion à {address}. Ouvrez-le dans ce navigateur dans les prochaines minutes.',
      again: 'Pas d’e-mail ? Envoyer un autre lien ou se connecter autrement',
    },
    link: {
      text: 'Continuez pour terminer la connexion. Si vous n’avez pas commencé cette connexion, fermez cette page.',
      button: 'Continuer',
      invalid: {
        title: 'Ce lien n’est plus valide',
        text: 'Il a expiré, a déjà été utilisé ou a été remplacé par un lien plus récent. Revenez à l’application et recommencez la connexion.',
      },
      otherBrowser: {
        title: 'Ouvrez ce lien dans le navigateur où vous avez commencé',
        text: 'Vous avez commencé la connexion dans un autre navigateur ou sur un autre appareil. Copiez le lien de l’e-mail et ouvrez-le là-bas, ou recommencez la connexion dans ce navigateur. Si vous n’avez pas commencé de connexion, ignorez l’e-mail.',
      },
    },
    notices: {
      addressInvalid: 'Cette adresse e-mail n’est pas valide. Veuillez la vérifier.',
      providerFailed:
        'Nous n’avons pas pu joindre GitHub, ou GitHub n’a pas confirmé votre identité. Réessayez dans un instant.',
      providerRefused:
        'Vous avez annulé la connexion sur GitHub. Réessayez ou choisissez un autre moyen de connexion.',
      emailNotVerified:
        'Votre compte GitHub n’a pas d’adresse e-mail principale vérifiée. Vérifiez-en une sur GitHub, puis réessayez.',
    },
    secondFactor: {
      title: 'Saisissez votre code',
      text: 'Votre compte est protégé par un second facteur. Ouvrez votre application d’authentification pour voir le code.',
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
