import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

export interface ResourceTexts extends EntityTexts {
  readonly slug: string;
  readonly slugHint: string;
  readonly actions: string;
  readonly actionsHint: string;
  readonly state: string;
  readonly active: string;
  readonly inactive: string;
  readonly activeHint: string;
  readonly createPermissions: string;
  readonly createPermissionsHint: string;
}

export const resourceTexts: Texts<ResourceTexts> = {
  en: {
    title: 'Resources',
    about: 'A resource is something in your product, such as invoices, with what can be done to it.',
    create: 'New resource',
    empty: 'There are no resources of your own yet. A resource names what permissions are about.',
    removal: 'Its permissions are deleted too. Whoever had them loses them.',
    slug: 'Name in checks',
    slugHint: 'Lower-case letters, digits and hyphens, such as invoice. It cannot change later.',
    actions: 'Actions',
    actionsHint: 'One on each line, in lower case: what can be done with it.',
    state: 'Status',
    active: 'Active',
    inactive: 'Inactive',
    activeHint: 'While it is not active, its permissions grant nothing.',
    createPermissions: 'Make a permission for each action',
    createPermissionsHint: 'You can put these permissions into groups at once.',
  },
  de: {
    title: 'Ressourcen',
    about: 'Eine Ressource ist etwas in Ihrem Produkt, etwa Rechnungen, mit dem, was man damit tun kann.',
    create: 'Neue Ressource',
    empty: 'Es gibt noch keine eigenen Ressourcen. Eine Ressource benennt, worum es in Berechtigungen geht.',
    removal: 'Ihre Berechtigungen werden mit gelöscht. Wer sie hatte, verliert sie.',
    slug: 'Name in Prüfungen',
    slugHint: 'Kleinbuchstaben, Ziffern und Bindestriche, etwa invoice. Er lässt sich später nicht ändern.',
    actions: 'Aktionen',
    actionsHint: 'Eine je Zeile, in Kleinbuchstaben: was man damit tun kann.',
    state: 'Status',
    active: 'Aktiv',
    inactive: 'Inaktiv',
    activeHint: 'Solange sie nicht aktiv ist, geben ihre Berechtigungen nichts.',
    createPermissions: 'Je Aktion eine Berechtigung anlegen',
    createPermissionsHint: 'Sie können diese Berechtigungen dann gleich Gruppen geben.',
  },
  es: {
    title: 'Recursos',
    about: 'Un recurso es algo de su producto, como las facturas, con lo que se puede hacer con él.',
    create: 'Nuevo recurso',
    empty: 'Aún no hay recursos propios. Un recurso nombra aquello de lo que tratan los permisos.',
    removal: 'También se eliminan sus permisos. Quien los tenía los pierde.',
    slug: 'Nombre en las comprobaciones',
    slugHint: 'Minúsculas, cifras y guiones, como invoice. No se puede cambiar después.',
    actions: 'Acciones',
    actionsHint: 'Una por línea, en minúsculas: lo que se puede hacer con él.',
    state: 'Estado',
    active: 'Activo',
    inactive: 'Inactivo',
    activeHint: 'Mientras no esté activo, sus permisos no dan nada.',
    createPermissions: 'Crear un permiso para cada acción',
    createPermissionsHint: 'Puede poner estos permisos en grupos enseguida.',
  },
  fr: {
    title: 'Ressources',
    about:
      'Une ressource est une chose de votre produit, comme les factures, avec ce que l’on peut en faire.',
    create: 'Nouvelle ressource',
    empty: 'Il n’y a pas encore de ressources à vous. Une ressource nomme ce dont parlent les permissions.',
    removal: 'Ses permissions sont supprimées aussi. Quiconque les avait les perd.',
    slug: 'Nom dans les vérifications',
    slugHint: 'Minuscules, chiffres et traits d’union, comme invoice. Il ne peut pas changer ensuite.',
    actions: 'Actions',
    actionsHint: 'Une par ligne, en minuscules : ce que l’on peut en faire.',
    state: 'État',
    active: 'Active',
    inactive: 'Inactive',
    activeHint: 'Tant qu’elle n’est pas active, ses permissions ne donnent rien.',
    createPermissions: 'Créer une permission pour chaque action',
    createPermissionsHint: 'Vous pouvez aussitôt mettre ces permissions dans des groupes.',
  },
};
