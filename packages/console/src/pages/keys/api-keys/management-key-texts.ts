import type { Texts } from '../../../i18n/language.ts';
import { apiKeyTexts, type ApiKeyTexts } from './api-key-texts.ts';

/** Texts for keys of an organization or account, which act as service users. */
export interface ManagementKeyTexts extends ApiKeyTexts {
  readonly machine: string;
  readonly machineHint: string;
}

export const managementKeyTexts: Texts<ManagementKeyTexts> = {
  en: {
    ...apiKeyTexts.en,
    about: 'With such a key a program acts as a service user, here and in the projects below.',
    empty: 'There are no keys yet. Make a service user first: a key acts as one.',
    machine: 'Service user',
    machineHint: 'The key may do what this service user may do.',
  },
  de: {
    ...apiKeyTexts.de,
    about:
      'Mit einem solchen Schlüssel handelt ein Programm als Dienstnutzer, hier und in den Projekten darunter.',
    empty:
      'Es gibt noch keine Schlüssel. Erstellen Sie zuerst einen Dienstnutzer: Ein Schlüssel handelt als einer.',
    machine: 'Dienstnutzer',
    machineHint: 'Der Schlüssel darf, was dieser Dienstnutzer darf.',
  },
  es: {
    ...apiKeyTexts.es,
    about: 'Con una clave así, un programa actúa como usuario de servicio, aquí y en los proyectos de abajo.',
    empty: 'Aún no hay claves. Cree primero un usuario de servicio: una clave actúa como uno.',
    machine: 'Usuario de servicio',
    machineHint: 'La clave puede hacer lo que puede este usuario de servicio.',
  },
  fr: {
    ...apiKeyTexts.fr,
    about:
      'Avec une telle clé, un programme agit comme utilisateur de service, ici et dans les projets en dessous.',
    empty:
      'Il n’y a pas encore de clés. Créez d’abord un utilisateur de service : une clé agit comme l’un d’eux.',
    machine: 'Utilisateur de service',
    machineHint: 'La clé peut faire ce que cet utilisateur de service peut faire.',
  },
};
