import type { Language } from '../../languages.ts';

interface Texts {
  readonly title: string;
  readonly loading: string;
  readonly offer: string;
  readonly noScript: string;
  readonly form: {
    readonly email: string;
    readonly name: string;
    readonly password: string;
    readonly newPassword: string;
    readonly toRegister: string;
    readonly toSignIn: string;
    readonly register: string;
    readonly signIn: string;
    readonly hasAccount: string;
    readonly otherWay: string;
  };
  /** The label of the link that leads on afterwards. */
  readonly goOn: string;
  /** Texts for people who are already signed in. */
  readonly signedIn: { readonly accept: string; readonly otherUser: string; readonly account: string };
  readonly outcome: {
    readonly done: string;
    readonly member: string;
    readonly invalid: string;
    readonly expired: string;
    readonly closed: string;
    readonly taken: string;
    readonly wrong: string;
    readonly unverified: string;
    readonly later: string;
    readonly failed: string;
  };
}

/** Texts of the invitation page. The placeholders in braces are filled with names from the invitation. */
export const invitationTexts: Record<Language, Texts> = {
  en: {
    title: 'Your invitation',
    loading: 'Loading the invitation …',
    offer:
      '{inviter} invited you to join the organization “{organization}” with the role “{role}”. If you do not know who this is, close this page; nothing happens then.',
    noScript: 'This page needs JavaScript. Turn it on and reload the page.',
    form: {
      email: 'E-mail address',
      name: 'Your name',
      password: 'Password',
      newPassword: 'Choose a password',
      toRegister: 'Create an account to accept the invitation.',
      toSignIn: 'Sign in to accept the invitation.',
      register: 'Create account and accept',
      signIn: 'Sign in and accept',
      hasAccount: 'I already have an account',
      otherWay: 'Sign in without a password',
    },
    goOn: 'Continue',
    signedIn: {
      accept: 'Accept',
      otherUser:
        'This invitation is for {email}, but you are signed in with another address. Sign out in your account, then open the link in the e-mail again.',
      account: 'Your account',
    },
    outcome: {
      done: 'Welcome! You are now a member of “{organization}”.',
      member: 'You are already a member of “{organization}”.',
      invalid: 'This link is not valid. Ask the person who invited you for a new one.',
      expired: 'This invitation has expired. Ask the person who invited you to renew it.',
      closed: 'This invitation has already been accepted or is no longer valid.',
      taken: 'You already have an account with this address. Sign in to accept the invitation.',
      wrong: 'The password is wrong.',
      unverified:
        'Verify your e-mail address first: open the link in the e-mail that you received when you registered.',
      later: 'Too many attempts. Please try again later.',
      failed: 'That did not work. Please try again in a moment.',
    },
  },
  de: {
    title: 'Ihre Einladung',
    loading: 'Die Einladung wird geladen …',
    offer:
      '{inviter} lädt Sie mit der Rolle „{role}“ in die Organisation „{organization}“ ein. Wenn Sie nicht wissen, wer das ist, schließen Sie diese Seite; dann geschieht nichts.',
    noScript: 'Diese Seite benötigt JavaScript. Schalten Sie es ein und laden Sie die Seite neu.',
    form: {
      email: 'E-Mail-Adresse',
      name: 'Ihr Name',
      password: 'Passwort',
      newPassword: 'Wählen Sie ein Passwort',
      toRegister: 'Legen Sie ein Konto an, um die Einladung anzunehmen.',
      toSignIn: 'Melden Sie sich an, um die Einladung anzunehmen.',
      register: 'Konto anlegen und annehmen',
      signIn: 'Anmelden und annehmen',
      hasAccount: 'Ich habe schon ein Konto',
      otherWay: 'Ohne Passwort anmelden',
    },
    goOn: 'Weiter',
    signedIn: {
      accept: 'Annehmen',
      otherUser:
        'Diese Einladung gilt für {email}, aber Sie sind mit einer anderen Adresse angemeldet. Melden Sie sich in Ihrem Konto ab und öffnen Sie den Link in der E-Mail noch einmal.',
      account: 'Ihr Konto',
    },
    outcome: {
      done: 'Willkommen! Sie sind jetzt Mitglied von „{organization}“.',
      member: 'Sie sind bereits Mitglied von „{organization}“.',
      invalid: 'Dieser Link ist ungültig. Bitten Sie die einladende Person um einen neuen.',
      expired: 'Diese Einladung ist abgelaufen. Bitten Sie die einladende Person, sie zu erneuern.',
      closed: 'Diese Einladung wurde bereits angenommen oder ist nicht mehr gültig.',
      taken:
        'Sie haben mit dieser Adresse bereits ein Konto. Melden Sie sich an, um die Einladung anzunehmen.',
      wrong: 'Das Passwort ist falsch.',
      unverified:
        'Bestätigen Sie zuerst Ihre E-Mail-Adresse: Öffnen Sie den Link in der E-Mail, die Sie bei der Registrierung erhalten haben.',
      later: 'Zu viele Versuche. Bitte versuchen Sie es später noch einmal.',
      failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    title: 'Su invitación',
    loading: 'Cargando la invitación…',
    offer:
      '{inviter} le invita a unirse a la organización «{organization}» con el rol «{role}». Si no sabe quién es, cierre esta página; no ocurrirá nada.',
    noScript: 'Esta página necesita JavaScript. Actívelo y vuelva a cargar la página.',
    form: {
      email: 'Dirección de correo',
      name: 'Su nombre',
      password: 'Contraseña',
      newPassword: 'Elija una contraseña',
      toRegister: 'Cree una cuenta para aceptar la invitación.',
      toSignIn: 'Inicie sesión para aceptar la invitación.',
      register: 'Crear cuenta y aceptar',
      signIn: 'Iniciar sesión y aceptar',
      hasAccount: 'Ya tengo una cuenta',
      otherWay: 'Iniciar sesión sin contraseña',
    },
    goOn: 'Continuar',
    signedIn: {
      accept: 'Aceptar',
      otherUser:
        'Esta invitación es para {email}, pero ha iniciado sesión con otra dirección. Cierre la sesión en su cuenta y abra de nuevo el enlace del mensaje.',
      account: 'Su cuenta',
    },
    outcome: {
      done: 'Le damos la bienvenida: ya es miembro de «{organization}».',
      member: 'Ya es miembro de «{organization}».',
      invalid: 'Este enlace no es válido. Pida uno nuevo a quien le ha invitado.',
      expired: 'Esta invitación ha caducado. Pida a quien le ha invitado que la renueve.',
      closed: 'Esta invitación ya se ha aceptado o ha dejado de ser válida.',
      taken: 'Ya tiene una cuenta con esta dirección. Inicie sesión para aceptar la invitación.',
      wrong: 'La contraseña no es correcta.',
      unverified:
        'Verifique primero su dirección de correo: abra el enlace del mensaje que recibió al registrarse.',
      later: 'Demasiados intentos. Inténtelo más tarde.',
      failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    title: 'Votre invitation',
    loading: 'Chargement de l’invitation…',
    offer:
      '{inviter} vous invite à rejoindre l’organisation « {organization} » avec le rôle « {role} ». Si vous ne savez pas qui c’est, fermez cette page ; rien ne se passera.',
    noScript: 'Cette page nécessite JavaScript. Activez-le et rechargez la page.',
    form: {
      email: 'Adresse e-mail',
      name: 'Votre nom',
      password: 'Mot de passe',
      newPassword: 'Choisissez un mot de passe',
      toRegister: 'Créez un compte pour accepter l’invitation.',
      toSignIn: 'Connectez-vous pour accepter l’invitation.',
      register: 'Créer le compte et accepter',
      signIn: 'Se connecter et accepter',
      hasAccount: 'J’ai déjà un compte',
      otherWay: 'Se connecter sans mot de passe',
    },
    goOn: 'Continuer',
    signedIn: {
      accept: 'Accepter',
      otherUser:
        'Cette invitation s’adresse à {email}, mais vous êtes connecté avec une autre adresse. Déconnectez-vous dans votre compte, puis rouvrez le lien de l’e-mail.',
      account: 'Votre compte',
    },
    outcome: {
      done: 'Bienvenue ! Vous êtes maintenant membre de « {organization} ».',
      member: 'Vous êtes déjà membre de « {organization} ».',
      invalid: 'Ce lien n’est pas valide. Demandez-en un nouveau à la personne qui vous invite.',
      expired: 'Cette invitation a expiré. Demandez à la personne qui vous invite de la renouveler.',
      closed: 'Cette invitation a déjà été acceptée ou n’est plus valide.',
      taken: 'Vous avez déjà un compte avec cette adresse. Connectez-vous pour accepter l’invitation.',
      wrong: 'Le mot de passe est incorrect.',
      unverified:
        'Vérifiez d’abord votre adresse e-mail : ouvrez le lien de l’e-mail reçu lors de votre inscription.',
      later: 'Trop de tentatives. Réessayez plus tard.',
      failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
    },
  },
};
