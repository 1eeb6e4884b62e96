import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

export interface PermissionTexts extends EntityTexts {
  readonly nameHint: string;
  readonly allows: string;
  readonly resource: string;
  readonly resourceHint: string;
  readonly action: string;
  readonly actionHint: string;
  readonly condition: string;
  readonly conditionHint: string;
}

export const permissionTexts: Texts<PermissionTexts> = {
  en: {
    title: 'Permissions',
    about: 'A permission allows one action on a resource, always or under a condition.',
    create: 'New permission',
    empty: 'There are no permissions of your own yet. A permission allows one action on a resource.',
    removal: 'Every group that holds this permission loses it.',
    nameHint: 'If you leave it empty: resource:action.',
    allows: 'Allows',
    resource: 'Resource',
    resourceHint: 'After the colon: its actions.',
    action: 'Action',
    actionHint: 'One of the actions of the resource. Resource and action cannot change later.',
    condition: 'Condition',
    conditionHint: 'The permission counts only while the condition is true. What is unknown is not true.',
  },
  de: {
    title: 'Berechtigungen',
    about: 'Eine Berechtigung erlaubt eine Aktion an einer Ressource, immer oder unter einer Bedingung.',
    create: 'Neue Berechtigung',
    empty:
      'Es gibt noch keine eigenen Berechtigungen. Eine Berechtigung erlaubt eine Aktion an einer Ressource.',
    removal: 'Jede Gruppe mit dieser Berechtigung verliert sie.',
    nameHint: 'Wenn Sie ihn leer lassen: Ressource:Aktion.',
    allows: 'Erlaubt',
    resource: 'Ressource',
    resourceHint: 'Nach dem Doppelpunkt stehen ihre Aktionen.',
    action: 'Aktion',
    actionHint: 'Eine der Aktionen der Ressource. Ressource und Aktion lassen sich später nicht ändern.',
    condition: 'Bedingung',
    conditionHint: 'Die Berechtigung zählt nur, solange die Bedingung wahr ist. Unbekanntes ist nicht wahr.',
  },
  es: {
    title: 'Permisos',
    about: 'Un permiso autoriza una acción sobre un recurso, siempre o con una condición.',
    create: 'Nuevo permiso',
    empty: 'Aún no hay permisos propios. Un permiso autoriza una acción sobre un recurso.',
    removal: 'Cada grupo con este permiso lo pierde.',
    nameHint: 'Si lo deja vacío: recurso:acción.',
    allows: 'Autoriza',
    resource: 'Recurso',
    resourceHint: 'Tras los dos puntos están sus acciones.',
    action: 'Acción',
    actionHint: 'Una de las acciones del recurso. El recurso y la acción no se pueden cambiar después.',
    condition: 'Condición',
    conditionHint:
      'El permiso cuenta solo mientras la condición sea verdadera. Lo desconocido no es verdadero.',
  },
  fr: {
    title: 'Permissions',
    about: 'Une permission autorise une action sur une ressource, toujours ou sous une condition.',
    create: 'Nouvelle permission',
    empty: 'Il n’y a pas encore de permissions à vous. Une permission autorise une action sur une ressource.',
    removal: 'Chaque groupe qui contient cette permission la perd.',
    nameHint: 'Si vous le laissez vide : ressource:action.',
    allows: 'Autorise',
    resource: 'Ressource',
    resourceHint: 'Après les deux-points : ses actions.',
    action: 'Action',
    actionHint: 'L’une des actions de la ressource. La ressource et l’action ne peuvent pas changer ensuite.',
    condition: 'Condition',
    conditionHint:
      'La permission ne compte que tant que la condition est vraie. Ce qui est inconnu n’est pas vrai.',
  },
};
