import type { Texts } from '../../i18n/language.ts';

interface FirstUserTexts {
  readonly title: string;
  readonly about: string;
  readonly name: string;
  readonly email: string;
  readonly emailHint: string;
  readonly password: string;
  readonly passwordHint: (minLength: string) => string;
  readonly show: string;
  readonly submit: string;
  readonly noLink: string;
  readonly whereFile: string;
  readonly deadTitle: string;
  readonly deadAbout: string;
  readonly deadSteps: string;
  readonly takenTitle: string;
  readonly takenAbout: string;
  readonly takenSteps: string;
  readonly toSignIn: string;
}

export const firstUserTexts: Texts<FirstUserTexts> = {
  en: {
    title: 'Create the first user',
    about: 'This installation has no user yet. With this link you create the first one: your own.',
    name: 'Your name',
    email: 'E-mail address',
    emailHint: 'It needs no confirmation. Links to reset your password go there.',
    password: 'Password',
    passwordHint: (minLength) =>
      `At least ${minLength} characters. No common password, and without your name, your address or “Doorward”.`,
    show: 'Show password',
    submit: 'Create user and sign in',
    noLink:
      'Open the whole link that the service prints when it starts. It is valid for an hour, and only once.',
    whereFile: 'In production the link is in a file, and the log says in which one.',
    deadTitle: 'This link is no longer valid',
    deadAbout: 'A link works once, within an hour, and ends when its process starts again.',
    deadSteps:
      'Restart the service and open the link that it prints then. If it prints none, there is a user already: sign in.',
    takenTitle: 'There is a user already',
    takenAbout: 'Since the link was printed, a user has registered. The link creates only the first one.',
    takenSteps:
      'Sign in, or create an account on the sign-in page. If you do not know who registered, start again with an empty database and AUTH_REGISTRATION_MODE=closed: the link works nevertheless.',
    toSignIn: 'Go to the sign-in',
  },
  de: {
    title: 'Ersten Benutzer anlegen',
    about:
      'Diese Installation hat noch keinen Benutzer. Mit diesem Link legen Sie den ersten an: sich selbst.',
    name: 'Ihr Name',
    email: 'E-Mail-Adresse',
    emailHint: 'Sie muss nicht bestätigt werden. Links zum Zurücksetzen des Passworts gehen dorthin.',
    password: 'Passwort',
    passwordHint: (minLength) =>
      `Mindestens ${minLength} Zeichen. Kein verbreitetes Passwort, und ohne Ihren Namen, Ihre Adresse oder „Doorward“.`,
    show: 'Passwort anzeigen',
    submit: 'Benutzer anlegen und anmelden',
    noLink:
      'Öffnen Sie den ganzen Link, den der Dienst beim Start ausgibt. Er gilt eine Stunde lang und nur einmal.',
    whereFile: 'In Produktion steht der Link in einer Datei; das Log nennt sie.',
    deadTitle: 'Dieser Link gilt nicht mehr',
    deadAbout: 'Ein Link gilt einmal, innerhalb einer Stunde, und endet, wenn sein Prozess erneut startet.',
    deadSteps:
      'Starten Sie den Dienst neu und öffnen Sie den Link, den er dann ausgibt. Gibt er keinen aus, existiert schon ein Benutzer: Melden Sie sich an.',
    takenTitle: 'Es gibt schon einen Benutzer',
    takenAbout:
      'Seit der Link ausgegeben wurde, hat sich ein Benutzer registriert. Der Link legt nur den ersten an.',
    takenSteps:
      'Melden Sie sich an, oder erstellen Sie auf der Anmeldeseite ein Konto. Wenn Sie nicht wissen, wer sich registriert hat, beginnen Sie neu mit einer leeren Datenbank und AUTH_REGISTRATION_MODE=closed: Der Link gilt trotzdem.',
    toSignIn: 'Zur Anmeldung',
  },
  es: {
    title: 'Crear el primer usuario',
    about: 'Esta instalación aún no tiene usuarios. Con este enlace crea el primero: el suyo.',
    name: 'Su nombre',
    email: 'Correo electrónico',
    emailHint: 'No necesita confirmación. Los enlaces para restablecer la contraseña llegan ahí.',
    password: 'Contraseña',
    passwordHint: (minLength) =>
      `Al menos ${minLength} caracteres. Que no sea una contraseña común ni contenga su nombre, su dirección o «Doorward».`,
    show: 'Mostrar la contraseña',
    submit: 'Crear el usuario e iniciar sesión',
    noLink:
      'Abra el enlace completo que el servicio muestra al arrancar. Vale durante una hora y una sola vez.',
    whereFile: 'En producción el enlace está en un archivo, y el registro dice en cuál.',
    deadTitle: 'Este enlace ya no es válido',
    deadAbout: 'Un enlace vale una vez, durante una hora, y termina cuando su proceso vuelve a arrancar.',
    deadSteps:
      'Reinicie el servicio y abra el enlace que muestre entonces. Si no muestra ninguno, ya hay un usuario: inicie sesión.',
    takenTitle: 'Ya hay un usuario',
    takenAbout: 'Desde que se mostró el enlace se ha registrado un usuario. El enlace solo crea el primero.',
    takenSteps:
      'Inicie sesión, o cree una cuenta en la página de inicio de sesión. Si no sabe quién se registró, empiece de nuevo con una base de datos vacía y AUTH_REGISTRATION_MODE=closed: el enlace vale igualmente.',
    toSignIn: 'Ir al inicio de sesión',
  },
  fr: {
    title: 'Créer le premier utilisateur',
    about: 'Cette installation n’a pas encore d’utilisateur. Avec ce lien, vous créez le premier : le vôtre.',
    name: 'Votre nom',
    email: 'Adresse e-mail',
    emailHint:
      'Elle n’a pas besoin d’être confirmée. Les liens pour réinitialiser le mot de passe y sont envoyés.',
    password: 'Mot de passe',
    passwordHint: (minLength) =>
      `Au moins ${minLength} caractères. Pas de mot de passe courant, et sans votre nom, votre adresse ni « Doorward ».`,
    show: 'Afficher le mot de passe',
    submit: 'Créer l’utilisateur et se connecter',
    noLink:
      'Ouvrez le lien entier que le service affiche à son démarrage. Il vaut une heure, et une seule fois.',
    whereFile: 'En production, le lien est dans un fichier, que le journal indique.',
    deadTitle: 'Ce lien n’est plus valable',
    deadAbout: 'Un lien vaut une fois, pendant une heure, et prend fin quand son processus redémarre.',
    deadSteps:
      'Redémarrez le service et ouvrez le lien qu’il affiche alors. S’il n’en affiche pas, il y a déjà un utilisateur : connectez-vous.',
    takenTitle: 'Il y a déjà un utilisateur',
    takenAbout: 'Depuis l’affichage du lien, un utilisateur s’est inscrit. Le lien ne crée que le premier.',
    takenSteps:
      'Connectez-vous, ou créez un compte sur la page de connexion. Si vous ne savez pas qui s’est inscrit, recommencez avec une base de données vide et AUTH_REGISTRATION_MODE=closed : le lien vaut quand même.',
    toSignIn: 'Aller à la connexion',
  },
};
