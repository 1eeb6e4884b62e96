import type { FormField } from '../../entities/form-field.ts';
import type { Texts } from '../../i18n/language.ts';

/** The claims of access tokens: what the forms of apps and keys ask about them alike. */
export interface ProfileTexts {
  readonly profile: string;
  readonly profileHint: string;
  readonly ownProfile: string;
  readonly standardProfile: string;
}

export const profileTexts: Texts<ProfileTexts> = {
  en: {
    profile: 'Form of the access tokens',
    profileHint: 'Choose the standard if a gateway or library verifies them that expects it.',
    ownProfile: 'Doorward',
    standardProfile: 'Standard (RFC 9068)',
  },
  de: {
    profile: 'Form der Zugriffstoken',
    profileHint:
      'Wählen Sie den Standard, wenn ein Gateway oder eine Bibliothek sie prüft, die ihn erwartet.',
    ownProfile: 'Doorward',
    standardProfile: 'Standard (RFC 9068)',
  },
  es: {
    profile: 'Forma de los tokens de acceso',
    profileHint: 'Elija el estándar si los comprueba una pasarela o biblioteca que lo espera.',
    ownProfile: 'Doorward',
    standardProfile: 'Estándar (RFC 9068)',
  },
  fr: {
    profile: 'Forme des jetons d’accès',
    profileHint: 'Choisissez le standard si une passerelle ou une bibliothèque qui l’attend les vérifie.',
    ownProfile: 'Doorward',
    standardProfile: 'Standard (RFC 9068)',
  },
};

export const profileField = (t: ProfileTexts, initial: 'doorward' | 'rfc9068' = 'doorward'): FormField => ({
  kind: 'option',
  name: 'accessTokenProfile',
  label: t.profile,
  hint: t.profileHint,
  options: [
    { id: 'doorward', name: t.ownProfile },
    { id: 'rfc9068', name: t.standardProfile },
  ],
  initial,
});
