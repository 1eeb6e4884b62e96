import type { components } from '@doorward/node/client';
import type { Texts } from '../../../i18n/language.ts';

type Schemas = components['schemas'];

interface DeliveryTexts {
  readonly deliveries: string;
  readonly empty: string;
  readonly refresh: string;
  readonly event: string;
  readonly status: string;
  readonly time: string;
  readonly answer: string;
  readonly statuses: Readonly<Record<Schemas['WebhookDeliveryStatus'], string>>;
  readonly errors: Readonly<Record<Schemas['WebhookDeliveryError'], string>>;
  readonly none: string;
  readonly milliseconds: (count: string) => string;
  readonly eventId: string;
  readonly nextAttempt: string;
  readonly deliveredAt: string;
  readonly attempts: string;
  readonly number: string;
  readonly attempt: (number: string) => string;
  readonly body: string;
  readonly replay: string;
  readonly replayed: string;
  readonly again: string;
  readonly replayAll: (count: string) => string;
  readonly tried: string;
}

export const deliveryTexts: Texts<DeliveryTexts> = {
  en: {
    deliveries: 'Deliveries',
    empty: 'Nothing was sent yet. A test sends the first example.',
    refresh: 'Refresh',
    event: 'Event',
    status: 'Status',
    time: 'Time',
    answer: 'Answer',
    statuses: {
      pending: 'waits to be sent',
      delivered: 'arrived',
      exhausted: 'failed, not tried any more',
      cancelled: 'dropped with its webhook',
    },
    errors: {
      timeout: 'no answer in time',
      connection: 'no connection',
      tls: 'no secure connection',
      dns: 'host unknown',
      blocked: 'address not allowed',
      redirect: 'answered with a redirect',
      status: 'refused',
    },
    none: 'none yet',
    milliseconds: (count) => `${count} ms`,
    eventId: 'Event id',
    nextAttempt: 'Next attempt',
    deliveredAt: 'Delivered',
    attempts: 'Attempts',
    number: 'No.',
    attempt: (number) => `Attempt ${number}:`,
    body: 'Text of the last answer',
    replay: 'Send again',
    replayed: 'It is sent again.',
    again: 'Try again',
    replayAll: (count) => `Send all that failed again (${count})`,
    tried: 'tried without success, will be tried again',
  },
  de: {
    deliveries: 'Zustellungen',
    empty: 'Noch wurde nichts gesendet. Ein Test sendet das erste Beispiel.',
    refresh: 'Aktualisieren',
    event: 'Ereignis',
    status: 'Status',
    time: 'Zeit',
    answer: 'Antwort',
    statuses: {
      pending: 'wartet auf das Senden',
      delivered: 'angekommen',
      exhausted: 'gescheitert, kein weiterer Versuch',
      cancelled: 'mit dem Webhook verworfen',
    },
    errors: {
      timeout: 'keine Antwort in der Zeit',
      connection: 'keine Verbindung',
      tls: 'keine sichere Verbindung',
      dns: 'Rechner unbekannt',
      blocked: 'Adresse nicht erlaubt',
      redirect: 'mit einer Umleitung geantwortet',
      status: 'abgelehnt',
    },
    none: 'noch keine',
    milliseconds: (count) => `${count} ms`,
    eventId: 'Ereignis-ID',
    nextAttempt: 'Nächster Versuch',
    deliveredAt: 'Zugestellt',
    attempts: 'Versuche',
    number: 'Nr.',
    attempt: (number) => `Versuch ${number}:`,
    body: 'Text der letzten Antwort',
    replay: 'Erneut senden',
    replayed: 'Es wird erneut gesendet.',
    again: 'Noch einmal',
    replayAll: (count) => `Alle gescheiterten erneut senden (${count})`,
    tried: 'gescheitert, wird erneut versucht',
  },
  es: {
    deliveries: 'Entregas',
    empty: 'Aún no se envió nada. Una prueba envía el primer ejemplo.',
    refresh: 'Actualizar',
    event: 'Evento',
    status: 'Estado',
    time: 'Hora',
    answer: 'Respuesta',
    statuses: {
      pending: 'espera el envío',
      delivered: 'llegó',
      exhausted: 'falló, sin más intentos',
      cancelled: 'descartado con su webhook',
    },
    errors: {
      timeout: 'sin respuesta a tiempo',
      connection: 'sin conexión',
      tls: 'sin conexión segura',
      dns: 'servidor desconocido',
      blocked: 'dirección no permitida',
      redirect: 'respondió con una redirección',
      status: 'rechazado',
    },
    none: 'aún ninguna',
    milliseconds: (count) => `${count} ms`,
    eventId: 'Id del evento',
    nextAttempt: 'Próximo intento',
    deliveredAt: 'Entregado',
    attempts: 'Intentos',
    number: 'N.º',
    attempt: (number) => `Intento ${number}:`,
    body: 'Texto de la última respuesta',
    replay: 'Enviar otra vez',
    replayed: 'Se envía otra vez.',
    again: 'Otra vez',
    replayAll: (count) => `Enviar otra vez todo lo que falló (${count})`,
    tried: 'falló, se intentará otra vez',
  },
  fr: {
    deliveries: 'Livraisons',
    empty: 'Rien n’a encore été envoyé. Un test envoie le premier exemple.',
    refresh: 'Actualiser',
    event: 'Événement',
    status: 'État',
    time: 'Heure',
    answer: 'Réponse',
    statuses: {
      pending: 'attend l’envoi',
      delivered: 'arrivé',
      exhausted: 'échec, plus d’essai',
      cancelled: 'abandonné avec son webhook',
    },
    errors: {
      timeout: 'pas de réponse à temps',
      connection: 'pas de connexion',
      tls: 'pas de connexion sécurisée',
      dns: 'hôte inconnu',
      blocked: 'adresse non autorisée',
      redirect: 'a répondu par une redirection',
      status: 'refusé',
    },
    none: 'aucune pour l’instant',
    milliseconds: (count) => `${count} ms`,
    eventId: 'Id de l’événement',
    nextAttempt: 'Prochaine tentative',
    deliveredAt: 'Livré',
    attempts: 'Tentatives',
    number: 'N°',
    attempt: (number) => `Tentative ${number} :`,
    body: 'Texte de la dernière réponse',
    replay: 'Envoyer à nouveau',
    replayed: 'L’envoi recommence.',
    again: 'Encore une fois',
    replayAll: (count) => `Renvoyer tout ce qui a échoué (${count})`,
    tried: 'échec, un nouvel essai suivra',
  },
};
