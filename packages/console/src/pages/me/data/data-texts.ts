import type { components } from '@doorward/node/client';
import type { Texts } from '../../../i18n/language.ts';

interface DataTexts {
  readonly title: string;
  readonly about: string;
  readonly export: string;
  readonly exportAbout: string;
  readonly download: string;
  readonly accounts: string;
  readonly accountsAbout: string;
  readonly types: Readonly<Record<components['schemas']['AccountType'], string>>;
  readonly addAccount: Readonly<Record<components['schemas']['AccountType'], string>>;
  readonly deletion: string;
  readonly consequences: readonly string[];
  readonly atOnce: string;
  readonly atOnceHint: string;
  readonly typeEmail: (email: string) => string;
  readonly typeName: (name: string) => string;
  readonly wrongText: string;
  readonly erase: string;
}

export const dataTexts: Texts<DataTexts> = {
  en: {
    title: 'Your data',
    about: 'What is stored about you, and how it ends.',
    export: 'Export',
    exportAbout: 'A JSON file with all personal data that this service stores about you.',
    download: 'Download my data',
    accounts: 'Accounts',
    accountsAbout: 'An account holds what is yours: projects, and organizations.',
    types: { personal: 'For projects', organization: 'For organizations and projects' },
    addAccount: {
      personal: 'Create an account for projects',
      organization: 'Create an account for organizations',
    },
    deletion: 'Delete yourself',
    consequences: [
      'You are signed out everywhere, and cannot sign in again.',
      'Your accounts end, with their projects, and so does every organization that has no other member.',
      'API keys that act for you stop working.',
      'Your address stays taken until your data is removed for good.',
    ],
    atOnce: 'Remove my data at once',
    atOnceHint:
      'Without it, your data is kept for the time that this installation has set, and removed then.',
    typeEmail: (email) => `Type your e-mail address, ${email}, to confirm.`,
    typeName: (name) => `Type your name, ${name}, to confirm.`,
    wrongText: 'This is something else.',
    erase: 'Delete me',
  },
  de: {
    title: 'Ihre Daten',
    about: 'Was über Sie gespeichert ist, und wie es endet.',
    export: 'Export',
    exportAbout: 'Eine JSON-Datei mit allen persönlichen Daten, die dieser Dienst über Sie speichert.',
    download: 'Meine Daten herunterladen',
    accounts: 'Konten',
    accountsAbout: 'Ein Konto enthält, was Ihnen gehört: Projekte, und Organisationen.',
    types: { personal: 'Für Projekte', organization: 'Für Organisationen und Projekte' },
    addAccount: {
      personal: 'Konto für Projekte erstellen',
      organization: 'Konto für Organisationen erstellen',
    },
    deletion: 'Sich selbst löschen',
    consequences: [
      'Sie werden überall abgemeldet und können sich nicht mehr anmelden.',
      'Ihre Konten enden mit ihren Projekten, ebenso jede Organisation ohne ein anderes Mitglied.',
      'API-Schlüssel, die für Sie handeln, gelten nicht mehr.',
      'Ihre Adresse bleibt vergeben, bis Ihre Daten endgültig entfernt sind.',
    ],
    atOnce: 'Meine Daten sofort entfernen',
    atOnceHint:
      'Sonst werden Ihre Daten so lange aufbewahrt, wie diese Installation es vorsieht, und dann entfernt.',
    typeEmail: (email) => `Geben Sie zur Bestätigung Ihre E-Mail-Adresse ${email} ein.`,
    typeName: (name) => `Geben Sie zur Bestätigung Ihren Namen ${name} ein.`,
    wrongText: 'Das ist etwas anderes.',
    erase: 'Mich löschen',
  },
  es: {
    title: 'Sus datos',
    about: 'Qué se guarda sobre usted, y cómo termina.',
    export: 'Exportación',
    exportAbout: 'Un archivo JSON con todos los datos personales que este servicio guarda sobre usted.',
    download: 'Descargar mis datos',
    accounts: 'Cuentas',
    accountsAbout: 'Una cuenta contiene lo que es suyo: proyectos y organizaciones.',
    types: { personal: 'Para proyectos', organization: 'Para organizaciones y proyectos' },
    addAccount: {
      personal: 'Crear una cuenta para proyectos',
      organization: 'Crear una cuenta para organizaciones',
    },
    deletion: 'Eliminarse',
    consequences: [
      'Se cierra su sesión en todas partes y no podrá iniciarla de nuevo.',
      'Terminan sus cuentas con sus proyectos, y toda organización que no tenga otro miembro.',
      'Las claves de API que actúan por usted dejan de funcionar.',
      'Su dirección sigue ocupada hasta que sus datos se eliminen del todo.',
    ],
    atOnce: 'Eliminar mis datos de inmediato',
    atOnceHint:
      'Si no, sus datos se guardan el tiempo que esta instalación ha fijado, y se eliminan entonces.',
    typeEmail: (email) => `Escriba su correo electrónico, ${email}, para confirmar.`,
    typeName: (name) => `Escriba su nombre, ${name}, para confirmar.`,
    wrongText: 'Esto es otra cosa.',
    erase: 'Eliminarme',
  },
  fr: {
    title: 'Vos données',
    about: 'Ce qui est conservé à votre sujet, et comment cela prend fin.',
    export: 'Exportation',
    exportAbout:
      'Un fichier JSON avec toutes les données personnelles que ce service conserve à votre sujet.',
    download: 'Télécharger mes données',
    accounts: 'Comptes',
    accountsAbout: 'Un compte contient ce qui est à vous : des projets et des organisations.',
    types: { personal: 'Pour des projets', organization: 'Pour des organisations et des projets' },
    addAccount: {
      personal: 'Créer un compte pour des projets',
      organization: 'Créer un compte pour des organisations',
    },
    deletion: 'Vous supprimer',
    consequences: [
      'Vous êtes déconnecté partout, et ne pouvez plus vous connecter.',
      'Vos comptes prennent fin avec leurs projets, ainsi que toute organisation sans autre membre.',
      'Les clés d’API qui agissent pour vous ne fonctionnent plus.',
      'Votre adresse reste prise jusqu’à la suppression définitive de vos données.',
    ],
    atOnce: 'Supprimer mes données immédiatement',
    atOnceHint: 'Sinon, vos données sont conservées le temps que cette installation a fixé, puis supprimées.',
    typeEmail: (email) => `Saisissez votre adresse e-mail, ${email}, pour confirmer.`,
    typeName: (name) => `Saisissez votre nom, ${name}, pour confirmer.`,
    wrongText: 'C’est autre chose.',
    erase: 'Me supprimer',
  },
};
