import type { FormField } from '../../entities/declarations/form-field.ts';
import type { Texts } from '../../i18n/language.ts';

/** Texts for the token profile, which apps and keys choose in the same way. */
export interface ProfileTexts {
  readonly profile: string;
  readonly profileHint: string;
  readonly ownProfile: string;
  readonly standardProfile: string;
}

export const profileTexts: Texts<ProfileTexts> = {
  en: {
    profile: 'Format of the access tokens',
    profileHint: 'Choose RFC 9068 if a gateway or library that expects it verifies the tokens.',
    ownProfile: 'Doorward',
    standardProfile: 'RFC 9068',
  },
  de: {
    profile: 'Format der Zugriffstoken',
    profileHint:
      'Wählen Sie RFC 9068, wenn ein Gateway oder eine Bibliothek die Token nach dieser Norm prüft.',
    ownProfile: 'Doorward',
    standardProfile: 'Norm RFC 9068',
  },
  es: {
    profile: 'Formato de los tokens de acceso',
    profileHint: 'Elija RFC 9068 si una pasarela o biblioteca los comprueba según este estándar.',
    ownProfile: 'Doorward',
    standardProfile: 'Estándar RFC 9068',
  },
  fr: {
    profile: 'Format des jetons d’accès',
    profileHint:
      'Choisissez RFC 9068 si une passerelle ou une bibliothèque vérifie les jetons selon cette norme.',
    ownProfile: 'Doorward',
    standardProfile: 'Norme RFC 9068',
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
