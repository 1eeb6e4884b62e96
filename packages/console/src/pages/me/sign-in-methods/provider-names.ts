import type { Texts } from '../../../i18n/language.ts';

const own = { github: 'GitHub', oidc: 'OpenID Connect' };

/** How users know the ways to sign in. One that is not here is shown as the service calls it. */
export const providerNames: Texts<Readonly<Record<string, string>>> = {
  en: { ...own, email: 'E-mail' },
  de: { ...own, email: 'E-Mail' },
  es: { ...own, email: 'Correo electrónico' },
  fr: { ...own, email: 'E-mail' },
};
