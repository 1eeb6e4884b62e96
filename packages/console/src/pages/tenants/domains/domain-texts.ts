import type { components } from '@doorward/node/client';
import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';

type Status = components['schemas']['OrganizationDomainStatus'];

export interface DomainTexts extends EntityTexts {
  readonly domain: string;
  readonly domainHint: string;
  readonly statuses: Readonly<Record<Status, string>>;
  readonly checked: string;
  readonly never: string;
  readonly record: string;
  readonly recordAbout: string;
  readonly recordName: string;
  readonly recordType: string;
  readonly recordText: string;
  readonly verify: string;
  readonly verifyAbout: string;
}

export const domainTexts: Texts<DomainTexts> = {
  en: {
    title: 'Domains',
    about:
      'Domains of mail addresses that your organization controls. A DNS record proves it; the service looks for it every day.',
    create: 'Add a domain',
    empty:
      'There are no domains yet. Add the domain of your mail addresses, and publish the record that you get.',
    removal: 'The domain no longer counts as verified, and another organization may verify it.',
    domain: 'Domain',
    domainHint: 'The part of your addresses after the @, such as example.com.',
    statuses: { pending: 'not verified yet', verified: 'verified', lapsed: 'record is gone' },
    checked: 'Last checked',
    never: 'never',
    record: 'DNS record',
    recordAbout: 'Publish this record at the name servers of the domain, and keep it.',
    recordName: 'Name',
    recordType: 'Type',
    recordText: 'Text',
    verify: 'Check now',
    verifyAbout: 'The service looks for the record. A new record may take an hour to be seen everywhere.',
  },
  de: {
    title: 'Domains',
    about:
      'Domains von Mailadressen, über die Ihre Organisation verfügt. Ein DNS-Eintrag weist das nach; der Dienst sucht täglich danach.',
    create: 'Domain hinzufügen',
    empty:
      'Es gibt noch keine Domains. Fügen Sie die Domain Ihrer Mailadressen hinzu und veröffentlichen Sie den Eintrag, den Sie erhalten.',
    removal: 'Die Domain gilt nicht mehr als nachgewiesen, und eine andere Organisation kann sie nachweisen.',
    domain: 'Domain',
    domainHint: 'Was in Ihren Adressen hinter dem @ steht, etwa example.com.',
    statuses: { pending: 'noch nicht nachgewiesen', verified: 'nachgewiesen', lapsed: 'Eintrag fehlt' },
    checked: 'Zuletzt geprüft',
    never: 'nie',
    record: 'DNS-Eintrag',
    recordAbout:
      'Veröffentlichen Sie diesen Eintrag bei den Nameservern der Domain und lassen Sie ihn stehen.',
    recordName: 'Name',
    recordType: 'Typ',
    recordText: 'Text',
    verify: 'Jetzt prüfen',
    verifyAbout:
      'Der Dienst sucht den Eintrag. Bis ein neuer Eintrag überall zu sehen ist, kann eine Stunde vergehen.',
  },
  es: {
    title: 'Dominios',
    about:
      'Dominios de correo que su organización controla. Un registro DNS lo demuestra; el servicio lo busca cada día.',
    create: 'Añadir un dominio',
    empty: 'Aún no hay dominios. Añada el dominio de sus correos y publique el registro que recibe.',
    removal: 'El dominio deja de contar como verificado y otra organización puede verificarlo.',
    domain: 'Dominio',
    domainHint: 'Lo que sigue a la @ en sus direcciones, como example.com.',
    statuses: { pending: 'sin verificar', verified: 'verificado', lapsed: 'falta el registro' },
    checked: 'Última comprobación',
    never: 'nunca',
    record: 'Registro DNS',
    recordAbout: 'Publique este registro en los servidores de nombres del dominio y consérvelo.',
    recordName: 'Nombre',
    recordType: 'Tipo',
    recordText: 'Texto',
    verify: 'Comprobar ahora',
    verifyAbout: 'El servicio busca el registro. Uno nuevo puede tardar una hora en verse en todas partes.',
  },
  fr: {
    title: 'Domaines',
    about:
      'Domaines d’adresses e-mail que votre organisation contrôle. Un enregistrement DNS le prouve ; le service le cherche chaque jour.',
    create: 'Ajouter un domaine',
    empty:
      'Il n’y a pas encore de domaines. Ajoutez le domaine de vos adresses et publiez l’enregistrement que vous recevez.',
    removal: 'Le domaine ne compte plus comme vérifié, et une autre organisation peut le vérifier.',
    domain: 'Domaine',
    domainHint: 'Ce qui suit le @ de vos adresses, comme example.com.',
    statuses: { pending: 'pas encore vérifié', verified: 'vérifié', lapsed: 'enregistrement absent' },
    checked: 'Dernière vérification',
    never: 'jamais',
    record: 'Enregistrement DNS',
    recordAbout: 'Publiez cet enregistrement sur les serveurs de noms du domaine, et gardez-le.',
    recordName: 'Nom',
    recordType: 'Type',
    recordText: 'Texte',
    verify: 'Vérifier maintenant',
    verifyAbout:
      'Le service cherche l’enregistrement. Un nouvel enregistrement peut mettre une heure à être visible partout.',
  },
};
