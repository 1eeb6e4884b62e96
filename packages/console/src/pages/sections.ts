import type { Texts } from '../i18n/language.ts';

/** A group of pages in the navigation. */
export interface Section {
  /** null for the first section, which needs no heading. */
  readonly heading: Texts<string> | null;
  readonly names: readonly string[];
}

export const sections: readonly Section[] = [
  { heading: null, names: ['overview', 'organizations', 'projects', 'accounts', 'granted-projects'] },
  {
    heading: { en: 'People', de: 'Menschen', es: 'Personas', fr: 'Personnes' },
    names: [
      'users',
      'members',
      'invitations',
      'domains',
      'connections',
      'service-users',
      'customers',
      'operators',
    ],
  },
  {
    heading: { en: 'Access', de: 'Rechte', es: 'Acceso', fr: 'Accès' },
    names: ['roles', 'groups', 'permissions', 'resources', 'tags', 'policy'],
  },
  {
    heading: {
      en: 'Check access',
      de: 'Rechte prüfen',
      es: 'Comprobar el acceso',
      fr: 'Vérifier l’accès',
    },
    names: ['why', 'who-can', 'may-do'],
  },
  {
    heading: { en: 'Integrations', de: 'Anbindungen', es: 'Integraciones', fr: 'Intégrations' },
    names: ['api-keys', 'apps', 'webhooks', 'signing-keys'],
  },
  {
    heading: { en: 'Records', de: 'Verlauf', es: 'Historial', fr: 'Historique' },
    names: ['audit', 'events'],
  },
];
