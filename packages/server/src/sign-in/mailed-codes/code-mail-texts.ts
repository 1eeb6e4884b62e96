import type { CodePurpose } from '../flow/flow-data.ts';
import type { Language } from '../../languages.ts';

interface PurposeTexts {
  readonly subject: string;
  readonly line: string;
  readonly button: string;
  readonly ignore: string;
}

interface Texts {
  readonly purposes: Record<CodePurpose['name'], PurposeTexts>;
  readonly code: string;
  readonly small: string;
}

/** The texts of the mail with a code and a link. `{app}` and `{provider}` are placeholders. */
export const codeMailTexts: Record<Language, Texts> = {
  en: {
    purposes: {
      signIn: {
        subject: 'Sign in to {app}',
        line: 'We received a request to sign in to {app} with this e-mail address.',
        button: 'Continue to {app}',
        ignore: 'If you did not request this, ignore this e-mail, and do not share the code with anyone.',
      },
      verification: {
        subject: 'Confirm your e-mail address for {app}',
        line: 'Someone signed in to {app} with this e-mail address and a password. Confirm that the address is yours.',
        button: 'Continue to {app}',
        ignore:
          'If this was not you, ignore this e-mail, and do not share the code with anyone: without it, nobody gets further.',
      },
      connection: {
        subject: 'Confirm your e-mail address for {app}',
        line: 'Someone signed in to {app} with an account at {provider} that names this e-mail address. {provider} does not confirm that the address is yours. If it is, and the account is yours too, enter the code: you can then sign in with that account from now on.',
        button: 'Continue to {app}',
        ignore:
          'If this was not you, do not share the code with anyone: whoever has it can sign in as you with their own account at {provider}.',
      },
      reset: {
        subject: 'Choose a new password',
        line: 'We received a request for a new password, in a sign-in to {app}.',
        button: 'Choose a new password',
        ignore:
          'If you did not request this, ignore this e-mail, and do not share the code with anyone: your password stays the same.',
      },
    },
    code: 'Enter this code where you started:',
    small:
      'Code and link work once, for 10 minutes, and only in the browser in which you requested them. In another browser the link shows you the code.',
  },
  de: {
    purposes: {
      signIn: {
        subject: 'Anmelden bei {app}',
        line: 'Wir haben eine Anfrage erhalten, sich mit dieser E-Mail-Adresse bei {app} anzumelden.',
        button: 'Weiter zu {app}',
        ignore:
          'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail und nennen Sie den Code niemandem.',
      },
      verification: {
        subject: 'Bestätigen Sie Ihre E-Mail-Adresse für {app}',
        line: 'Jemand hat sich mit dieser E-Mail-Adresse und einem Passwort bei {app} angemeldet. Bestätigen Sie, dass die Adresse Ihnen gehört.',
        button: 'Weiter zu {app}',
        ignore:
          'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail und nennen Sie den Code niemandem: Ohne ihn kommt niemand weiter.',
      },
      connection: {
        subject: 'Bestätigen Sie Ihre E-Mail-Adresse für {app}',
        line: 'Jemand hat sich bei {app} mit einem Konto bei {provider} angemeldet, das diese E-Mail-Adresse nennt. {provider} bestätigt nicht, dass die Adresse Ihnen gehört. Gehören Adresse und Konto Ihnen, geben Sie den Code ein: Dann können Sie sich künftig mit diesem Konto anmelden.',
        button: 'Weiter zu {app}',
        ignore:
          'Wenn Sie das nicht waren, nennen Sie den Code niemandem: Wer ihn hat, kann sich mit dem eigenen Konto bei {provider} als Sie anmelden.',
      },
      reset: {
        subject: 'Wählen Sie ein neues Passwort',
        line: 'Wir haben beim Anmelden bei {app} eine Anfrage nach einem neuen Passwort erhalten.',
        button: 'Neues Passwort wählen',
        ignore:
          'Wenn Sie das nicht angefordert haben, ignorieren Sie diese E-Mail und nennen Sie den Code niemandem: Ihr Passwort bleibt unverändert.',
      },
    },
    code: 'Geben Sie diesen Code dort ein, wo Sie begonnen haben:',
    small:
      'Code und Link gelten einmal, 10 Minuten lang, und nur in dem Browser, in dem Sie sie angefordert haben. In einem anderen Browser zeigt der Link Ihnen den Code.',
  },
  es: {
    purposes: {
      signIn: {
        subject: 'Iniciar sesión en {app}',
        line: 'Hemos recibido una solicitud para iniciar sesión en {app} con esta dirección de correo.',
        button: 'Ir a {app}',
        ignore: 'Si no lo ha solicitado usted, ignore este mensaje y no diga el código a nadie.',
      },
      verification: {
        subject: 'Confirme su dirección de correo para {app}',
        line: 'Alguien ha iniciado sesión en {app} con esta dirección de correo y una contraseña. Confirme que la dirección es suya.',
        button: 'Ir a {app}',
        ignore:
          'Si no ha sido usted, ignore este mensaje y no diga el código a nadie: sin él nadie puede continuar.',
      },
      connection: {
        subject: 'Confirme su dirección de correo para {app}',
        line: 'Alguien ha iniciado sesión en {app} con una cuenta de {provider} que indica esta dirección de correo. {provider} no confirma que la dirección sea suya. Si la dirección y la cuenta son suyas, introduzca el código: a partir de entonces podrá iniciar sesión con esa cuenta.',
        button: 'Ir a {app}',
        ignore:
          'Si no ha sido usted, no diga el código a nadie: quien lo tenga podrá iniciar sesión como usted con su propia cuenta de {provider}.',
      },
      reset: {
        subject: 'Elija una contraseña nueva',
        line: 'Hemos recibido una solicitud de contraseña nueva, al iniciar sesión en {app}.',
        button: 'Elegir una contraseña nueva',
        ignore:
          'Si no lo ha solicitado usted, ignore este mensaje y no diga el código a nadie: su contraseña no cambiará.',
      },
    },
    code: 'Introduzca este código donde empezó:',
    small:
      'El código y el enlace sirven una sola vez, durante 10 minutos y solo en el navegador en el que los solicitó. En otro navegador, el enlace le muestra el código.',
  },
  fr: {
    purposes: {
      signIn: {
        subject: 'Se connecter à {app}',
        line: 'Nous avons reçu une demande de connexion à {app} avec cette adresse e-mail.',
        button: 'Continuer vers {app}',
        ignore:
          'Si vous n’êtes pas à l’origine de cette demande, ignorez cet e-mail et ne communiquez le code à personne.',
      },
      verification: {
        subject: 'Confirmez votre adresse e-mail pour {app}',
        line: 'Quelqu’un s’est connecté à {app} avec cette adresse e-mail et un mot de passe. Confirmez que l’adresse est la vôtre.',
        button: 'Continuer vers {app}',
        ignore:
          'Si ce n’était pas vous, ignorez cet e-mail et ne communiquez le code à personne : sans lui, personne ne va plus loin.',
      },
      connection: {
        subject: 'Confirmez votre adresse e-mail pour {app}',
        line: 'Quelqu’un s’est connecté à {app} avec un compte {provider} qui indique cette adresse e-mail. {provider} ne confirme pas que l’adresse est la vôtre. Si l’adresse et le compte sont à vous, saisissez le code : vous pourrez ensuite vous connecter avec ce compte.',
        button: 'Continuer vers {app}',
        ignore:
          'Si ce n’était pas vous, ne communiquez le code à personne : toute personne qui l’a pourrait se connecter à votre place avec son propre compte {provider}.',
      },
      reset: {
        subject: 'Choisissez un nouveau mot de passe',
        line: 'Nous avons reçu une demande de nouveau mot de passe, lors d’une connexion à {app}.',
        button: 'Choisir un nouveau mot de passe',
        ignore:
          'Si vous n’êtes pas à l’origine de cette demande, ignorez cet e-mail et ne communiquez le code à personne : votre mot de passe ne changera pas.',
      },
    },
    code: 'Saisissez ce code là où vous avez commencé :',
    small:
      'Le code et le lien fonctionnent une seule fois, pendant 10 minutes, et uniquement dans le navigateur où vous les avez demandés. Dans un autre navigateur, le lien vous montre le code.',
  },
};
