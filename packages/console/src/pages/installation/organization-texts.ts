import type { Texts } from '../../i18n/language.ts';
import { listOf, type TenantListTexts } from './installation-texts.ts';

export interface OrganizationListTexts extends TenantListTexts {
  readonly statuses: Readonly<Record<'active' | 'suspended', string>>;
  readonly suspend: string;
  readonly suspendAbout: string;
  readonly reactivate: string;
  readonly reactivateAbout: string;
}

const lists = listOf({
  en: {
    title: 'All organizations',
    about: 'What they are and how large, not what they contain.',
    empty: 'There are no organizations yet.',
  },
  de: {
    title: 'Alle Organisationen',
    about: 'Was sie sind und wie groß, nicht was sie enthalten.',
    empty: 'Es gibt noch keine Organisationen.',
  },
  es: {
    title: 'Todas las organizaciones',
    about: 'Qué son y qué tamaño tienen, no lo que contienen.',
    empty: 'Aún no hay organizaciones.',
  },
  fr: {
    title: 'Toutes les organisations',
    about: 'Ce qu’elles sont et leur taille, non ce qu’elles contiennent.',
    empty: 'Il n’y a pas encore d’organisations.',
  },
});

export const organizationTexts: Texts<OrganizationListTexts> = {
  en: {
    ...lists.en,
    statuses: { active: 'active', suspended: 'suspended' },
    suspend: 'Suspend',
    suspendAbout:
      'Its members, keys and apps can use neither it nor its projects, and its project grants stop. Nothing is deleted. Its owners get a mail with the reason.',
    reactivate: 'Reactivate',
    reactivateAbout: 'Everything works as before. Its owners get a mail with the reason.',
  },
  de: {
    ...lists.de,
    statuses: { active: 'aktiv', suspended: 'gesperrt' },
    suspend: 'Sperren',
    suspendAbout:
      'Ihre Mitglieder, Schlüssel und Apps können weder sie noch ihre Projekte nutzen, und ihre Projektfreigaben ruhen. Nichts wird gelöscht. Ihre Eigentümer erhalten eine Mail mit dem Grund.',
    reactivate: 'Entsperren',
    reactivateAbout: 'Alles gilt wieder wie zuvor. Ihre Eigentümer erhalten eine Mail mit dem Grund.',
  },
  es: {
    ...lists.es,
    statuses: { active: 'activa', suspended: 'suspendida' },
    suspend: 'Suspender',
    suspendAbout:
      'Sus miembros, claves y aplicaciones no pueden usarla, ni tampoco sus proyectos, y sus concesiones de proyectos se detienen. No se borra nada. Sus propietarios reciben un correo con el motivo.',
    reactivate: 'Reactivar',
    reactivateAbout: 'Todo vuelve a funcionar como antes. Sus propietarios reciben un correo con el motivo.',
  },
  fr: {
    ...lists.fr,
    statuses: { active: 'active', suspended: 'suspendue' },
    suspend: 'Suspendre',
    suspendAbout:
      'Ses membres, clés et applications ne peuvent plus l’utiliser, ni ses projets, et ses octrois de projets s’arrêtent. Rien n’est supprimé. Ses propriétaires reçoivent un e-mail avec le motif.',
    reactivate: 'Réactiver',
    reactivateAbout: 'Tout fonctionne comme avant. Ses propriétaires reçoivent un e-mail avec le motif.',
  },
};
