import type { components } from '@doorward/node/client';
import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';
import { grantTexts } from './grant-texts.ts';

type Status = components['schemas']['ProjectGrantStatus'];

export interface GrantedTexts extends EntityTexts {
  readonly statuses: Readonly<Record<Status, string>>;
  readonly owner: string;
  readonly roles: string;
  readonly users: string;
  readonly open: string;
  readonly accept: string;
  readonly acceptAbout: string;
  readonly decline: string;
  readonly declineAbout: string;
  readonly link: string;
  readonly linkHint: string;
  readonly noLink: string;
  readonly leave: string;
  readonly leaveAbout: string;
  readonly reason: string;
}

export const grantedTexts: Texts<GrantedTexts> = {
  en: {
    title: 'Projects of others',
    about:
      'Projects that their owners let this organization use. You decide who gets which of the granted roles.',
    create: '',
    empty: 'Nobody has granted a project to this organization.',
    removal: '',
    statuses: grantTexts.en.statuses,
    owner: 'Owner',
    roles: 'Roles',
    users: 'Users',
    open: 'Open the project',
    accept: 'Accept an offer',
    acceptAbout: 'This organization can then use the project.',
    decline: 'Decline an offer',
    declineAbout: 'Its owner learns that it was declined, and not by whom.',
    link: 'Link of the mail',
    linkHint: 'Copy it from the mail with the offer.',
    noLink: 'This link does not lead to an offer.',
    leave: 'Give up',
    leaveAbout: 'All users and keys of this organization lose the project at once and for good.',
    reason: 'Reason',
  },
  de: {
    title: 'Fremde Projekte',
    about:
      'Projekte, die andere diese Organisation nutzen lassen. Sie bestimmen, wer welche der überlassenen Rollen bekommt.',
    create: '',
    empty: 'Niemand lässt diese Organisation ein fremdes Projekt nutzen.',
    removal: '',
    statuses: grantTexts.de.statuses,
    owner: 'Gehört',
    roles: 'Rollen',
    users: 'Personen',
    open: 'Projekt öffnen',
    accept: 'Angebot annehmen',
    acceptAbout: 'Diese Organisation kann das Projekt dann nutzen.',
    decline: 'Angebot ablehnen',
    declineAbout: 'Wem das Projekt gehört, erfährt, dass abgelehnt wurde, aber nicht von wem.',
    link: 'Link aus der Mail',
    linkHint: 'Kopieren Sie ihn aus der Mail mit dem Angebot.',
    noLink: 'Das ist kein Link eines Angebots.',
    leave: 'Aufgeben',
    leaveAbout: 'Alle Personen und Schlüssel dieser Organisation verlieren das Projekt sofort und endgültig.',
    reason: 'Grund',
  },
  es: {
    title: 'Proyectos de otros',
    about:
      'Proyectos que otros dejan usar a esta organización. Usted decide quién recibe cuál de los roles concedidos.',
    create: '',
    empty: 'Nadie ha concedido un proyecto a esta organización.',
    removal: '',
    statuses: grantTexts.es.statuses,
    owner: 'Propietario',
    roles: 'Roles',
    users: 'Usuarios',
    open: 'Abrir el proyecto',
    accept: 'Aceptar una oferta',
    acceptAbout: 'Esta organización podrá usar el proyecto.',
    decline: 'Rechazar una oferta',
    declineAbout: 'Su propietario sabe que se rechazó, pero no quién lo hizo.',
    link: 'Enlace del correo',
    linkHint: 'Cópielo del correo con la oferta.',
    noLink: 'Esto no es el enlace de una oferta.',
    leave: 'Renunciar',
    leaveAbout:
      'Todos los usuarios y claves de esta organización pierden el proyecto de inmediato y para siempre.',
    reason: 'Motivo',
  },
  fr: {
    title: 'Projets d’autres',
    about:
      'Des projets que d’autres laissent utiliser à cette organisation. Vous décidez qui reçoit lequel des rôles accordés.',
    create: '',
    empty: 'Personne n’a accordé de projet à cette organisation.',
    removal: '',
    statuses: grantTexts.fr.statuses,
    owner: 'Propriétaire',
    roles: 'Rôles',
    users: 'Utilisateurs',
    open: 'Ouvrir le projet',
    accept: 'Accepter une offre',
    acceptAbout: 'Cette organisation pourra alors utiliser le projet.',
    decline: 'Refuser une offre',
    declineAbout: 'Son propriétaire apprend qu’elle est refusée, mais non par qui.',
    link: 'Lien de l’e-mail',
    linkHint: 'Copiez-le depuis l’e-mail de l’offre.',
    noLink: 'Ce n’est pas le lien d’une offre.',
    leave: 'Renoncer',
    leaveAbout:
      'Tous les utilisateurs et clés de cette organisation perdent le projet aussitôt et pour toujours.',
    reason: 'Motif',
  },
};
