import type { Texts } from '../i18n/language.ts';

interface SessionTexts {
  readonly signIn: string;
  readonly register: string;
  readonly toRegister: string;
  readonly toSignIn: string;
  readonly toReset: string;
  readonly email: string;
  readonly password: string;
  readonly name: string;
  readonly sendLink: string;
  readonly linkSent: string;
  readonly verifyFirst: string;
  readonly secondFactor: string;
  readonly code: string;
  readonly codeHint: string;
  readonly confirm: string;
  readonly otherUser: string;
  readonly ended: string;
  readonly endedText: string;
  readonly stepUp: string;
  readonly stepUpText: string;
  /** For a session that is bound to an organization: says where to sign in again. */
  readonly boundText: string;
  readonly verify: string;
  readonly verifyText: string;
  readonly resend: string;
  readonly verified: string;
  readonly mfaText: string;
  readonly noFactor: string;
  readonly setUpFactor: string;
  readonly factorText: string;
  readonly leave: string;
  readonly wrongPassword: string;
  readonly wrongCode: string;
}

export const sessionTexts: Texts<SessionTexts> = {
  en: {
    signIn: 'Sign in',
    register: 'Create an account',
    toRegister: 'New here? Create an account',
    toSignIn: 'You have an account? Sign in',
    toReset: 'Forgot your password?',
    email: 'E-mail address',
    password: 'Password',
    name: 'Your name',
    sendLink: 'Send the link',
    linkSent: 'If the address is known, a mail with a link is on its way.',
    verifyFirst: 'A mail with a link is on its way. Open it to go on.',
    secondFactor: 'Second factor',
    code: 'Code',
    codeHint: 'Six digits of your authenticator app, or a recovery code.',
    confirm: 'Confirm',
    otherUser: 'Sign in as somebody else',
    ended: 'Your session has ended',
    endedText: 'Sign in to go on where you were. What you typed is still here.',
    stepUp: 'Confirm that it is you',
    stepUpText: 'This act needs a recent sign-in.',
    boundText: 'You came through your organization: sign in there again. What you typed here is lost.',
    verify: 'Verify your address',
    verifyText: 'This act needs a verified address. Open the link in the mail that we sent, then confirm.',
    resend: 'Send the mail again',
    verified: 'I have opened the link',
    mfaText: 'This act needs a second factor.',
    noFactor: 'You have no second factor yet. Set one up under your own pages.',
    setUpFactor: 'Set up a second factor',
    factorText: 'Confirm with your second factor to go on where you were.',
    leave: 'Leave the page and sign out',
    wrongPassword: 'The address or the password is wrong.',
    wrongCode: 'This code is wrong, or was used before.',
  },
  de: {
    signIn: 'Anmelden',
    register: 'Konto erstellen',
    toRegister: 'Neu hier? Konto erstellen',
    toSignIn: 'Sie haben ein Konto? Anmelden',
    toReset: 'Passwort vergessen?',
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    name: 'Ihr Name',
    sendLink: 'Link senden',
    linkSent: 'Wenn die Adresse bekannt ist, ist eine Mail mit einem Link unterwegs.',
    verifyFirst: 'Eine Mail mit einem Link ist unterwegs. Öffnen Sie ihn, um fortzufahren.',
    secondFactor: 'Zweiter Faktor',
    code: 'Code',
    codeHint: 'Sechs Ziffern Ihrer Authenticator-App oder ein Wiederherstellungscode.',
    confirm: 'Bestätigen',
    otherUser: 'Als jemand anderes anmelden',
    ended: 'Ihre Sitzung ist beendet',
    endedText: 'Melden Sie sich an, um hier weiterzumachen. Was Sie eingegeben haben, ist noch da.',
    stepUp: 'Bestätigen Sie, dass Sie es sind',
    stepUpText: 'Das verlangt eine frische Anmeldung.',
    boundText:
      'Sie sind über Ihre Organisation gekommen: Melden Sie sich dort noch einmal an. Was Sie hier eingegeben haben, geht verloren.',
    verify: 'Adresse bestätigen',
    verifyText:
      'Das verlangt eine bestätigte Adresse. Öffnen Sie den Link in unserer Mail und bestätigen Sie dann.',
    resend: 'Mail erneut senden',
    verified: 'Ich habe den Link geöffnet',
    mfaText: 'Das verlangt einen zweiten Faktor.',
    noFactor: 'Sie haben noch keinen zweiten Faktor. Richten Sie ihn auf Ihren eigenen Seiten ein.',
    setUpFactor: 'Zweiten Faktor einrichten',
    factorText: 'Bestätigen Sie mit Ihrem zweiten Faktor, um hier weiterzumachen.',
    leave: 'Die Seite verlassen und abmelden',
    wrongPassword: 'Die Adresse oder das Passwort ist falsch.',
    wrongCode: 'Dieser Code ist falsch oder schon benutzt.',
  },
  es: {
    signIn: 'Iniciar sesión',
    register: 'Crear una cuenta',
    toRegister: '¿Es nuevo? Cree una cuenta',
    toSignIn: '¿Tiene una cuenta? Inicie sesión',
    toReset: '¿Olvidó su contraseña?',
    email: 'Correo electrónico',
    password: 'Contraseña',
    name: 'Su nombre',
    sendLink: 'Enviar el enlace',
    linkSent: 'Si la dirección es conocida, hay un correo con un enlace en camino.',
    verifyFirst: 'Hay un correo con un enlace en camino. Ábralo para continuar.',
    secondFactor: 'Segundo factor',
    code: 'Código',
    codeHint: 'Seis cifras de su aplicación de autenticación, o un código de recuperación.',
    confirm: 'Confirmar',
    otherUser: 'Iniciar sesión como otra persona',
    ended: 'Su sesión ha terminado',
    endedText: 'Inicie sesión para seguir donde estaba. Lo que escribió sigue aquí.',
    stepUp: 'Confirme que es usted',
    stepUpText: 'Esta acción necesita un inicio de sesión reciente.',
    boundText:
      'Ha entrado a través de su organización: inicie sesión allí otra vez. Lo que escribió aquí se pierde.',
    verify: 'Verifique su dirección',
    verifyText: 'Esta acción necesita una dirección verificada. Abra el enlace del correo y luego confirme.',
    resend: 'Enviar el correo otra vez',
    verified: 'He abierto el enlace',
    mfaText: 'Esta acción necesita un segundo factor.',
    noFactor: 'Aún no tiene un segundo factor. Configúrelo en sus propias páginas.',
    setUpFactor: 'Configurar un segundo factor',
    factorText: 'Confirme con su segundo factor para seguir donde estaba.',
    leave: 'Dejar la página y cerrar sesión',
    wrongPassword: 'La dirección o la contraseña no es correcta.',
    wrongCode: 'Este código no es correcto o ya se usó.',
  },
  fr: {
    signIn: 'Se connecter',
    register: 'Créer un compte',
    toRegister: 'Nouveau ? Créez un compte',
    toSignIn: 'Vous avez un compte ? Connectez-vous',
    toReset: 'Mot de passe oublié ?',
    email: 'Adresse e-mail',
    password: 'Mot de passe',
    name: 'Votre nom',
    sendLink: 'Envoyer le lien',
    linkSent: 'Si l’adresse est connue, un e-mail avec un lien est en route.',
    verifyFirst: 'Un e-mail avec un lien est en route. Ouvrez-le pour continuer.',
    secondFactor: 'Second facteur',
    code: 'Code',
    codeHint: 'Six chiffres de votre application d’authentification, ou un code de récupération.',
    confirm: 'Confirmer',
    otherUser: 'Se connecter en tant qu’une autre personne',
    ended: 'Votre session est terminée',
    endedText: 'Connectez-vous pour reprendre là où vous étiez. Ce que vous avez saisi est toujours là.',
    stepUp: 'Confirmez que c’est vous',
    stepUpText: 'Cette action demande une connexion récente.',
    boundText:
      'Vous vous êtes connecté par votre organisation : faites-le de nouveau. Ce que vous avez saisi ici est perdu.',
    verify: 'Vérifiez votre adresse',
    verifyText: 'Cette action demande une adresse vérifiée. Ouvrez le lien de notre e-mail, puis confirmez.',
    resend: 'Renvoyer l’e-mail',
    verified: 'J’ai ouvert le lien',
    mfaText: 'Cette action demande un second facteur.',
    noFactor: 'Vous n’avez pas encore de second facteur. Configurez-le dans vos propres pages.',
    setUpFactor: 'Configurer un second facteur',
    factorText: 'Confirmez avec votre second facteur pour reprendre là où vous étiez.',
    leave: 'Quitter la page et se déconnecter',
    wrongPassword: 'L’adresse ou le mot de passe est incorrect.',
    wrongCode: 'Ce code est incorrect ou a déjà servi.',
  },
};
