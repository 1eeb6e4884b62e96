import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

export interface MachineTexts extends EntityTexts {
  readonly role: string;
  readonly roleHint: string;
  readonly active: string;
  readonly disabled: string;
  readonly suspended: string;
  readonly newKey: string;
  readonly newKeyAbout: string;
}

export const machineTexts: Texts<MachineTexts> = {
  en: {
    title: 'Service users',
    about:
      'Programs that act here with a role of their own. They sign in with API keys and never own anything.',
    create: 'New service user',
    empty: 'There are no service users yet. A program that sets up customers or projects needs one.',
    removal: 'The program loses its role, and its keys end at once.',
    role: 'Role',
    roleHint: 'What the program may do, with every key it has.',
    active: 'active',
    disabled: 'disabled',
    suspended: 'suspended',
    newKey: 'New key',
    newKeyAbout: 'With this key a program acts as this service user, with the role that it has then.',
  },
  de: {
    title: 'Dienstnutzer',
    about:
      'Programme, die hier mit einer eigenen Rolle handeln. Sie melden sich mit API-Schlüsseln an, und ihnen gehört nie etwas.',
    create: 'Neuer Dienstnutzer',
    empty:
      'Es gibt noch keine Dienstnutzer. Ein Programm, das Kunden oder Projekte einrichtet, braucht einen.',
    removal: 'Das Programm verliert seine Rolle, und seine Schlüssel enden sofort.',
    role: 'Rolle',
    roleHint: 'Was das Programm darf, mit jedem seiner Schlüssel.',
    active: 'aktiv',
    disabled: 'gesperrt',
    suspended: 'vom Betreiber gesperrt',
    newKey: 'Neuer Schlüssel',
    newKeyAbout:
      'Mit diesem Schlüssel handelt ein Programm als dieser Dienstnutzer, mit der Rolle, die er dann hat.',
  },
  es: {
    title: 'Usuarios de servicio',
    about:
      'Programas que actúan aquí con un rol propio. Inician sesión con claves de API y nunca son propietarios de nada.',
    create: 'Nuevo usuario de servicio',
    empty: 'Aún no hay usuarios de servicio. Un programa que prepara clientes o proyectos necesita uno.',
    removal: 'El programa pierde su rol, y sus claves terminan de inmediato.',
    role: 'Rol',
    roleHint: 'Lo que el programa puede hacer, con cada una de sus claves.',
    active: 'activo',
    disabled: 'desactivado',
    suspended: 'suspendido',
    newKey: 'Nueva clave',
    newKeyAbout:
      'Con esta clave un programa actúa como este usuario de servicio, con el rol que tenga entonces.',
  },
  fr: {
    title: 'Utilisateurs de service',
    about:
      'Des programmes qui agissent ici avec leur propre rôle. Ils se connectent avec des clés d’API et ne sont jamais propriétaires.',
    create: 'Nouvel utilisateur de service',
    empty:
      'Il n’y a pas encore d’utilisateurs de service. Un programme qui prépare des clients ou des projets en a besoin.',
    removal: 'Le programme perd son rôle, et ses clés prennent fin aussitôt.',
    role: 'Rôle',
    roleHint: 'Ce que le programme peut faire, avec chacune de ses clés.',
    active: 'actif',
    disabled: 'désactivé',
    suspended: 'suspendu',
    newKey: 'Nouvelle clé',
    newKeyAbout:
      'Avec cette clé, un programme agit comme cet utilisateur de service, avec le rôle qu’il a à ce moment.',
  },
};
