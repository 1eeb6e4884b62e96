import type { Language, Text, TextParams } from './texts.ts';

/** Texts about an organization, for its owners. */
type OrganizationTexts = {
  readonly domain_lapsed: (params: TextParams['domain_lapsed']) => Text;
};

export const organizationTexts: Readonly<Record<Language, OrganizationTexts>> = {
  en: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `The domain ${domain} of ${organization} has lapsed`,
      body: `The DNS record that proves that your organization “${organization}” controls the domain ${domain} has been gone for three days. The domain has no effect until the record is back. The console shows the record.`,
    }),
  },
  de: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `Die Domain ${domain} von ${organization} gilt nicht mehr`,
      body: `Der DNS-Eintrag, der belegt, dass Ihre Organisation „${organization}“ über die Domain ${domain} verfügt, fehlt seit drei Tagen. Die Domain hat keine Wirkung, bis der Eintrag wieder da ist. Die Konsole zeigt den Eintrag.`,
    }),
  },
  es: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `El dominio ${domain} de ${organization} ha dejado de valer`,
      body: `El registro DNS que demuestra que su organización «${organization}» controla el dominio ${domain} falta desde hace tres días. El dominio no tiene efecto hasta que el registro vuelva. La consola muestra el registro.`,
    }),
  },
  fr: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `Le domaine ${domain} de ${organization} n’est plus valable`,
      body: `L’enregistrement DNS qui prouve que votre organisation « ${organization} » contrôle le domaine ${domain} est absent depuis trois jours. Le domaine est sans effet jusqu’au retour de l’enregistrement. La console affiche l’enregistrement.`,
    }),
  },
};
