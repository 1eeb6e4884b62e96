import type { Language } from '../../../languages.ts';

interface Texts {
  readonly title: string;
  readonly address: string;
  readonly addressHint: string;
  readonly send: string;
  readonly or: string;
  readonly provider: string;
  readonly next: string;
  readonly password: string;
  readonly signIn: string;
  readonly mailInstead: string;
  readonly forgot: string;
  readonly otherAddress: string;
  readonly noAccountYet: string;
  readonly show: string;
  readonly hide: string;
  readonly passwordRule: string;
  readonly tooShort: string;
  readonly signUp: {
    readonly title: string;
    readonly name: string;
    readonly button: string;
    readonly hint: string;
    readonly back: string;
  };
  readonly reset: {
    readonly title: string;
    readonly hint: string;
    readonly button: string;
    readonly back: string;
    readonly newPassword: string;
    readonly save: string;
    readonly ends: string;
  };
  readonly code: {
    readonly title: string;
    readonly text: string;
    readonly code: string;
    readonly hint: string;
    readonly button: string;
    readonly again: string;
    readonly sendAgain: string;
    readonly startOver: string;
  };
  readonly link: {
    readonly text: string;
    readonly button: string;
    readonly invalid: { readonly title: string; readonly text: string };
    readonly otherBrowser: { readonly title: string; readonly text: string; readonly warning: string };
  };
}

/**
 * Texts of the first page, which offers the sign-in methods. `{app}`, `{address}`, `{length}` and `{place}` are
 * placeholders.
 */
export const methodTexts: Record<Language, Texts> = {
  en: {
    title: 'Sign in to {app}',
    address: 'E-mail address',
    addressHint: 'We will e-mail you a code to sign in. You do not need a password.',
    send: 'Send code',
    or: 'or',
    provider: 'Continue with {provider}',
    next: 'Continue',
    password: 'Password',
    signIn: 'Sign in',
    mailInstead: 'E-mail me a code instead',
    forgot: 'Forgot your password?',
    otherAddress: 'Use another address',
    noAccountYet: 'Create an account',
    show: 'Show password',
    hide: 'Hide password',
    passwordRule: 'At least {length} characters. A few words that only you would put together work well.',
    tooShort: 'Use at least {length} characters.',
    signUp: {
      title: 'Create an account for {app}',
      name: 'Your name',
      button: 'Continue',
      hint: 'We will e-mail you a code, to make sure that the address is yours.',
      back: 'Already have an account? Sign in',
    },
    reset: {
      title: 'Choose a new password',
      hint: 'We will e-mail you a code with which you can choose a new password.',
      button: 'Send code',
      back: 'Back to sign-in',
      newPassword: 'New password',
      save: 'Save password',
      ends: 'You will be signed out on all devices.',
    },
    code: {
      title: 'Check your e-mail',
      text: 'We sent an e-mail to {address}. Enter the code from it, or open its link in this browser.',
      code: 'Six-digit code',
      hint: 'It works for 10 minutes, in this browser only.',
      button: 'Continue',
      again: 'No e-mail? Look in the spam folder too, or:',
      sendAgain: 'Send another code',
      startOver: 'Start over',
    },
    link: {
      text: 'Continue with your sign-in. If you did not start this sign-in, close this page.',
      button: 'Continue',
      invalid: {
        title: 'This link is no longer valid',
        text: 'It has expired, has already been used, or was replaced by a newer e-mail. Go back to the app and start the sign-in again.',
      },
      otherBrowser: {
        title: 'Enter this code where you started',
        text: 'You started the sign-in in another browser or on another device. Enter the code there; you can close this page.',
        warning: 'If you did not start a sign-in, close this page, and do not share the code with anyone.',
      },
    },
  },
  de: {
    title: 'Bei {app} anmelden',
    address: 'E-Mail-Adresse',
    addressHint: 'Wir senden Ihnen per E-Mail einen Code zum Anmelden. Sie brauchen kein Passwort.',
    send: 'Code senden',
    or: 'oder',
    provider: 'Weiter mit {provider}',
    next: 'Weiter',
    password: 'Passwort',
    signIn: 'Anmelden',
    mailInstead: 'Stattdessen Code per E-Mail',
    forgot: 'Passwort vergessen?',
    otherAddress: 'Andere Adresse verwenden',
    noAccountYet: 'Konto anlegen',
    show: 'Passwort anzeigen',
    hide: 'Passwort verbergen',
    passwordRule:
      'Mindestens {length} Zeichen. Gut sind ein paar Wörter, die nur Sie zusammenstellen würden.',
    tooShort: 'Verwenden Sie mindestens {length} Zeichen.',
    signUp: {
      title: 'Konto für {app} anlegen',
      name: 'Ihr Name',
      button: 'Weiter',
      hint: 'Wir senden Ihnen per E-Mail einen Code, um sicherzugehen, dass die Adresse Ihnen gehört.',
      back: 'Sie haben ein Konto? Anmelden',
    },
    reset: {
      title: 'Neues Passwort wählen',
      hint: 'Wir senden Ihnen per E-Mail einen Code, mit dem Sie ein neues Passwort wählen können.',
      button: 'Code senden',
      back: 'Zurück zur Anmeldung',
      newPassword: 'Neues Passwort',
      save: 'Passwort speichern',
      ends: 'Sie werden auf allen Geräten abgemeldet.',
    },
    code: {
      title: 'Prüfen Sie Ihr Postfach',
      text: 'Wir haben eine E-Mail an {address} gesendet. Geben Sie den Code daraus ein, oder öffnen Sie ihren Link in diesem Browser.',
      code: 'Sechsstelliger Code',
      hint: 'Er gilt 10 Minuten lang und nur in diesem Browser.',
      button: 'Weiter',
      again: 'Keine E-Mail? Sehen Sie auch im Spam-Ordner nach, oder:',
      sendAgain: 'Neuen Code senden',
      startOver: 'Von vorn beginnen',
    },
    link: {
      text: 'Mit „Weiter“ setzen Sie die Anmeldung fort. Wenn Sie diese Anmeldung nicht begonnen haben, schließen Sie diese Seite.',
      button: 'Weiter',
      invalid: {
        title: 'Dieser Link ist nicht mehr gültig',
        text: 'Er ist abgelaufen, wurde schon verwendet oder durch eine neuere E-Mail ersetzt. Gehen Sie zurück zur App und beginnen Sie die Anmeldung noch einmal.',
      },
      otherBrowser: {
        title: 'Geben Sie diesen Code dort ein, wo Sie begonnen haben',
        text: 'Sie haben die Anmeldung in einem anderen Browser oder auf einem anderen Gerät begonnen. Geben Sie den Code dort ein; diese Seite können Sie schließen.',
        warning:
          'Wenn Sie keine Anmeldung begonnen haben, schließen Sie diese Seite und nennen Sie den Code niemandem.',
      },
    },
  },
  es: {
    title: 'Iniciar sesión en {app}',
    address: 'Dirección de correo',
    addressHint: 'Le enviaremos por correo un código para iniciar sesión. No necesita contraseña.',
    send: 'Enviar código',
    or: 'o',
    provider: 'Continuar con {provider}',
    next: 'Continuar',
    password: 'Contraseña',
    signIn: 'Iniciar sesión',
    mailInstead: 'Enviarme un código por correo',
    forgot: '¿Ha olvidado su contraseña?',
    otherAddress: 'Usar otra dirección',
    noAccountYet: 'Crear una cuenta',
    show: 'Mostrar la contraseña',
    hide: 'Ocultar la contraseña',
    passwordRule: 'Al menos {length} caracteres. Funcionan bien unas palabras que solo usted juntaría.',
    tooShort: 'Use al menos {length} caracteres.',
    signUp: {
      title: 'Crear una cuenta para {app}',
      name: 'Su nombre',
      button: 'Continuar',
      hint: 'Le enviaremos por correo un código, para asegurarnos de que la dirección es suya.',
      back: '¿Tiene una cuenta? Inicie sesión',
    },
    reset: {
      title: 'Elija una contraseña nueva',
      hint: 'Le enviaremos por correo un código con el que puede elegir una contraseña nueva.',
      button: 'Enviar código',
      back: 'Volver al inicio de sesión',
      newPassword: 'Contraseña nueva',
      save: 'Guardar la contraseña',
      ends: 'Se cerrará la sesión en todos sus dispositivos.',
    },
    code: {
      title: 'Revise su correo',
      text: 'Hemos enviado un correo a {address}. Introduzca el código que contiene o abra su enlace en este navegador.',
      code: 'Código de seis cifras',
      hint: 'Sirve durante 10 minutos y solo en este navegador.',
      button: 'Continuar',
      again: '¿No ha llegado? Mire también en la carpeta de spam, o bien:',
      sendAgain: 'Enviar otro código',
      startOver: 'Empezar de nuevo',
    },
    link: {
      text: 'Continúe con el inicio de sesión. Si usted no ha empezado este inicio de sesión, cierre esta página.',
      button: 'Continuar',
      invalid: {
        title: 'Este enlace ya no es válido',
        text: 'Ha caducado, ya se ha usado o lo ha sustituido un correo más reciente. Vuelva a la aplicación y empiece de nuevo.',
      },
      otherBrowser: {
        title: 'Introduzca este código donde empezó',
        text: 'Empezó a iniciar sesión en otro navegador o en otro dispositivo. Introduzca allí el código; puede cerrar esta página.',
        warning: 'Si no ha empezado ningún inicio de sesión, cierre esta página y no diga el código a nadie.',
      },
    },
  },
  fr: {
    title: 'Se connecter à {app}',
    address: 'Adresse e-mail',
    addressHint:
      'Nous vous enverrons par e-mail un code pour vous connecter. Aucun mot de passe n’est nécessaire.',
    send: 'Envoyer le code',
    or: 'ou',
    provider: 'Continuer avec {provider}',
    next: 'Continuer',
    password: 'Mot de passe',
    signIn: 'Se connecter',
    mailInstead: 'Recevoir plutôt un code par e-mail',
    forgot: 'Mot de passe oublié ?',
    otherAddress: 'Utiliser une autre adresse',
    noAccountYet: 'Créer un compte',
    show: 'Afficher le mot de passe',
    hide: 'Masquer le mot de passe',
    passwordRule: 'Au moins {length} caractères. Quelques mots que vous seul réuniriez conviennent bien.',
    tooShort: 'Utilisez au moins {length} caractères.',
    signUp: {
      title: 'Créer un compte pour {app}',
      name: 'Votre nom',
      button: 'Continuer',
      hint: 'Nous vous enverrons un code par e-mail, pour nous assurer que l’adresse est la vôtre.',
      back: 'Vous avez un compte ? Connectez-vous',
    },
    reset: {
      title: 'Choisissez un nouveau mot de passe',
      hint: 'Nous vous enverrons par e-mail un code avec lequel vous pourrez choisir un nouveau mot de passe.',
      button: 'Envoyer le code',
      back: 'Retour à la connexion',
      newPassword: 'Nouveau mot de passe',
      save: 'Enregistrer le mot de passe',
      ends: 'Vous serez déconnecté de tous vos appareils.',
    },
    code: {
      title: 'Consultez vos e-mails',
      text: 'Nous avons envoyé un e-mail à {address}. Saisissez le code qu’il contient ou ouvrez son lien dans ce navigateur.',
      code: 'Code à six chiffres',
      hint: 'Il fonctionne pendant 10 minutes, dans ce navigateur uniquement.',
      button: 'Continuer',
      again: 'Pas d’e-mail ? Regardez aussi dans les indésirables, ou bien :',
      sendAgain: 'Envoyer un autre code',
      startOver: 'Recommencer',
    },
    link: {
      text: 'Poursuivez la connexion. Si vous n’avez pas commencé cette connexion, fermez cette page.',
      button: 'Continuer',
      invalid: {
        title: 'Ce lien n’est plus valide',
        text: 'Il a expiré, a déjà été utilisé ou a été remplacé par un e-mail plus récent. Retournez dans l’application et recommencez.',
      },
      otherBrowser: {
        title: 'Saisissez ce code là où vous avez commencé',
        text: 'Vous avez commencé la connexion dans un autre navigateur ou sur un autre appareil. Saisissez-y le code ; vous pouvez fermer cette page.',
        warning:
          'Si vous n’avez pas commencé de connexion, fermez cette page et ne communiquez le code à personne.',
      },
    },
  },
};
