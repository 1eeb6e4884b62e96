import type { components } from '@doorward/node/client';
import type { EntityTexts } from '../../entities/declarations/entity.ts';
import type { Texts } from '../../i18n/language.ts';

type Outcome = components['schemas']['AuditOutcome'];

export interface AuditTexts extends EntityTexts {
  readonly operation: string;
  readonly operationHint: string;
  readonly actor: string;
  readonly actorHint: string;
  readonly target: string;
  readonly targetType: string;
  readonly targetTypeHint: string;
  readonly targetId: string;
  readonly outcome: string;
  readonly outcomes: Readonly<Record<Outcome, string>>;
  readonly time: string;
  readonly exactTime: string;
  readonly from: string;
  readonly to: string;
  readonly number: string;
  readonly event: string;
  readonly code: string;
  readonly address: string;
  readonly program: string;
  readonly request: string;
  readonly hash: string;
  readonly more: string;
  readonly field: string;
  readonly before: string;
  readonly after: string;
  readonly changes: string;
  readonly onlyActor: string;
  readonly onlyTarget: string;
  readonly download: string;
}

export const auditTexts: Texts<AuditTexts> = {
  en: {
    title: 'Audit log',
    about:
      'Who did what here, newest first. Entries are never changed, and each holds the hash of the one before it.',
    create: '',
    empty: 'Nothing has happened here yet.',
    removal: '',
    operation: 'Operation',
    operationHint: 'Its exact name, such as createRole.',
    actor: 'By',
    actorHint: 'The id of a user or key.',
    target: 'Target',
    targetType: 'Kind of target',
    targetTypeHint: 'Such as Role.',
    targetId: 'Id of the target',
    outcome: 'Outcome',
    outcomes: { success: 'done', denied: 'denied', failed: 'failed' },
    time: 'Time',
    exactTime: 'Exact time',
    from: 'From',
    to: 'Before',
    number: 'Number',
    event: 'Event',
    code: 'Reason',
    address: 'Network address',
    program: 'Program',
    request: 'Request',
    hash: 'Hash',
    more: 'More about it',
    field: 'Field',
    before: 'Before',
    after: 'After',
    changes: 'What changed',
    onlyActor: 'All by them',
    onlyTarget: 'All about this target',
    download: 'Download as',
  },
  de: {
    title: 'Protokoll',
    about:
      'Wer hier was getan hat, das Neueste zuerst. Einträge werden nie geändert, und jeder enthält die Prüfsumme des vorigen.',
    create: '',
    empty: 'Hier ist noch nichts geschehen.',
    removal: '',
    operation: 'Vorgang',
    operationHint: 'Sein genauer Name, etwa createRole.',
    actor: 'Von',
    actorHint: 'Die ID einer Person oder eines Schlüssels.',
    target: 'Ziel',
    targetType: 'Art des Ziels',
    targetTypeHint: 'Etwa Role.',
    targetId: 'ID des Ziels',
    outcome: 'Ergebnis',
    outcomes: { success: 'erledigt', denied: 'abgelehnt', failed: 'gescheitert' },
    time: 'Zeit',
    exactTime: 'Genaue Zeit',
    from: 'Ab',
    to: 'Vor',
    number: 'Nummer',
    event: 'Ereignis',
    code: 'Grund',
    address: 'Netzwerkadresse',
    program: 'Programm',
    request: 'Anfrage',
    hash: 'Prüfsumme',
    more: 'Mehr dazu',
    field: 'Feld',
    before: 'Vorher',
    after: 'Nachher',
    changes: 'Was sich geändert hat',
    onlyActor: 'Alles von hier',
    onlyTarget: 'Alles zu diesem Ziel',
    download: 'Herunterladen als',
  },
  es: {
    title: 'Registro de auditoría',
    about:
      'Quién hizo qué aquí, lo más nuevo primero. Las entradas nunca cambian, y cada una lleva la huella de la anterior.',
    create: '',
    empty: 'Aquí aún no ha pasado nada.',
    removal: '',
    operation: 'Operación',
    operationHint: 'Su nombre exacto, como createRole.',
    actor: 'De',
    actorHint: 'El id de un usuario o de una clave.',
    target: 'Objeto',
    targetType: 'Tipo de objeto',
    targetTypeHint: 'Como Role.',
    targetId: 'Id del objeto',
    outcome: 'Resultado',
    outcomes: { success: 'hecho', denied: 'denegado', failed: 'fallido' },
    time: 'Hora',
    exactTime: 'Hora exacta',
    from: 'Desde',
    to: 'Antes de',
    number: 'Número',
    event: 'Evento',
    code: 'Motivo',
    address: 'Dirección de red',
    program: 'Programa',
    request: 'Solicitud',
    hash: 'Huella',
    more: 'Más datos',
    field: 'Campo',
    before: 'Antes',
    after: 'Después',
    changes: 'Qué cambió',
    onlyActor: 'Todo lo que hizo',
    onlyTarget: 'Todo sobre este objeto',
    download: 'Descargar como',
  },
  fr: {
    title: 'Journal d’audit',
    about:
      'Qui a fait quoi ici, le plus récent d’abord. Les entrées ne changent jamais, et chacune contient l’empreinte de la précédente.',
    create: '',
    empty: 'Rien ne s’est encore passé ici.',
    removal: '',
    operation: 'Opération',
    operationHint: 'Son nom exact, comme createRole.',
    actor: 'Par',
    actorHint: 'L’id d’un utilisateur ou d’une clé.',
    target: 'Cible',
    targetType: 'Type de cible',
    targetTypeHint: 'Comme Role.',
    targetId: 'Id de la cible',
    outcome: 'Résultat',
    outcomes: { success: 'fait', denied: 'refusé', failed: 'échoué' },
    time: 'Heure',
    exactTime: 'Heure exacte',
    from: 'À partir de',
    to: 'Avant',
    number: 'Numéro',
    event: 'Événement',
    code: 'Raison',
    address: 'Adresse réseau',
    program: 'Programme',
    request: 'Requête',
    hash: 'Empreinte',
    more: 'Autres données',
    field: 'Champ',
    before: 'Avant',
    after: 'Après',
    changes: 'Ce qui a changé',
    onlyActor: 'Tout ce qui vient de là',
    onlyTarget: 'Tout sur cette cible',
    download: 'Télécharger en',
  },
};
