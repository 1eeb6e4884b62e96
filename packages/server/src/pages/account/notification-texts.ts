import type { Language } from '../../languages.ts';

/** The subject of a notification. */
export type NotificationType =
  | 'invitation_received'
  | 'member_joined'
  | 'role_changed'
  | 'removed_from_organization'
  | 'api_key_expiring'
  | 'api_key_created'
  | 'project_grant_changed'
  | 'domain_lapsed'
  | 'connection_bypassed'
  | 'webhook_failing'
  | 'webhook_disabled'
  | 'new_sign_in'
  | 'password_changed'
  | 'mfa_changed'
  | 'session_reuse'
  | 'sign_in_methods_changed'
  | 'operator_action'
  | 'impersonated';

/** Texts of the notifications page. */
interface Texts {
  readonly none: string;
  readonly unread: string;
  readonly markAll: string;
  readonly older: string;
  readonly title: string;
  readonly about: string;
  readonly type: string;
  readonly locked: string;
  readonly channels: Readonly<Record<'inApp' | 'email', string>>;
  readonly types: Readonly<Record<NotificationType, string>>;
}

export const notificationTexts: Record<Language, Texts> = {
  en: {
    markAll: 'Mark all as read',
    none: 'There are none from the last 90 days.',
    unread: 'new',
    older: 'Only the latest 20 are listed.',
    title: 'What you get',
    about: 'Choose what you get here and by mail. Security notices always come.',
    type: 'What happened',
    locked: 'always',
    channels: { inApp: 'Here', email: 'By mail' },
    types: {
      invitation_received: 'Somebody invites you to an organization',
      member_joined: 'Somebody joins your organization',
      role_changed: 'Your roles change',
      removed_from_organization: 'You are removed from an organization',
      api_key_expiring: 'An API key that you made expires soon',
      api_key_created: 'An API key that acts for you is made',
      project_grant_changed: 'The access of your organization to a project of others changes',
      domain_lapsed: 'A domain of your organization is no longer proved',
      connection_bypassed: 'An owner signed in without the identity provider',
      webhook_failing: 'A webhook fails',
      webhook_disabled: 'A webhook is disabled',
      new_sign_in: 'Sign-in from a new network',
      password_changed: 'Your password changes',
      mfa_changed: 'Your second factor changes',
      session_reuse: 'A session ends because somebody may have copied it',
      sign_in_methods_changed: 'Your ways to sign in change',
      operator_action: 'An operator of the service acts on your account or organization',
      impersonated: 'An operator of the service acts for you or a member',
    },
  },
  de: {
    markAll: 'Alle als gelesen markieren',
    none: 'In den letzten 90 Tagen gab es keine.',
    unread: 'neu',
    older: 'Nur die neuesten 20 sind aufgeführt.',
    title: 'Was Sie bekommen',
    about: 'Wählen Sie, was Sie hier und per Mail bekommen. Sicherheitshinweise kommen immer.',
    type: 'Was geschah',
    locked: 'immer',
    channels: { inApp: 'Hier', email: 'Per Mail' },
    types: {
      invitation_received: 'Jemand lädt Sie in eine Organisation ein',
      member_joined: 'Jemand tritt Ihrer Organisation bei',
      role_changed: 'Ihre Rollen ändern sich',
      removed_from_organization: 'Sie werden aus einer Organisation entfernt',
      api_key_expiring: 'Ein API-Schlüssel, den Sie erstellt haben, läuft bald ab',
      api_key_created: 'Ein API-Schlüssel, der für Sie handelt, wird erstellt',
      project_grant_changed: 'Der Zugang Ihrer Organisation zu einem fremden Projekt ändert sich',
      domain_lapsed: 'Eine Domain Ihrer Organisation ist nicht mehr nachgewiesen',
      connection_bypassed: 'Ein Eigentümer hat sich ohne den Identitätsanbieter angemeldet',
      webhook_failing: 'Ein Webhook schlägt fehl',
      webhook_disabled: 'Ein Webhook wird abgeschaltet',
      new_sign_in: 'Anmeldung aus einem neuen Netz',
      password_changed: 'Ihr Passwort ändert sich',
      mfa_changed: 'Ihr zweiter Faktor ändert sich',
      session_reuse: 'Eine Sitzung endet, weil jemand sie kopiert haben könnte',
      sign_in_methods_changed: 'Ihre Anmeldewege ändern sich',
      operator_action: 'Ein Betreiber des Dienstes greift in Ihr Konto oder Ihre Organisation ein',
      impersonated: 'Ein Betreiber des Dienstes handelt für Sie oder ein Mitglied',
    },
  },
  es: {
    markAll: 'Marcar todas como leídas',
    none: 'No hay ninguna de los últimos 90 días.',
    unread: 'nueva',
    older: 'Solo se muestran las 20 más recientes.',
    title: 'Qué recibe',
    about: 'Elija qué le decimos aquí y por correo. Lo que importa para su seguridad llega siempre.',
    type: 'Qué ocurrió',
    locked: 'siempre',
    channels: { inApp: 'Aquí', email: 'Por correo' },
    types: {
      invitation_received: 'Alguien le invita a una organización',
      member_joined: 'Alguien se une a su organización',
      role_changed: 'Sus roles cambian',
      removed_from_organization: 'Se le quita de una organización',
      api_key_expiring: 'Una clave de API que usted creó caduca pronto',
      api_key_created: 'Se crea una clave de API que actúa por usted',
      project_grant_changed: 'Cambia el acceso de su organización a un proyecto ajeno',
      domain_lapsed: 'Un dominio de su organización ya no está acreditado',
      connection_bypassed: 'Un propietario inició sesión sin el proveedor de identidad',
      webhook_failing: 'Un webhook falla',
      webhook_disabled: 'Un webhook se desactiva',
      new_sign_in: 'Inicio de sesión desde una red nueva',
      password_changed: 'Su contraseña cambia',
      mfa_changed: 'Su segundo factor cambia',
      session_reuse: 'Una sesión termina porque alguien pudo copiarla',
      sign_in_methods_changed: 'Sus formas de iniciar sesión cambian',
      operator_action: 'Un operador del servicio actúa sobre su cuenta u organización',
      impersonated: 'Un operador del servicio actúa por usted o por un miembro',
    },
  },
  fr: {
    markAll: 'Tout marquer comme lu',
    none: 'Il n’y en a aucune des 90 derniers jours.',
    unread: 'nouvelle',
    older: 'Seules les 20 plus récentes sont affichées.',
    title: 'Ce que vous recevez',
    about:
      'Choisissez ce que nous vous disons ici et par e-mail. Ce qui compte pour votre sécurité arrive toujours.',
    type: 'Ce qui s’est passé',
    locked: 'toujours',
    channels: { inApp: 'Ici', email: 'Par e-mail' },
    types: {
      invitation_received: 'Quelqu’un vous invite dans une organisation',
      member_joined: 'Quelqu’un rejoint votre organisation',
      role_changed: 'Vos rôles changent',
      removed_from_organization: 'Vous êtes retiré d’une organisation',
      api_key_expiring: 'Une clé d’API que vous avez créée expire bientôt',
      api_key_created: 'Une clé d’API qui agit pour vous est créée',
      project_grant_changed: 'L’accès de votre organisation à un projet d’autrui change',
      domain_lapsed: 'Un domaine de votre organisation n’est plus prouvé',
      connection_bypassed: 'Un propriétaire s’est connecté sans le fournisseur d’identité',
      webhook_failing: 'Un webhook échoue',
      webhook_disabled: 'Un webhook est désactivé',
      new_sign_in: 'Connexion depuis un nouveau réseau',
      password_changed: 'Votre mot de passe change',
      mfa_changed: 'Votre second facteur change',
      session_reuse: 'Une session prend fin, car quelqu’un a pu la copier',
      sign_in_methods_changed: 'Vos moyens de connexion changent',
      operator_action: 'Un opérateur du service intervient sur votre compte ou votre organisation',
      impersonated: 'Un opérateur du service agit pour vous ou pour un membre',
    },
  },
};
