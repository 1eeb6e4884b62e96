import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';
import { profileTexts, type ProfileTexts } from '../token-profile.ts';

export interface ApiKeyTexts extends EntityTexts, ProfileTexts {
  readonly actsAs: string;
  readonly actsAsHint: string;
  readonly asRole: string;
  readonly asMe: string;
  readonly asUser: string;
  readonly user: string;
  readonly role: string;
  readonly roleHint: string;
  readonly roleOfUserHint: string;
  readonly active: string;
  readonly revoked: string;
  readonly expired: string;
  readonly lastUse: string;
  readonly never: string;
  readonly unused: string;
  /** The title of the dialog that shows the key once. */
  readonly yourKey: string;
  readonly expiry: string;
  readonly expiryHint: string;
  readonly networks: string;
  readonly networksHint: string;
  readonly clientId: string;
  readonly lastIp: string;
  readonly rotatedAt: string;
  readonly oldSecretUntil: string;
  readonly revokedAt: string;
  readonly reason: string;
  readonly rotate: string;
  readonly rotateAbout: string;
  readonly grace: string;
  readonly atOnce: string;
  readonly revoke: string;
  readonly revokeAbout: string;
}

export const apiKeyTexts: Texts<ApiKeyTexts> = {
  en: {
    ...profileTexts.en,
    title: 'API keys',
    about: 'With a key, a program signs in to this project. The key has a role, or acts as a person.',
    create: 'New key',
    empty: 'There are no keys yet. A program that asks this service needs one.',
    yourKey: 'Your API key',
    removal: 'The key stops working at once and leaves the list.',
    actsAs: 'Acts as',
    actsAsHint: 'What the key may do comes from here.',
    asRole: 'A program with a role of its own',
    asMe: 'Me',
    asUser: 'A user of this project',
    user: 'User',
    role: 'Role',
    roleHint: 'What the key may do.',
    roleOfUserHint:
      'The key may do what the role allows. Without a role it may do all that the person may do.',
    active: 'works',
    revoked: 'revoked',
    expired: 'expired',
    lastUse: 'Last use',
    never: 'never',
    unused: 'unused for 90 days',
    expiry: 'Expires',
    expiryHint: 'Without a date the key works until you revoke it.',
    networks: 'Networks',
    networksHint: 'One on each line, such as 203.0.113.0/24. Without one the key works from everywhere.',
    clientId: 'Client id',
    lastIp: 'Last address',
    rotatedAt: 'New secret since',
    oldSecretUntil: 'Old secret works until',
    revokedAt: 'Revoked',
    reason: 'Reason',
    rotate: 'New secret',
    rotateAbout: 'The key gets a new secret. Everything else about it stays as it is.',
    grace: 'The old secret still works for',
    atOnce: 'no time: it ends at once',
    revoke: 'Revoke',
    revokeAbout: 'The key stops working at once and for good. It stays in the list.',
  },
  de: {
    ...profileTexts.de,
    title: 'API-Schlüssel',
    about:
      'Mit einem Schlüssel meldet sich ein Programm bei diesem Projekt an. Er hat eine Rolle oder handelt als eine Person.',
    create: 'Neuer Schlüssel',
    empty: 'Es gibt noch keine Schlüssel. Ein Programm, das diesen Dienst fragt, braucht einen.',
    yourKey: 'Ihr API-Schlüssel',
    removal: 'Der Schlüssel gilt sofort nicht mehr und verschwindet aus der Liste.',
    actsAs: 'Handelt als',
    actsAsHint: 'Daraus ergibt sich, was der Schlüssel darf.',
    asRole: 'Ein Programm mit eigener Rolle',
    asMe: 'Ich',
    asUser: 'Eine Person dieses Projekts',
    user: 'Person',
    role: 'Rolle',
    roleHint: 'Was der Schlüssel darf.',
    roleOfUserHint:
      'Der Schlüssel darf, was die Rolle erlaubt. Ohne Rolle darf er alles, was die Person darf.',
    active: 'gilt',
    revoked: 'gesperrt',
    expired: 'abgelaufen',
    lastUse: 'Zuletzt benutzt',
    never: 'nie',
    unused: 'seit 90 Tagen unbenutzt',
    expiry: 'Läuft ab',
    expiryHint: 'Ohne Datum gilt der Schlüssel, bis Sie ihn sperren.',
    networks: 'Netze',
    networksHint: 'Eines je Zeile, etwa 203.0.113.0/24. Ohne Angabe gilt der Schlüssel von überall.',
    clientId: 'Client-ID',
    lastIp: 'Letzte Adresse',
    rotatedAt: 'Neues Geheimnis seit',
    oldSecretUntil: 'Altes Geheimnis gilt bis',
    revokedAt: 'Gesperrt',
    reason: 'Grund',
    rotate: 'Neues Geheimnis',
    rotateAbout: 'Der Schlüssel bekommt ein neues Geheimnis. Alles andere an ihm bleibt, wie es ist.',
    grace: 'Das alte Geheimnis gilt noch',
    atOnce: 'nicht mehr: es endet sofort',
    revoke: 'Sperren',
    revokeAbout: 'Der Schlüssel gilt sofort und für immer nicht mehr. Er bleibt in der Liste.',
  },
  es: {
    ...profileTexts.es,
    title: 'Claves de API',
    about:
      'Con una clave, un programa inicia sesión en este proyecto. Tiene un rol o actúa como una persona.',
    create: 'Nueva clave',
    empty: 'Aún no hay claves. Un programa que consulta este servicio necesita una.',
    yourKey: 'Su clave de API',
    removal: 'La clave deja de funcionar de inmediato y desaparece de la lista.',
    actsAs: 'Actúa como',
    actsAsHint: 'De aquí viene lo que la clave puede hacer.',
    asRole: 'Un programa con su propio rol',
    asMe: 'Yo',
    asUser: 'Un usuario de este proyecto',
    user: 'Usuario',
    role: 'Rol',
    roleHint: 'Lo que la clave puede hacer.',
    roleOfUserHint:
      'La clave puede hacer lo que el rol permite. Sin rol puede hacer todo lo que la persona puede hacer.',
    active: 'funciona',
    revoked: 'revocada',
    expired: 'caducada',
    lastUse: 'Último uso',
    never: 'nunca',
    unused: 'sin uso desde hace 90 días',
    expiry: 'Caduca',
    expiryHint: 'Sin fecha, la clave funciona hasta que usted la revoque.',
    networks: 'Redes',
    networksHint: 'Una por línea, como 203.0.113.0/24. Sin ninguna, la clave funciona desde cualquier lugar.',
    clientId: 'Id de cliente',
    lastIp: 'Última dirección',
    rotatedAt: 'Secreto nuevo desde',
    oldSecretUntil: 'El secreto anterior funciona hasta',
    revokedAt: 'Revocada',
    reason: 'Motivo',
    rotate: 'Nuevo secreto',
    rotateAbout: 'La clave recibe un secreto nuevo. Todo lo demás queda como está.',
    grace: 'El secreto anterior aún funciona durante',
    atOnce: 'ningún tiempo: termina de inmediato',
    revoke: 'Revocar',
    revokeAbout: 'La clave deja de funcionar de inmediato y para siempre. Permanece en la lista.',
  },
  fr: {
    ...profileTexts.fr,
    title: 'Clés d’API',
    about:
      'Avec une clé, un programme se connecte à ce projet. Elle a un rôle, ou agit au nom d’une personne.',
    create: 'Nouvelle clé',
    empty: 'Il n’y a pas encore de clés. Un programme qui interroge ce service en a besoin.',
    yourKey: 'Votre clé d’API',
    removal: 'La clé cesse aussitôt de fonctionner et quitte la liste.',
    actsAs: 'Agit comme',
    actsAsHint: 'De là vient ce que la clé peut faire.',
    asRole: 'Un programme avec son propre rôle',
    asMe: 'Moi',
    asUser: 'Un utilisateur de ce projet',
    user: 'Utilisateur',
    role: 'Rôle',
    roleHint: 'Ce que la clé peut faire.',
    roleOfUserHint:
      'La clé peut faire ce que le rôle permet. Sans rôle, elle peut faire tout ce que peut la personne.',
    active: 'fonctionne',
    revoked: 'révoquée',
    expired: 'expirée',
    lastUse: 'Dernière utilisation',
    never: 'jamais',
    unused: 'inutilisée depuis 90 jours',
    expiry: 'Expire',
    expiryHint: 'Sans date, la clé fonctionne jusqu’à ce que vous la révoquiez.',
    networks: 'Réseaux',
    networksHint: 'Un par ligne, comme 203.0.113.0/24. Sans réseau, la clé fonctionne de partout.',
    clientId: 'Id de client',
    lastIp: 'Dernière adresse',
    rotatedAt: 'Nouveau secret depuis',
    oldSecretUntil: 'L’ancien secret fonctionne jusqu’à',
    revokedAt: 'Révoquée',
    reason: 'Motif',
    rotate: 'Nouveau secret',
    rotateAbout: 'La clé reçoit un nouveau secret. Tout le reste ne change pas.',
    grace: 'L’ancien secret fonctionne encore',
    atOnce: 'plus du tout : il prend fin aussitôt',
    revoke: 'Révoquer',
    revokeAbout: 'La clé cesse de fonctionner aussitôt et pour toujours. Elle reste dans la liste.',
  },
};
