import type { Texts } from '../../../i18n/language.ts';

const own = { github: 'GitHub', oidc: 'OpenID Connect' };

/** Names of the sign-in methods for users. A method that is missing here is shown by its key. */
export const providerNames: Texts<Readonly<Record<string, string>>> = {
  en: { ...own, email: 'E-mail' },
  de: { ...own, email: 'E-Mail' },
  es: { ...own, email: 'Correo electrónico' },
  fr: { ...own, email: 'E-mail' },
};
