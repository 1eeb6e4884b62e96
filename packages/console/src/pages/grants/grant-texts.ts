import type { components } from '@doorward/node/client';
import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

type Status = components['schemas']['ProjectGrantStatus'];

export interface GrantTexts extends EntityTexts {
  readonly statuses: Readonly<Record<Status, string>>;
  readonly nameHint: string;
  readonly emailHint: string;
  readonly roles: string;
  readonly rolesHint: string;
  readonly defaultRole: string;
  readonly defaultRoleHint: string;
  readonly maxUsers: string;
  readonly maxUsersHint: string;
  readonly metadataHint: string;
  readonly users: string;
  readonly usersWithRoles: string;
  readonly keys: string;
  readonly expires: string;
  readonly ended: string;
  readonly reason: string;
  readonly resend: string;
  readonly resendAbout: string;
  readonly suspend: string;
  readonly suspendAbout: string;
  readonly resume: string;
  readonly resumeAbout: string;
  readonly revoke: string;
  readonly revokeAbout: string;
}

export const grantTexts: Texts<GrantTexts> = {
  en: {
    title: 'Customers',
    about:
      'Organizations that use this project, each with users, keys and an audit log of their own. You decide which roles they may give.',
    create: 'New customer',
    empty: 'No customer uses this project yet. To add one, send them an offer by mail.',
    removal: '',
    statuses: {
      pending: 'offered',
      active: 'active',
      suspended: 'suspended',
      declined: 'declined',
      revoked: 'ended',
      expired: 'expired',
    },
    nameHint: 'Your word for the customer, who does not see it.',
    emailHint: 'The offer goes here. Whoever opens its link chooses the organization.',
    roles: 'Roles',
    rolesHint: 'What the customer may give to its people and keys.',
    defaultRole: 'Default role',
    defaultRoleHint:
      'Members without a role get this role, from the list above, when they sign in to an app. Without a default role they cannot.',
    maxUsers: 'User limit',
    maxUsersHint: 'Without a number there is no limit.',
    metadataHint: 'Conditions read it as organization.metadata. The customer cannot change it.',
    users: 'Users',
    usersWithRoles: 'Who has roles',
    keys: 'API keys',
    expires: 'Offer ends',
    ended: 'Ended',
    reason: 'Reason',
    resend: 'Send again',
    resendAbout: 'A new mail with a new link goes out. The former link no longer works.',
    suspend: 'Suspend',
    suspendAbout: 'The roles and keys of the customer stay, and have no effect until you resume.',
    resume: 'Resume',
    resumeAbout: 'The customer uses the project again, with the roles and keys that it had.',
    revoke: 'End',
    revokeAbout: 'The customer loses the project for good, with its users, roles and keys there.',
  },
  de: {
    title: 'Kunden',
    about:
      'Organisationen, die dieses Projekt nutzen, jede mit eigenen Personen, Schlüsseln und eigenem Protokoll. Sie bestimmen, welche Rollen sie vergeben dürfen.',
    create: 'Neuer Kunde',
    empty: 'Noch nutzt kein Kunde dieses Projekt. Um einen aufzunehmen, senden Sie ihm ein Angebot per Mail.',
    removal: '',
    statuses: {
      pending: 'angeboten',
      active: 'aktiv',
      suspended: 'ausgesetzt',
      declined: 'abgelehnt',
      revoked: 'beendet',
      expired: 'abgelaufen',
    },
    nameHint: 'Ihr Wort für den Kunden, der es nicht sieht.',
    emailHint: 'Hierhin geht das Angebot. Wer den Link öffnet, wählt die Organisation.',
    roles: 'Rollen',
    rolesHint: 'Was der Kunde seinen Leuten und Schlüsseln geben darf.',
    defaultRole: 'Standardrolle',
    defaultRoleHint:
      'Mitglieder ohne Rolle erhalten diese Rolle aus der Liste oben, wenn sie sich bei einer App anmelden. Ohne Standardrolle können sie das nicht.',
    maxUsers: 'Höchstens Personen',
    maxUsersHint: 'Ohne Zahl gibt es keine Grenze.',
    metadataHint: 'Bedingungen lesen es als organization.metadata. Der Kunde kann es nicht ändern.',
    users: 'Personen',
    usersWithRoles: 'Wer Rollen hat',
    keys: 'API-Schlüssel',
    expires: 'Angebot endet',
    ended: 'Beendet',
    reason: 'Grund',
    resend: 'Erneut senden',
    resendAbout: 'Eine neue Mail mit einem neuen Link geht hinaus. Der frühere Link gilt nicht mehr.',
    suspend: 'Aussetzen',
    suspendAbout: 'Rollen und Schlüssel des Kunden bleiben und wirken nicht, bis Sie fortsetzen.',
    resume: 'Fortsetzen',
    resumeAbout: 'Der Kunde nutzt das Projekt wieder, mit den Rollen und Schlüsseln, die er hatte.',
    revoke: 'Beenden',
    revokeAbout: 'Der Kunde verliert das Projekt endgültig, mit seinen Personen, Rollen und Schlüsseln dort.',
  },
  es: {
    title: 'Clientes',
    about:
      'Organizaciones que usan este proyecto, cada una con sus usuarios, claves y registro de auditoría. Usted decide qué roles pueden dar.',
    create: 'Nuevo cliente',
    empty: 'Ningún cliente usa aún este proyecto. Para añadir uno, envíele una oferta por correo.',
    removal: '',
    statuses: {
      pending: 'ofrecido',
      active: 'activo',
      suspended: 'suspendido',
      declined: 'rechazado',
      revoked: 'terminado',
      expired: 'caducado',
    },
    nameHint: 'Su palabra para el cliente, que no la ve.',
    emailHint: 'Aquí llega la oferta. Quien abre el enlace elige la organización.',
    roles: 'Roles',
    rolesHint: 'Lo que el cliente puede dar a su gente y a sus claves.',
    defaultRole: 'Rol predeterminado',
    defaultRoleHint:
      'Los miembros sin rol reciben este rol, de la lista de arriba, al iniciar sesión en una aplicación. Sin rol predeterminado no pueden iniciarla.',
    maxUsers: 'Máximo de usuarios',
    maxUsersHint: 'Sin un número no hay límite.',
    metadataHint: 'Las condiciones lo leen como organization.metadata. El cliente no puede cambiarlo.',
    users: 'Usuarios',
    usersWithRoles: 'Quién tiene roles',
    keys: 'Claves de API',
    expires: 'La oferta termina',
    ended: 'Terminado',
    reason: 'Motivo',
    resend: 'Enviar de nuevo',
    resendAbout: 'Sale un correo nuevo con un enlace nuevo. El anterior deja de funcionar.',
    suspend: 'Suspender',
    suspendAbout: 'Los roles y claves del cliente se conservan, y no surten efecto hasta que reanude.',
    resume: 'Reanudar',
    resumeAbout: 'El cliente vuelve a usar el proyecto, con los roles y claves que tenía.',
    revoke: 'Terminar',
    revokeAbout: 'El cliente pierde el proyecto para siempre, con sus usuarios, roles y claves allí.',
  },
  fr: {
    title: 'Clients',
    about:
      'Des organisations qui utilisent ce projet, chacune avec ses utilisateurs, ses clés et son journal d’audit. Vous décidez quels rôles elles peuvent donner.',
    create: 'Nouveau client',
    empty: 'Aucun client n’utilise encore ce projet. Pour en ajouter un, envoyez-lui une offre par e-mail.',
    removal: '',
    statuses: {
      pending: 'proposé',
      active: 'actif',
      suspended: 'suspendu',
      declined: 'refusé',
      revoked: 'terminé',
      expired: 'expiré',
    },
    nameHint: 'Votre mot pour le client, qui ne le voit pas.',
    emailHint: 'L’offre y est envoyée. Qui ouvre le lien choisit l’organisation.',
    roles: 'Rôles',
    rolesHint: 'Ce que le client peut donner à ses gens et à ses clés.',
    defaultRole: 'Rôle par défaut',
    defaultRoleHint:
      'Les membres sans rôle reçoivent ce rôle, de la liste ci-dessus, en se connectant à une application. Sans rôle par défaut, ils ne peuvent pas se connecter.',
    maxUsers: 'Utilisateurs au plus',
    maxUsersHint: 'Sans nombre, il n’y a pas de limite.',
    metadataHint: 'Les conditions le lisent comme organization.metadata. Le client ne peut pas le changer.',
    users: 'Utilisateurs',
    usersWithRoles: 'Qui a des rôles',
    keys: 'Clés d’API',
    expires: 'L’offre expire',
    ended: 'Terminé',
    reason: 'Motif',
    resend: 'Renvoyer',
    resendAbout: 'Un nouvel e-mail part avec un nouveau lien. L’ancien ne fonctionne plus.',
    suspend: 'Suspendre',
    suspendAbout: 'Les rôles et les clés du client restent, sans effet jusqu’à ce que vous repreniez.',
    resume: 'Reprendre',
    resumeAbout: 'Le client utilise de nouveau le projet, avec les rôles et les clés qu’il avait.',
    revoke: 'Mettre fin',
    revokeAbout: 'Le client perd le projet pour toujours, avec ses utilisateurs, rôles et clés.',
  },
};
