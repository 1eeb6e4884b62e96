import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';

export interface MemberTexts extends EntityTexts {
  readonly roleHint: string;
  readonly joined: string;
  readonly you: string;
  readonly serviceUser: string;
  readonly remove: string;
  readonly leave: string;
  readonly leaving: string;
}

export const memberTexts: Texts<MemberTexts> = {
  en: {
    title: 'Members',
    about:
      'The people and service users of this organization, each with one role. At least one person stays its owner. New ones come by invitation.',
    create: '',
    empty: 'There are no members yet.',
    removal:
      'They leave the organization and all its projects, and lose their roles there. Keys that act for them end.',
    roleHint: 'What the person may do in the organization. It takes effect at once.',
    joined: 'Joined',
    you: 'you',
    serviceUser: 'service user',
    remove: 'Remove',
    leave: 'Leave',
    leaving:
      'You leave the organization and all its projects, and lose your roles there. Only an invitation brings you back.',
  },
  de: {
    title: 'Mitglieder',
    about:
      'Die Menschen und Dienstnutzer dieser Organisation, mit je einer Rolle. Mindestens ein Mensch bleibt Eigentümer. Neue kommen durch Einladung.',
    create: '',
    empty: 'Es gibt noch keine Mitglieder.',
    removal:
      'Die Person verlässt die Organisation und alle ihre Projekte und verliert ihre Rollen dort. Schlüssel, die für sie handeln, enden.',
    roleHint: 'Was die Person in der Organisation darf. Es gilt sofort.',
    joined: 'Beigetreten',
    you: 'Sie',
    serviceUser: 'Dienstnutzer',
    remove: 'Entfernen',
    leave: 'Verlassen',
    leaving:
      'Sie verlassen die Organisation und alle ihre Projekte und verlieren Ihre Rollen dort. Nur eine Einladung bringt Sie zurück.',
  },
  es: {
    title: 'Miembros',
    about:
      'Las personas y los usuarios de servicio de esta organización, cada uno con un rol. Al menos una persona sigue siendo propietaria. Las nuevas llegan por invitación.',
    create: '',
    empty: 'Aún no hay miembros.',
    removal:
      'La persona deja la organización y todos sus proyectos y pierde sus roles allí. Las claves que actúan por ella terminan.',
    roleHint: 'Lo que la persona puede hacer en la organización. Vale al instante.',
    joined: 'Se unió',
    you: 'usted',
    serviceUser: 'usuario de servicio',
    remove: 'Quitar',
    leave: 'Salir',
    leaving:
      'Usted deja la organización y todos sus proyectos y pierde sus roles allí. Solo una invitación le devuelve el acceso.',
  },
  fr: {
    title: 'Membres',
    about:
      'Les personnes et les utilisateurs de service de cette organisation, chacun avec un rôle. Au moins une personne en reste propriétaire. Les nouvelles arrivent par invitation.',
    create: '',
    empty: 'Il n’y a pas encore de membres.',
    removal:
      'La personne quitte l’organisation et tous ses projets et y perd ses rôles. Les clés qui agissent pour elle prennent fin.',
    roleHint: 'Ce que la personne peut faire dans l’organisation. Cela prend effet aussitôt.',
    joined: 'Arrivée',
    you: 'vous',
    serviceUser: 'utilisateur de service',
    remove: 'Retirer',
    leave: 'Quitter',
    leaving:
      'Vous quittez l’organisation et tous ses projets et y perdez vos rôles. Seule une invitation vous y ramène.',
  },
};
