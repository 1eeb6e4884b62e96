import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { Texts } from '../../i18n/language.ts';

interface OwnPage {
  /** The last part of the page's URL. */
  readonly name: string;
  readonly label: Texts<string>;
  readonly Component: LazyExoticComponent<ComponentType>;
}

/** The pages about the user, in the order of the navigation. */
export const ownPages: readonly OwnPage[] = [
  {
    name: 'profile',
    label: { en: 'Profile', de: 'Profil', es: 'Perfil', fr: 'Profil' },
    Component: lazy(() => import('./profile/profile.tsx')),
  },
  {
    name: 'security',
    label: { en: 'Security', de: 'Sicherheit', es: 'Seguridad', fr: 'Sécurité' },
    Component: lazy(() => import('./security.tsx')),
  },
  {
    name: 'sessions',
    label: { en: 'Sessions', de: 'Sitzungen', es: 'Sesiones', fr: 'Sessions' },
    Component: lazy(() => import('./sessions/sessions.tsx')),
  },
  {
    name: 'apps',
    label: { en: 'Apps', de: 'Apps', es: 'Aplicaciones', fr: 'Applications' },
    Component: lazy(() => import('./apps.tsx')),
  },
  {
    name: 'notifications',
    label: { en: 'Notifications', de: 'Benachrichtigungen', es: 'Notificaciones', fr: 'Notifications' },
    Component: lazy(() => import('./notifications/notifications.tsx')),
  },
  {
    name: 'data',
    label: { en: 'Your data', de: 'Ihre Daten', es: 'Sus datos', fr: 'Vos données' },
    Component: lazy(() => import('./data/data.tsx')),
  },
];
