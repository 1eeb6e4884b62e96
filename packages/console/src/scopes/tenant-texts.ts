import type { Texts } from '../i18n/language.ts';
import type { Tenant } from './scope.ts';

/** Names of the kinds of scopes. */
export const tenantTexts: Texts<Readonly<Record<Tenant, string>>> = {
  en: {
    account: 'account',
    organization: 'organization',
    accountProject: 'project of an account',
    organizationProject: 'project of an organization',
    installation: 'installation',
  },
  de: {
    account: 'Konto',
    organization: 'Organisation',
    accountProject: 'Projekt eines Kontos',
    organizationProject: 'Projekt einer Organisation',
    installation: 'Installation',
  },
  es: {
    account: 'cuenta',
    organization: 'organización',
    accountProject: 'proyecto de una cuenta',
    organizationProject: 'proyecto de una organización',
    installation: 'instalación',
  },
  fr: {
    account: 'compte',
    organization: 'organisation',
    accountProject: 'projet d’un compte',
    organizationProject: 'projet d’une organisation',
    installation: 'installation',
  },
};
