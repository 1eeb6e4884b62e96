import type { Language } from '../../../languages.ts';

interface Texts {
  readonly title: string;
  readonly text: string;
  /** The choice of a user of the project who signs in for no organization. */
  readonly withoutOrganization: string;
  readonly cancel: string;
  readonly place: string;
  /** A sentence on the consent page. */
  readonly signsInFor: string;
}

/**
 * Texts about the choice of an organization, and about the organization on the consent page. `{app}`, `{organization}`
 * and `{place}` are placeholders.
 */
export const organizationTexts: Record<Language, Texts> = {
  en: {
    title: 'Choose an organization for {app}',
    text: 'For which organization do you sign in? You can change it later by signing in again.',
    withoutOrganization: 'Without an organization',
    cancel: 'Cancel',
    place: 'After you choose, you return to {place}.',
    signsInFor: 'You sign in for the organization {organization}.',
  },
  de: {
    title: 'Wählen Sie eine Organisation für {app}',
    text: 'Für welche Organisation melden Sie sich an? Sie können später wechseln, indem Sie sich erneut anmelden.',
    withoutOrganization: 'Ohne Organisation',
    cancel: 'Abbrechen',
    place: 'Nach der Auswahl kehren Sie zu {place} zurück.',
    signsInFor: 'Sie melden sich für die Organisation {organization} an.',
  },
  es: {
    title: 'Elija una organización para {app}',
    text: '¿Para qué organización inicia sesión? Puede cambiarla más tarde si inicia sesión de nuevo.',
    withoutOrganization: 'Sin organización',
    cancel: 'Cancelar',
    place: 'Después de elegir, volverá a {place}.',
    signsInFor: 'Inicia sesión para la organización {organization}.',
  },
  fr: {
    title: 'Choisissez une organisation pour {app}',
    text: 'Pour quelle organisation vous connectez-vous ? Vous pourrez en changer en vous reconnectant.',
    withoutOrganization: 'Sans organisation',
    cancel: 'Annuler',
    place: 'Après votre choix, vous reviendrez à {place}.',
    signsInFor: 'Vous vous connectez pour l’organisation {organization}.',
  },
};
