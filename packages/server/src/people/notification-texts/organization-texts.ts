import type { Text, TextParams } from './texts.ts';
import type { Language } from '../../languages.ts';

type OrganizationTexts = {
  readonly domain_lapsed: (params: TextParams['domain_lapsed']) => Text;
  readonly connection_bypassed: (params: TextParams['connection_bypassed']) => Text;
};

/** Texts about an organization, for its owners. */
export const organizationTexts: Readonly<Record<Language, OrganizationTexts>> = {
  en: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `The domain ${domain} of ${organization} has lapsed`,
      body: `The DNS record that proves that your organization “${organization}” controls the domain ${domain} has been gone for three days. Until the record is back, the domain does not count as verified. The console shows the record.`,
    }),
    connection_bypassed: ({ organization, owner }) => ({
      title: `${owner} signed in to ${organization} without its identity provider`,
      body: `Your organization “${organization}” lets its members in through its own identity provider. ${owner}, an owner, signed in by another way, with a second factor. If you do not know why, ask them, and look into the audit log.`,
    }),
  },
  de: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `Die Domain ${domain} von ${organization} gilt nicht mehr`,
      body: `Der DNS-Eintrag, der nachweist, dass Ihre Organisation „${organization}“ über die Domain ${domain} verfügt, fehlt seit drei Tagen. Bis der Eintrag wieder da ist, gilt die Domain nicht als nachgewiesen. Die Konsole zeigt den Eintrag.`,
    }),
    connection_bypassed: ({ organization, owner }) => ({
      title: `${owner} hat sich bei ${organization} ohne den Identitätsanbieter angemeldet`,
      body: `Ihre Organisation „${organization}“ lässt ihre Mitglieder über ihren eigenen Identitätsanbieter ein. ${owner}, mit der Rolle Organization Owner, hat sich auf anderem Weg mit einem zweiten Faktor angemeldet. Wenn Sie den Grund nicht kennen, fragen Sie nach und sehen Sie ins Audit-Log.`,
    }),
  },
  es: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `El dominio ${domain} de ${organization} ha dejado de valer`,
      body: `El registro DNS que demuestra que su organización «${organization}» controla el dominio ${domain} falta desde hace tres días. Hasta que el registro vuelva, el dominio no cuenta como verificado. La consola muestra el registro.`,
    }),
    connection_bypassed: ({ organization, owner }) => ({
      title: `${owner} ha entrado en ${organization} sin pasar por su proveedor de identidad`,
      body: `Su organización «${organization}» deja entrar a sus miembros a través de su propio proveedor de identidad. ${owner}, con el rol Organization Owner, ha entrado por otro camino con un segundo factor. Si no sabe por qué, pregunte y consulte el registro de auditoría.`,
    }),
  },
  fr: {
    domain_lapsed: ({ organization, domain }) => ({
      title: `Le domaine ${domain} de ${organization} n’est plus valable`,
      body: `L’enregistrement DNS qui prouve que votre organisation « ${organization} » contrôle le domaine ${domain} est absent depuis trois jours. Jusqu’au retour de l’enregistrement, le domaine ne compte pas comme vérifié. La console affiche l’enregistrement.`,
    }),
    connection_bypassed: ({ organization, owner }) => ({
      title: `Connexion de ${owner} à ${organization} sans le fournisseur d’identité`,
      body: `Votre organisation « ${organization} » laisse entrer ses membres par son propre fournisseur d’identité. ${owner}, qui a le rôle Organization Owner, a utilisé un autre moyen, avec un second facteur. Si vous n’en connaissez pas la raison, demandez-la, et consultez le journal d’audit.`,
    }),
  },
};
