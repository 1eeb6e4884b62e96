import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

export interface OperatorTexts extends EntityTexts {
  readonly source: string;
  readonly sources: Readonly<Record<'configuration' | 'api' | 'commandLine' | 'development', string>>;
  readonly emailHint: string;
  readonly remove: string;
  readonly configured: string;
}

export const operatorTexts: Texts<OperatorTexts> = {
  en: {
    title: 'Operators',
    about: 'Who runs this installation. All of them get a mail when another one comes.',
    create: 'New operator',
    empty: 'There are no operators.',
    removal: 'They are no longer an operator, at once. Their own account stays.',
    source: 'Because of',
    sources: {
      configuration: 'the configuration',
      api: 'another operator',
      commandLine: 'the command line of the service',
      development: 'the first sign-up',
    },
    emailHint: 'A verified address of the user.',
    remove: 'Remove',
    configured: 'To remove this operator, delete the address in OPERATORS and restart all processes.',
  },
  de: {
    title: 'Betreiber',
    about: 'Wer diese Installation betreibt. Alle bekommen eine Mail, wenn jemand dazukommt.',
    create: 'Neuer Betreiber',
    empty: 'Es gibt keine Betreiber.',
    removal: 'Die Person betreibt die Installation sofort nicht mehr. Ihr eigenes Konto bleibt.',
    source: 'Durch',
    sources: {
      configuration: 'die Konfiguration',
      api: 'ein anderer Betreiber',
      commandLine: 'die Kommandozeile des Dienstes',
      development: 'die erste Anmeldung',
    },
    emailHint: 'Eine bestätigte Adresse der Person.',
    remove: 'Entfernen',
    configured:
      'Nehmen Sie die Adresse aus OPERATORS und starten Sie den Dienst neu, um diese Person zu entfernen.',
  },
  es: {
    title: 'Operadores',
    about: 'Quienes dirigen esta instalación. Todos reciben un correo cuando llega otro.',
    create: 'Nuevo operador',
    empty: 'No hay operadores.',
    removal: 'Deja de ser operador de inmediato. Su propia cuenta permanece.',
    source: 'Por',
    sources: {
      configuration: 'la configuración',
      api: 'otro operador',
      commandLine: 'la línea de comandos del servicio',
      development: 'el primer registro',
    },
    emailHint: 'Una dirección verificada del usuario.',
    remove: 'Quitar',
    configured: 'Quite la dirección de OPERATORS y reinicie el servicio para quitar a este operador.',
  },
  fr: {
    title: 'Opérateurs',
    about: 'Ceux qui font tourner cette installation. Tous reçoivent un e-mail quand un autre arrive.',
    create: 'Nouvel opérateur',
    empty: 'Il n’y a pas d’opérateurs.',
    removal: 'Il n’est plus opérateur, aussitôt. Son propre compte reste.',
    source: 'En raison de',
    sources: {
      configuration: 'la configuration',
      api: 'un autre opérateur',
      commandLine: 'la ligne de commande du service',
      development: 'la première inscription',
    },
    emailHint: 'Une adresse vérifiée de l’utilisateur.',
    remove: 'Retirer',
    configured: 'Retirez l’adresse de OPERATORS et redémarrez le service pour retirer cet opérateur.',
  },
};
