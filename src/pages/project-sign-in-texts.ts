import type { Language } from '../i18n/translate.ts';

/** What the pages say on which somebody tells an app who he is. `{app}`, `{address}` and `{place}` are holes for names. */
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
    addressHint: 'We send you a link; you need no password.',
    send: 'Send the link',
    or: 'or',
    github: 'Continue with GitHub',
    mailed: {
      title: 'Check your mail',
      text: 'We have sent a link to {address}. Open it in this browser in the next few minutes.',
      again: 'No mail, or another way to sign in?',
    },
    link: {
      text: 'You opened the link in the right browser. Go on with the sign-in here.',
      button: 'Continue',
      invalid: {
        title: 'This link does not work any more',
        text: 'It was used already, is too old, or a newer one was sent. Go back to the app and start the sign-in again.',
      },
      otherBrowser: {
        title: 'Open this link in the other browser',
        text: 'The sign-in was started in another browser or on another device. Copy the link from the mail and open it there, or start the sign-in again here, in the app.',
      },
    },
    notices: {
      addressInvalid: 'This is not an e-mail address. Check it, please.',
      providerFailed:
        'GitHub could not be reached, or did not confirm who you are. Please try again in a moment.',
      providerRefused: 'You did not allow the sign-in at GitHub.',
      emailNotVerified:
        'Your GitHub account has no verified primary e-mail address. Verify one at GitHub, then try again.',
    },
    secondFactor: {
      title: 'Enter your code',
      text: 'Your account has a second factor. Open the app that shows your codes.',
      code: 'Six-digit code',
      confirm: 'Confirm',
      wrong: 'This code is not right, or was used already. Enter the one that your app shows now.',
      noApp: 'Use a recovery code instead',
      recoveryCode: 'Recovery code',
      recover: 'Confirm with a recovery code',
    },
    cancel: 'Cancel',
    place: 'Afterwards you go back to {place}.',
  },
  de: {
    title: 'Bei {app} anmelden',
    address: 'E-Mail-Adresse',
    addressHint: 'Wir senden Ihnen einen Link; Sie brauchen kein Passwort.',
    send: 'Link senden',
    or: 'oder',
    github: 'Weiter mit GitHub',
    mailed: {
      title: 'Sehen Sie in Ihr Postfach',
      text: 'Wir haben einen Link an {address} gesendet. Öffnen Sie ihn in den nächsten Minuten in diesem Browser.',
      again: 'Keine E-Mail, oder anders anmelden?',
    },
    link: {
      text: 'Sie haben den Link im richtigen Browser geöffnet. Hier geht die Anmeldung weiter.',
      button: 'Weiter',
      invalid: {
        title: 'Dieser Link gilt nicht mehr',
        text: 'Er wurde schon benutzt, ist zu alt, oder es wurde ein neuer gesendet. Gehen Sie zurück zur App und beginnen Sie die Anmeldung noch einmal.',
      },
      otherBrowser: {
        title: 'Öffnen Sie diesen Link im anderen Browser',
        text: 'Die Anmeldung wurde in einem anderen Browser oder auf einem anderen Gerät begonnen. Kopieren Sie den Link aus der E-Mail und öffnen Sie ihn dort, oder beginnen Sie die Anmeldung hier in der App noch einmal.',
      },
    },
    notices: {
      addressInvalid: 'Das ist keine E-Mail-Adresse. Bitte prüfen Sie sie.',
      providerFailed:
        'GitHub war nicht erreichbar oder hat nicht bestätigt, wer Sie sind. Bitte versuchen Sie es gleich noch einmal.',
      providerRefused: 'Sie haben die Anmeldung bei GitHub nicht erlaubt.',
      emailNotVerified:
        'Ihr GitHub-Konto hat keine bestätigte primäre E-Mail-Adresse. Bestätigen Sie eine bei GitHub und versuchen Sie es dann noch einmal.',
    },
    secondFactor: {
      title: 'Geben Sie Ihren Code ein',
      text: 'Ihr Konto hat einen zweiten Faktor. Öffnen Sie die App, die Ihre Codes anzeigt.',
      code: 'Sechsstelliger Code',
      confirm: 'Bestätigen',
      wrong:
        'Dieser Code stimmt nicht oder wurde schon benutzt. Geben Sie den ein, den Ihre App jetzt zeigt.',
      noApp: 'Stattdessen einen Wiederherstellungscode benutzen',
      recoveryCode: 'Wiederherstellungscode',
      recover: 'Mit Wiederherstellungscode bestätigen',
    },
    cancel: 'Abbrechen',
    place: 'Danach kehren Sie zu {place} zurück.',
  },
  es: {
    title: 'Iniciar sesión en {app}',
    address: 'Dirección de correo',
    addressHint: 'Le enviamos un enlace; no necesita contraseña.',
    send: 'Enviar el enlace',
    or: 'o',
    github: 'Continuar con GitHub',
    mailed: {
      title: 'Mire su correo',
      text: 'Hemos enviado un enlace a {address}. Ábralo en este navegador en los próximos minutos.',
      again: '¿No llega el correo, o prefiere otra forma?',
    },
    link: {
      text: 'Ha abierto el enlace en el navegador correcto. Continúe aquí.',
      button: 'Continuar',
      invalid: {
        title: 'Este enlace ya no sirve',
        text: 'Ya se ha usado, es demasiado antiguo o se ha enviado uno nuevo. Vuelva a la aplicación e inicie sesión de nuevo.',
      },
      otherBrowser: {
        title: 'Abra este enlace en el otro navegador',
        text: 'El inicio de sesión se empezó en otro navegador o en otro dispositivo. Copie el enlace del correo y ábralo allí, o empiece de nuevo aquí, en la aplicación.',
      },
    },
    notices: {
      addressInvalid: 'Esto no es una dirección de correo. Revísela, por favor.',
      providerFailed:
        'No se ha podido contactar con GitHub, o no ha confirmado quién es usted. Inténtelo de nuevo en un momento.',
      providerRefused: 'No ha permitido el inicio de sesión en GitHub.',
      emailNotVerified:
        'Su cuenta de GitHub no tiene una dirección de correo principal verificada. Verifique una en GitHub e inténtelo de nuevo.',
    },
    secondFactor: {
      title: 'Escriba su código',
      text: 'Su cuenta tiene un segundo factor. Abra la aplicación que muestra sus códigos.',
      code: 'Código de seis cifras',
      confirm: 'Confirmar',
      wrong: 'Este código no es correcto o ya se ha usado. Escriba el que su aplicación muestra ahora.',
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
    addressHint: "Nous vous envoyons un lien ; aucun mot de passe n'est nécessaire.",
    send: 'Envoyer le lien',
    or: 'ou',
    github: 'Continuer avec GitHub',
    mailed: {
      title: 'Consultez vos messages',
      text: 'Nous avons envoyé un lien à {address}. Ouvrez-le dans ce navigateur dans les prochaines minutes.',
      again: 'Pas de message, ou un autre moyen de connexion ?',
    },
    link: {
      text: 'Vous avez ouvert le lien dans le bon navigateur. Poursuivez la connexion ici.',
      button: 'Continuer',
      invalid: {
        title: 'Ce lien ne fonctionne plus',
        text: "Il a déjà été utilisé, il est trop ancien, ou un nouveau a été envoyé. Revenez à l'application et recommencez la connexion.",
      },
      otherBrowser: {
        title: "Ouvrez ce lien dans l'autre navigateur",
        text: "La connexion a été commencée dans un autre navigateur ou sur un autre appareil. Copiez le lien du message et ouvrez-le là-bas, ou recommencez la connexion ici, dans l'application.",
      },
    },
    notices: {
      addressInvalid: "Ce n'est pas une adresse e-mail. Veuillez la vérifier.",
      providerFailed:
        "GitHub n'a pas pu être joint ou n'a pas confirmé votre identité. Réessayez dans un instant.",
      providerRefused: "Vous n'avez pas autorisé la connexion sur GitHub.",
      emailNotVerified:
        "Votre compte GitHub n'a pas d'adresse e-mail principale vérifiée. Vérifiez-en une sur GitHub, puis réessayez.",
    },
    secondFactor: {
      title: 'Saisissez votre code',
      text: "Votre compte a un second facteur. Ouvrez l'application qui affiche vos codes.",
      code: 'Code à six chiffres',
      confirm: 'Confirmer',
      wrong:
        "Ce code n'est pas le bon ou a déjà été utilisé. Saisissez celui que votre application affiche maintenant.",
      noApp: 'Utiliser un code de récupération',
      recoveryCode: 'Code de récupération',
      recover: 'Confirmer avec le code de récupération',
    },
    cancel: 'Annuler',
    place: 'Ensuite, vous reviendrez à {place}.',
  },
};
