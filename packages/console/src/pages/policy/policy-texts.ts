import type { components } from '@doorward/node/client';
import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

/** The kinds of rows in a policy document. */
export type PolicyKind = components['schemas']['PolicyKind'];

export interface PolicyTexts extends EntityTexts {
  readonly kinds: Readonly<Record<PolicyKind, string>>;
  readonly version: string;
  readonly message: string;
  readonly by: string;
  readonly changes: string;
  readonly counts: (created: number, updated: number, deleted: number) => string;
  readonly rollbackOf: (number: number) => string;
  readonly source: string;
  readonly changedRows: string;
  readonly firstVersion: string;
  readonly noChanges: string;
  readonly created: string;
  readonly updated: string;
  readonly deleted: string;
  readonly members: string;
  readonly drift: string;
  readonly driftAbout: string;
  readonly noDrift: string;
  readonly rollback: string;
  readonly rollbackAbout: string;
  readonly allowDelete: string;
  readonly allowDeleteHint: string;
  readonly reason: string;
  readonly newSecrets: string;
}

export const policyTexts: Texts<PolicyTexts> = {
  en: {
    kinds: {
      resources: 'resource',
      permissions: 'permission',
      groups: 'group',
      roles: 'role',
      tags: 'tag',
      apps: 'app',
      webhooks: 'webhook',
    },
    title: 'Policy versions',
    about:
      'A policy document declares the resources, permissions, groups, roles, tags, apps and webhooks of this project. Applying a document makes a version.',
    create: '',
    created: 'created',
    empty: 'No policy document has been applied yet: doorward policy export writes the first one.',
    removal: '',
    version: 'Version',
    message: 'Message',
    by: 'Applied by',
    changes: 'Changes',
    counts: (created, updated, deleted) => `${created} created, ${updated} changed, ${deleted} deleted`,
    rollbackOf: (number) => `back to version ${number}`,
    source: 'Source',
    changedRows: 'What this version changed',
    firstVersion: 'This is the first version: everything in it is new to the document.',
    noChanges: 'The document is the same as in the previous version.',
    updated: 'changed',
    deleted: 'deleted',
    members: 'Members',
    drift: 'Changed by hand',
    driftAbout: 'The next application of the document undoes this.',
    noDrift: 'Nothing was changed by hand since the last version.',
    rollback: 'Go back to this version',
    rollbackAbout:
      'The document of this version is applied again, as a new version. First you see who gains and who loses what.',
    allowDelete: 'Delete what this version does not have',
    allowDeleteHint: 'Without it, the service refuses if something would have to be deleted.',
    reason: 'Why',
    newSecrets: 'Secrets of this version',
  },
  de: {
    kinds: {
      resources: 'Ressource',
      permissions: 'Berechtigung',
      groups: 'Gruppe',
      roles: 'Rolle',
      tags: 'Tag',
      apps: 'App',
      webhooks: 'Webhook',
    },
    title: 'Richtlinienversionen',
    about:
      'Eine Richtlinie sagt, welche Ressourcen, Berechtigungen, Gruppen, Rollen, Tags, Apps und Webhooks dieses Projekt hat. Wird eine Richtlinie angewendet, entsteht eine Version.',
    create: '',
    created: 'angelegt',
    empty: 'Es wurde noch keine Richtlinie angewendet: doorward policy export schreibt die erste.',
    removal: '',
    version: 'Version',
    message: 'Nachricht',
    by: 'Angewendet von',
    changes: 'Änderungen',
    counts: (created, updated, deleted) => `${created} angelegt, ${updated} geändert, ${deleted} gelöscht`,
    rollbackOf: (number) => `zurück zu Version ${number}`,
    source: 'Quelle',
    changedRows: 'Was diese Version geändert hat',
    firstVersion: 'Dies ist die erste Version: Alles darin ist neu in der Richtlinie.',
    noChanges: 'Die Richtlinie ist die der Version davor.',
    updated: 'geändert',
    deleted: 'gelöscht',
    members: 'Felder',
    drift: 'Von Hand geändert',
    driftAbout: 'Die nächste Anwendung der Richtlinie macht das rückgängig.',
    noDrift: 'Seit der letzten Version wurde nichts von Hand geändert.',
    rollback: 'Zu dieser Version zurückkehren',
    rollbackAbout:
      'Die Richtlinie dieser Version wird erneut angewendet, als neue Version. Zuerst sehen Sie, wer welche Rechte gewinnt und verliert.',
    allowDelete: 'Löschen, was diese Version nicht hat',
    allowDeleteHint: 'Sonst lehnt der Dienst die Änderung ab, wenn etwas gelöscht werden müsste.',
    reason: 'Grund',
    newSecrets: 'Geheimnisse dieser Version',
  },
  es: {
    kinds: {
      resources: 'recurso',
      permissions: 'permiso',
      groups: 'grupo',
      roles: 'rol',
      tags: 'etiqueta',
      apps: 'aplicación',
      webhooks: 'webhook',
    },
    title: 'Versiones de la política',
    about:
      'Una política dice qué recursos, permisos, grupos, roles, etiquetas, aplicaciones y webhooks tiene este proyecto. Aplicar una política crea una versión.',
    create: '',
    created: 'creado',
    empty: 'Aún no se ha aplicado ninguna política: doorward policy export escribe la primera.',
    removal: '',
    version: 'Versión',
    message: 'Mensaje',
    by: 'Aplicada por',
    changes: 'Cambios',
    counts: (created, updated, deleted) => `${created} creados, ${updated} cambiados, ${deleted} eliminados`,
    rollbackOf: (number) => `de vuelta a la versión ${number}`,
    source: 'Origen',
    changedRows: 'Qué cambió esta versión',
    firstVersion: 'Es la primera versión: todo en ella es nuevo en la política.',
    noChanges: 'La política es la de la versión anterior.',
    updated: 'cambiado',
    deleted: 'eliminado',
    members: 'Campos',
    drift: 'Cambiado a mano',
    driftAbout: 'La próxima aplicación de la política lo deshace.',
    noDrift: 'Nada se ha cambiado a mano desde la última versión.',
    rollback: 'Volver a esta versión',
    rollbackAbout:
      'La política de esta versión se aplica de nuevo, como versión nueva. Antes verá quién gana y quién pierde qué permisos.',
    allowDelete: 'Eliminar lo que esta versión no tiene',
    allowDeleteHint: 'Sin esto, el servicio rechaza el cambio si hubiera que eliminar algo.',
    reason: 'Motivo',
    newSecrets: 'Secretos de esta versión',
  },
  fr: {
    kinds: {
      resources: 'ressource',
      permissions: 'permission',
      groups: 'groupe',
      roles: 'rôle',
      tags: 'étiquette',
      apps: 'application',
      webhooks: 'webhook',
    },
    title: 'Versions de la politique',
    about:
      'Une politique dit quelles ressources, permissions, groupes, rôles, étiquettes, applications et webhooks ce projet possède. Appliquer une politique crée une version.',
    create: '',
    created: 'créé',
    empty: 'Aucune politique n’a encore été appliquée : doorward policy export écrit la première.',
    removal: '',
    version: 'Version',
    message: 'Message',
    by: 'Appliquée par',
    changes: 'Modifications',
    counts: (created, updated, deleted) => `${created} créés, ${updated} modifiés, ${deleted} supprimés`,
    rollbackOf: (number) => `retour à la version ${number}`,
    source: 'Origine',
    changedRows: 'Ce que cette version a modifié',
    firstVersion: 'C’est la première version : tout y est nouveau dans la politique.',
    noChanges: 'La politique est celle de la version précédente.',
    updated: 'modifié',
    deleted: 'supprimé',
    members: 'Champs',
    drift: 'Modifié à la main',
    driftAbout: 'La prochaine application de la politique l’annule.',
    noDrift: 'Rien n’a été modifié à la main depuis la dernière version.',
    rollback: 'Revenir à cette version',
    rollbackAbout:
      'La politique de cette version est appliquée à nouveau, comme nouvelle version. D’abord, vous voyez qui gagne et qui perd quels droits.',
    allowDelete: 'Supprimer ce que cette version n’a pas',
    allowDeleteHint: 'Sinon, le service refusera s’il faut supprimer quelque chose.',
    reason: 'Raison',
    newSecrets: 'Secrets de cette version',
  },
};
