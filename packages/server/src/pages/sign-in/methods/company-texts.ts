import type { Language } from '../../../languages.ts';

interface Texts {
  readonly enforced: string;
  readonly otherWays: string;
  /** Shown above the field for the code that connects the provider's account with the existing user of the address. */
  readonly connects: string;
  readonly emailNotVerified: string;
  readonly required: string;
}

/** Texts about signing in through the identity provider of an organization. */
export const companyTexts: Record<Language, Texts> = {
  en: {
    enforced: 'Your organization signs in through {provider}.',
    otherWays: 'Sign in another way. Only owners with a second factor reach the organization.',
    connects:
      'There is already an account with the address {address}. We sent an e-mail there: enter its code once, and you can sign in through {provider} from now on.',
    emailNotVerified:
      '{provider} did not name an address that belongs to your organization. Ask an administrator of your organization.',
    required: 'To reach this organization, sign in through {provider}.',
  },
  de: {
    enforced: 'Ihre Organisation meldet sich über {provider} an.',
    otherWays: 'Anders anmelden. Zur Organisation kommen so nur Eigentümer mit zweitem Faktor.',
    connects:
      'Es gibt schon ein Konto mit der Adresse {address}. Wir haben eine E-Mail dorthin gesendet: Geben Sie den Code daraus einmal ein, dann können Sie sich künftig über {provider} anmelden.',
    emailNotVerified:
      '{provider} hat keine Adresse genannt, die zu Ihrer Organisation gehört. Wenden Sie sich an die Verwaltung Ihrer Organisation.',
    required: 'Für diese Organisation müssen Sie sich über {provider} anmelden.',
  },
  es: {
    enforced: 'Su organización inicia sesión a través de {provider}.',
    otherWays:
      'Iniciar sesión de otra forma. Así solo entran en la organización los propietarios con segundo factor.',
    connects:
      'Ya existe una cuenta con la dirección {address}. Hemos enviado un correo a esa dirección: introduzca su código una vez y podrá iniciar sesión a través de {provider} a partir de ahora.',
    emailNotVerified:
      '{provider} no ha indicado una dirección que pertenezca a su organización. Pregunte a la administración de su organización.',
    required: 'Para entrar en esta organización, inicie sesión a través de {provider}.',
  },
  fr: {
    enforced: 'Votre organisation se connecte par {provider}.',
    otherWays:
      'Se connecter autrement. Seuls les propriétaires avec un second facteur accèdent ainsi à l’organisation.',
    connects:
      'Il existe déjà un compte avec l’adresse {address}. Nous y avons envoyé un e-mail : saisissez son code une fois, et vous pourrez désormais vous connecter par {provider}.',
    emailNotVerified:
      '{provider} n’a pas indiqué d’adresse qui appartienne à votre organisation. Adressez-vous à l’administration de votre organisation.',
    required: 'Pour accéder à cette organisation, connectez-vous via {provider}.',
  },
};
