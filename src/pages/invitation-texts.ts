import type { Language } from '../i18n/translate.ts';

/** What the page of an invitation says. Holes in braces are names out of the invitation. */
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
  };
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

export const invitationTexts: Record<Language, Texts> = {
  en: {
    title: 'Your invitation',
    loading: 'Loading the invitation …',
    offer: '{inviter} invites you to join the organization “{organization}” with the role “{role}”.',
    noScript: 'This page needs JavaScript.',
    form: {
      email: 'E-mail address',
      name: 'Your name',
      password: 'Password',
      newPassword: 'Choose a password',
      toRegister: 'Create your account to accept.',
      toSignIn: 'Sign in to accept.',
      register: 'Create account and accept',
      signIn: 'Sign in and accept',
      hasAccount: 'I have an account already',
    },
    outcome: {
      done: 'Welcome! You are now a member of “{organization}”. You can close this page.',
      member: 'You are a member of “{organization}” already.',
      invalid: 'This link is not valid. Ask whoever invited you for a new one.',
      expired: 'This invitation has expired. Ask whoever invited you to renew it.',
      closed: 'This invitation was accepted already, or can no longer be accepted.',
      taken: 'There is an account with this address already: sign in.',
      wrong: 'The password is not right.',
      unverified:
        'Verify your e-mail address first: open the link in the mail that you got when you registered.',
      later: 'Too many attempts. Please try again later.',
      failed: 'That did not work. Please try again in a moment.',
    },
  },
  de: {
    title: 'Ihre Einladung',
    loading: 'Die Einladung wird geladen …',
    offer: '{inviter} lädt Sie mit der Rolle „{role}“ in die Organisation „{organization}“ ein.',
    noScript: 'Diese Seite benötigt JavaScript.',
    form: {
      email: 'E-Mail-Adresse',
      name: 'Ihr Name',
      password: 'Passwort',
      newPassword: 'Wählen Sie ein Passwort',
      toRegister: 'Legen Sie Ihr Konto an, um die Einladung anzunehmen.',
      toSignIn: 'Melden Sie sich an, um die Einladung anzunehmen.',
      register: 'Konto anlegen und annehmen',
      signIn: 'Anmelden und annehmen',
      hasAccount: 'Ich habe schon ein Konto',
    },
    outcome: {
      done: 'Willkommen! Sie sind jetzt Mitglied von „{organization}“. Sie können diese Seite schließen.',
      member: 'Sie sind bereits Mitglied von „{organization}“.',
      invalid: 'Dieser Link ist ungültig. Bitten Sie die einladende Person um einen neuen.',
      expired: 'Diese Einladung ist abgelaufen. Bitten Sie die einladende Person, sie zu erneuern.',
      closed: 'Diese Einladung wurde bereits angenommen oder kann nicht mehr angenommen werden.',
      taken: 'Zu dieser Adresse gibt es bereits ein Konto: Melden Sie sich an.',
      wrong: 'Das Passwort stimmt nicht.',
      unverified:
        'Bestätigen Sie zuerst Ihre E-Mail-Adresse: Öffnen Sie den Link in der E-Mail, die Sie bei der Registrierung erhalten haben.',
      later: 'Zu viele Versuche. Bitte versuchen Sie es später noch einmal.',
      failed: 'Das hat nicht funktioniert. Bitte versuchen Sie es gleich noch einmal.',
    },
  },
  es: {
    title: 'Su invitación',
    loading: 'Cargando la invitación…',
    offer: '{inviter} le invita a unirse a la organización «{organization}» con el rol «{role}».',
    noScript: 'Esta página necesita JavaScript.',
    form: {
      email: 'Dirección de correo',
      name: 'Su nombre',
      password: 'Contraseña',
      newPassword: 'Elija una contraseña',
      toRegister: 'Cree su cuenta para aceptar.',
      toSignIn: 'Inicie sesión para aceptar.',
      register: 'Crear cuenta y aceptar',
      signIn: 'Iniciar sesión y aceptar',
      hasAccount: 'Ya tengo una cuenta',
    },
    outcome: {
      done: 'Le damos la bienvenida: ya es miembro de «{organization}». Puede cerrar esta página.',
      member: 'Ya es miembro de «{organization}».',
      invalid: 'Este enlace no es válido. Pida uno nuevo a quien le ha invitado.',
      expired: 'Esta invitación ha caducado. Pida a quien le ha invitado que la renueve.',
      closed: 'Esta invitación ya se ha aceptado o ya no se puede aceptar.',
      taken: 'Ya existe una cuenta con esta dirección: inicie sesión.',
      wrong: 'La contraseña no es correcta.',
      unverified:
        'Verifique primero su dirección de correo: abra el enlace del mensaje que recibió al registrarse.',
      later: 'Demasiados intentos. Inténtelo más tarde.',
      failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
    },
  },
  fr: {
    title: 'Votre invitation',
    loading: "Chargement de l'invitation…",
    offer: "{inviter} vous invite à rejoindre l'organisation « {organization} » avec le rôle « {role} ».",
    noScript: 'Cette page nécessite JavaScript.',
    form: {
      email: 'Adresse e-mail',
      name: 'Votre nom',
      password: 'Mot de passe',
      newPassword: 'Choisissez un mot de passe',
      toRegister: 'Créez votre compte pour accepter.',
      toSignIn: 'Connectez-vous pour accepter.',
      register: 'Créer le compte et accepter',
      signIn: 'Se connecter et accepter',
      hasAccount: "J'ai déjà un compte",
    },
    outcome: {
      done: 'Bienvenue ! Vous êtes maintenant membre de « {organization} ». Vous pouvez fermer cette page.',
      member: 'Vous êtes déjà membre de « {organization} ».',
      invalid: "Ce lien n'est pas valide. Demandez-en un nouveau à la personne qui vous invite.",
      expired: 'Cette invitation a expiré. Demandez à la personne qui vous invite de la renouveler.',
      closed: "Cette invitation a déjà été acceptée ou ne peut plus l'être.",
      taken: 'Un compte existe déjà avec cette adresse : connectez-vous.',
      wrong: "Le mot de passe n'est pas correct.",
      unverified:
        "Vérifiez d'abord votre adresse e-mail : ouvrez le lien du message reçu lors de votre inscription.",
      later: 'Trop de tentatives. Réessayez plus tard.',
      failed: "Cela n'a pas fonctionné. Réessayez dans un instant.",
    },
  },
};
