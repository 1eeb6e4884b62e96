import type { Language } from '../../../i18n/translate.ts';

/** What went wrong at the last attempt, or what has changed. */
interface Texts {
  readonly addressInvalid: string;
  readonly wrongMailedCode: string;
  readonly mailedCodeEnded: string;
  readonly wrongPassword: string;
  readonly passwordChanged: string;
  readonly accountExists: string;
  readonly noAccount: string;
  readonly providerFailed: string;
  readonly providerRefused: string;
  readonly emailNotVerified: string;
}

export const noticeTexts: Record<Language, Texts> = {
  en: {
    addressInvalid: 'This is not a valid e-mail address. Please check it.',
    wrongMailedCode: 'This code is wrong. Please check the newest e-mail.',
    mailedCodeEnded:
      'This code no longer works: there were five wrong entries, or 10 minutes are over. Request another one.',
    wrongPassword:
      'Address or password is wrong. After many wrong passwords, wait 15 minutes or choose a new password.',
    passwordChanged: 'Your password has been changed. Sign in with it.',
    accountExists: 'You already have an account with this address. Sign in with its password.',
    noAccount: 'There is no account with this address.',
    providerFailed:
      'We could not reach GitHub, or GitHub did not confirm who you are. Please try again in a moment.',
    providerRefused: 'You cancelled the sign-in at GitHub. Try again or choose another way to sign in.',
    emailNotVerified:
      'Your GitHub account has no verified primary e-mail address. Verify one at GitHub, then try again.',
  },
  de: {
    addressInvalid: 'Das ist keine gültige E-Mail-Adresse. Bitte prüfen Sie sie.',
    wrongMailedCode: 'Dieser Code ist falsch. Bitte prüfen Sie die neueste E-Mail.',
    mailedCodeEnded:
      'Dieser Code gilt nicht mehr: Er wurde fünfmal falsch eingegeben, oder 10 Minuten sind vorbei. Fordern Sie einen neuen an.',
    wrongPassword:
      'Adresse oder Passwort ist falsch. Nach vielen falschen Passwörtern warten Sie 15 Minuten oder wählen Sie ein neues Passwort.',
    passwordChanged: 'Ihr Passwort wurde geändert. Melden Sie sich damit an.',
    accountExists: 'Sie haben schon ein Konto mit dieser Adresse. Melden Sie sich mit seinem Passwort an.',
    noAccount: 'Es gibt kein Konto mit dieser Adresse.',
    providerFailed:
      'Wir konnten GitHub nicht erreichen, oder GitHub hat nicht bestätigt, wer Sie sind. Bitte versuchen Sie es gleich noch einmal.',
    providerRefused:
      'Sie haben die Anmeldung bei GitHub abgebrochen. Versuchen Sie es noch einmal oder wählen Sie einen anderen Anmeldeweg.',
    emailNotVerified:
      'Ihr GitHub-Konto hat keine bestätigte primäre E-Mail-Adresse. Bestätigen Sie eine bei GitHub und versuchen Sie es dann noch einmal.',
  },
  es: {
    addressInvalid: 'Esta dirección de correo no es válida. Compruébela.',
    wrongMailedCode: 'Este código no es correcto. Compruebe el correo más reciente.',
    mailedCodeEnded:
      'Este código ya no sirve: se introdujo mal cinco veces o han pasado 10 minutos. Solicite otro.',
    wrongPassword:
      'La dirección o la contraseña no es correcta. Tras muchas contraseñas incorrectas, espere 15 minutos o elija una contraseña nueva.',
    passwordChanged: 'Su contraseña se ha cambiado. Inicie sesión con ella.',
    accountExists: 'Ya tiene una cuenta con esta dirección. Inicie sesión con su contraseña.',
    noAccount: 'No hay ninguna cuenta con esta dirección.',
    providerFailed:
      'No hemos podido contactar con GitHub, o GitHub no ha confirmado quién es usted. Inténtelo de nuevo en un momento.',
    providerRefused:
      'Ha cancelado el inicio de sesión en GitHub. Inténtelo de nuevo o elija otra forma de iniciar sesión.',
    emailNotVerified:
      'Su cuenta de GitHub no tiene una dirección de correo principal verificada. Verifique una en GitHub e inténtelo de nuevo.',
  },
  fr: {
    addressInvalid: 'Cette adresse e-mail n’est pas valide. Vérifiez-la.',
    wrongMailedCode: 'Ce code est incorrect. Vérifiez l’e-mail le plus récent.',
    mailedCodeEnded:
      'Ce code ne fonctionne plus : il a été mal saisi cinq fois, ou 10 minutes se sont écoulées. Demandez-en un autre.',
    wrongPassword:
      'L’adresse ou le mot de passe est incorrect. Après de nombreux mots de passe incorrects, attendez 15 minutes ou choisissez un nouveau mot de passe.',
    passwordChanged: 'Votre mot de passe a été modifié. Connectez-vous avec celui-ci.',
    accountExists: 'Vous avez déjà un compte avec cette adresse. Connectez-vous avec son mot de passe.',
    noAccount: 'Aucun compte n’existe avec cette adresse.',
    providerFailed:
      'Nous n’avons pas pu joindre GitHub, ou GitHub n’a pas confirmé votre identité. Réessayez dans un instant.',
    providerRefused:
      'Vous avez annulé la connexion chez GitHub. Réessayez ou choisissez une autre façon de vous connecter.',
    emailNotVerified:
      'Votre compte GitHub n’a pas d’adresse e-mail principale vérifiée. Vérifiez-en une chez GitHub, puis réessayez.',
  },
};
