import type { Texts } from '../../i18n/language.ts';

/** Texts of the color field. */
export interface ColourTexts {
  readonly colorHint: string;
  readonly colorProblem: string;
}

export const colourTexts: Texts<ColourTexts> = {
  en: {
    colorHint: 'Such as #1f3a5f. Text stays legible, and edges visible, with any colour.',
    colorProblem: 'Use # and six digits or letters from a to f, such as #1f3a5f.',
  },
  de: {
    colorHint: 'Etwa #1f3a5f. Bei jeder Farbe bleibt Schrift lesbar, und Ränder bleiben sichtbar.',
    colorProblem: 'Verwenden Sie # und sechs Ziffern oder Buchstaben von a bis f, etwa #1f3a5f.',
  },
  es: {
    colorHint: 'Como #1f3a5f. El texto sigue siendo legible y los bordes visibles con cualquier color.',
    colorProblem: 'Use # y seis cifras o letras de la a a la f, como #1f3a5f.',
  },
  fr: {
    colorHint: 'Comme #1f3a5f. Le texte reste lisible et les bords visibles avec toute couleur.',
    colorProblem: 'Utilisez # et six chiffres ou lettres de a à f, comme #1f3a5f.',
  },
};

interface BrandingTexts {
  readonly newLogo: string;
  readonly logoOfApp: string;
  readonly logoOfOrganization: string;
  readonly removeLogo: string;
  readonly signInPage: string;
  readonly invitation: string;
  readonly choice: string;
  readonly light: string;
  readonly dark: string;
  readonly elsewhere: string;
  /** Texts on the previewed pages and in the mail. `{name}` is the name of the app or organization. */
  readonly signIn: string;
  readonly address: string;
  readonly next: string;
  readonly invites: string;
  readonly view: string;
}

export const brandingTexts: Texts<BrandingTexts> = {
  en: {
    newLogo: 'Upload a logo',
    logoOfApp: 'JPEG, PNG, WebP or GIF, up to 256 KB. An uploaded logo is in mails too.',
    logoOfOrganization:
      'JPEG, PNG, WebP or GIF, up to 256 KB. It is in invitations, and where people choose an organization.',
    removeLogo: 'Remove the logo',
    signInPage: 'Preview of the sign-in page',
    invitation: 'Preview of an invitation by mail',
    choice: 'Preview of the choice of an organization',
    light: 'light',
    dark: 'dark',
    elsewhere: 'The logo is on another site, and is not loaded here.',
    signIn: 'Sign in to {name}',
    address: 'E-mail address',
    next: 'Continue',
    invites: 'Ada invites you to join the organization “{name}” on Doorward.',
    view: 'View the invitation',
  },
  de: {
    newLogo: 'Logo hochladen',
    logoOfApp: 'JPEG, PNG, WebP oder GIF, bis 256 KB. Ein hochgeladenes Logo steht auch in E-Mails.',
    logoOfOrganization:
      'JPEG, PNG, WebP oder GIF, bis 256 KB. Es steht in Einladungen und bei der Wahl einer Organisation.',
    removeLogo: 'Logo entfernen',
    signInPage: 'Vorschau der Anmeldeseite',
    invitation: 'Vorschau einer Einladung per E-Mail',
    choice: 'Vorschau der Wahl einer Organisation',
    light: 'hell',
    dark: 'dunkel',
    elsewhere: 'Das Logo liegt auf einer anderen Website und wird hier nicht geladen.',
    signIn: 'Bei {name} anmelden',
    address: 'E-Mail-Adresse',
    next: 'Weiter',
    invites: 'Ada lädt Sie in die Organisation „{name}“ bei Doorward ein.',
    view: 'Einladung ansehen',
  },
  es: {
    newLogo: 'Subir un logotipo',
    logoOfApp: 'JPEG, PNG, WebP o GIF, hasta 256 KB. Un logotipo subido aparece también en los mensajes.',
    logoOfOrganization:
      'JPEG, PNG, WebP o GIF, hasta 256 KB. Aparece en las invitaciones y al elegir una organización.',
    removeLogo: 'Quitar el logotipo',
    signInPage: 'Vista previa de la página de inicio de sesión',
    invitation: 'Vista previa de una invitación por correo',
    choice: 'Vista previa de la elección de una organización',
    light: 'claro',
    dark: 'oscuro',
    elsewhere: 'El logotipo está en otro sitio y aquí no se carga.',
    signIn: 'Iniciar sesión en {name}',
    address: 'Dirección de correo',
    next: 'Continuar',
    invites: 'Ada le invita a unirse a la organización «{name}» en Doorward.',
    view: 'Ver la invitación',
  },
  fr: {
    newLogo: 'Envoyer un logo',
    logoOfApp: 'JPEG, PNG, WebP ou GIF, jusqu’à 256 Ko. Un logo envoyé figure aussi dans les e-mails.',
    logoOfOrganization:
      'JPEG, PNG, WebP ou GIF, jusqu’à 256 Ko. Il figure dans les invitations et au choix d’une organisation.',
    removeLogo: 'Supprimer le logo',
    signInPage: 'Aperçu de la page de connexion',
    invitation: 'Aperçu d’une invitation par e-mail',
    choice: 'Aperçu du choix d’une organisation',
    light: 'clair',
    dark: 'sombre',
    elsewhere: 'Le logo se trouve sur un autre site et n’est pas chargé ici.',
    signIn: 'Se connecter à {name}',
    address: 'Adresse e-mail',
    next: 'Continuer',
    invites: 'Ada vous invite à rejoindre l’organisation « {name} » sur Doorward.',
    view: 'Voir l’invitation',
  },
};
