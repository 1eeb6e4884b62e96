import type { Language, Text, TextParams } from './texts.ts';

/** Texts about an organization, for its owners. */
type OrganizationTexts = {
  readonly domain_lapsed: (params: TextParams['domain_lapsed']) => Text;
};

export const organizationTexts: Readonly<Record<Language, OrganizationTexts>> = {
  en: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `The domain ${domain} of ${organization} has lapsed`,
      body: `The DNS record that proves that your organization “${organization}” controls the domain ${domain} has been gone for three days. Until the record is back, the domain does not count as verified. The console shows the record.`,
    }),
  },
  de: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `Die Domain ${domain} von ${organization} gilt nicht mehr`,
      body: `Der DNS-Eintrag, der nachweist, dass Ihre Organisation „${organization}“ über die Domain ${domain} verfügt, fehlt seit drei Tagen. Bis der Eintrag wieder da ist, gilt die Domain nicht als nachgewiesen. Die Konsole zeigt den Eintrag.`,
    }),
  },
  es: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `El dominio ${domain} de ${organization} ha dejado de valer`,
      body: `El registro DNS que demuestra que su organización «${organization}» controla el dominio ${domain} falta desde hace tres días. Hasta que el registro vuelva, el dominio no cuenta como verificado. La consola muestra el registro.`,
    }),
  },
  fr: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `Le domaine ${domain} de ${organization} n’est plus valable`,
      body: `L’enregistrement DNS qui prouve que votre organisation « ${organization} » contrôle le domaine ${domain} est absent depuis trois jours. Jusqu’au retour de l’enregistrement, le domaine ne compte pas comme vérifié. La console affiche l’enregistrement.`,
    }),
  },
};
