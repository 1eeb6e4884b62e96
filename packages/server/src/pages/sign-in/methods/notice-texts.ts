import type { Language } from '../../../languages.ts';

interface Texts {
  readonly addressInvalid: string;
  readonly wrongMailedCode: string;
  readonly mailedCodeEnded: string;
  readonly wrongPassword: string;
  readonly passkeyRefused: string;
  readonly passwordChanged: string;
  readonly accountExists: string;
  readonly noAccount: string;
  readonly providerFailed: string;
  readonly providerRefused: string;
  readonly emailNotVerified: string;
  readonly methodLimit: string;
}

/** Messages about the last attempt. `{provider}` is the site at which the person signed in. */
export const noticeTexts: Record<Language, Texts> = {
  en: {
    addressInvalid: 'This is not a valid e-mail address. Please check it.',
    wrongMailedCode: 'This code is wrong. Check the newest e-mail; after many wrong entries, wait a while.',
    mailedCodeEnded:
      'This code no longer works. Codes end after 10 minutes, after five wrong entries, and when you request another one.',
    wrongPassword:
      'Address or password is wrong. After many wrong passwords, wait a while or choose a new password.',
    passkeyRefused: 'This passkey was not accepted. Try again, or choose another way.',
    passwordChanged: 'Your password has been changed. Sign in with it.',
    accountExists:
      'You already have an account with this address. Enter its password, or choose one with “Forgot your password?”.',
    noAccount: 'There is no account with this address for which you can choose a password.',
    providerFailed:
      'We could not reach {provider}, or {provider} did not confirm who you are. Please try again in a moment.',
    providerRefused: 'You cancelled the sign-in at {provider}. Try again or choose another way to sign in.',
    emailNotVerified:
      'Your {provider} account has no verified e-mail address. Verify one at {provider}, then try again.',
    methodLimit:
      'Your account already has the maximum number of sign-in methods, so {provider} can’t be added. Sign in another way, then remove a method from your account to make room.',
  },
  de: {
    addressInvalid: 'Das ist keine gültige E-Mail-Adresse. Bitte prüfen Sie sie.',
    wrongMailedCode:
      'Dieser Code ist falsch. Sehen Sie in der neuesten E-Mail nach; nach vielen falschen Eingaben warten Sie eine Weile.',
    mailedCodeEnded:
      'Dieser Code gilt nicht mehr. Codes enden nach 10 Minuten, nach fünf falschen Eingaben und wenn Sie einen neuen anfordern.',
    wrongPassword:
      'Adresse oder Passwort ist falsch. Nach vielen falschen Passwörtern warten Sie eine Weile oder wählen Sie ein neues Passwort.',
    passkeyRefused:
      'Dieser Passkey wurde nicht angenommen. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.',
    passwordChanged: 'Ihr Passwort wurde geändert. Melden Sie sich damit an.',
    accountExists:
      'Sie haben schon ein Konto mit dieser Adresse. Geben Sie sein Passwort ein, oder wählen Sie eines mit „Passwort vergessen?“.',
    noAccount: 'Es gibt kein Konto mit dieser Adresse, für das Sie ein Passwort wählen können.',
    providerFailed:
      'Wir konnten {provider} nicht erreichen, oder {provider} hat nicht bestätigt, wer Sie sind. Bitte versuchen Sie es gleich noch einmal.',
    providerRefused:
      'Sie haben die Anmeldung bei {provider} abgebrochen. Versuchen Sie es noch einmal oder wählen Sie einen anderen Anmeldeweg.',
    emailNotVerified:
      'Ihr Konto bei {provider} hat keine bestätigte E-Mail-Adresse. Bestätigen Sie dort eine und versuchen Sie es dann noch einmal.',
    methodLimit:
      'Ihr Konto hat bereits so viele Anmeldewege, wie möglich sind, deshalb kann {provider} nicht hinzukommen. Melden Sie sich auf einem anderen Weg an und entfernen Sie zuerst einen in Ihrem Konto.',
  },
  es: {
    addressInvalid: 'Esta dirección de correo no es válida. Compruébela.',
    wrongMailedCode:
      'Este código no es correcto. Mire el correo más reciente; tras muchos intentos incorrectos, espere un rato.',
    mailedCodeEnded:
      'Este código ya no sirve. Los códigos caducan tras 10 minutos, tras cinco intentos incorrectos y cuando solicita otro.',
    wrongPassword:
      'La dirección o la contraseña no es correcta. Tras muchas contraseñas incorrectas, espere un rato o elija una contraseña nueva.',
    passkeyRefused: 'No se ha aceptado esta llave de acceso. Inténtelo de nuevo o elija otra forma.',
    passwordChanged: 'Su contraseña se ha cambiado. Inicie sesión con ella.',
    accountExists:
      'Ya tiene una cuenta con esta dirección. Introduzca su contraseña o elija una con «¿Ha olvidado su contraseña?».',
    noAccount: 'No hay ninguna cuenta con esta dirección para la que pueda elegir una contraseña.',
    providerFailed:
      'No hemos podido contactar con {provider}, o {provider} no ha confirmado quién es usted. Inténtelo de nuevo en un momento.',
    providerRefused:
      'Ha cancelado el inicio de sesión en {provider}. Inténtelo de nuevo o elija otra forma de iniciar sesión.',
    emailNotVerified:
      'Su cuenta de {provider} no tiene una dirección de correo verificada. Verifique una en {provider} e inténtelo de nuevo.',
    methodLimit:
      'Su cuenta ya tiene el número máximo de formas de iniciar sesión, así que no se puede añadir {provider}. Inicie sesión de otra forma y elimine antes una en su cuenta.',
  },
  fr: {
    addressInvalid: 'Cette adresse e-mail n’est pas valide. Vérifiez-la.',
    wrongMailedCode:
      'Ce code est incorrect. Regardez l’e-mail le plus récent ; après de nombreux essais incorrects, patientez un peu.',
    mailedCodeEnded:
      'Ce code ne fonctionne plus. Un code expire après 10 minutes, après cinq essais incorrects et quand vous en demandez un autre.',
    wrongPassword:
      'L’adresse ou le mot de passe est incorrect. Après de nombreux mots de passe incorrects, patientez un peu ou choisissez un nouveau mot de passe.',
    passkeyRefused: 'Cette clé d’accès n’a pas été acceptée. Réessayez ou choisissez une autre méthode.',
    passwordChanged: 'Votre mot de passe a été modifié. Connectez-vous avec celui-ci.',
    accountExists:
      'Vous avez déjà un compte avec cette adresse. Saisissez son mot de passe ou choisissez-en un avec « Mot de passe oublié ? ».',
    noAccount: 'Aucun compte avec cette adresse ne permet de choisir un mot de passe.',
    providerFailed:
      'Nous n’avons pas pu joindre {provider}, ou {provider} n’a pas confirmé votre identité. Réessayez dans un instant.',
    providerRefused:
      'Vous avez annulé la connexion chez {provider}. Réessayez ou choisissez une autre façon de vous connecter.',
    emailNotVerified:
      'Votre compte {provider} n’a pas d’adresse e-mail vérifiée. Vérifiez-en une chez {provider}, puis réessayez.',
    methodLimit:
      'Votre compte a déjà le nombre maximal de méthodes de connexion, donc {provider} ne peut pas être ajouté. Connectez-vous autrement et supprimez d’abord une méthode dans votre compte.',
  },
};
