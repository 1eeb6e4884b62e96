import type { Texts } from '../../i18n/language.ts';

interface EventTexts {
  readonly title: string;
  readonly about: string;
  readonly empty: string;
  readonly types: string;
  readonly typesHint: string;
  readonly type: string;
  readonly actor: string;
  readonly time: string;
  readonly number: string;
  readonly follow: string;
  readonly followHint: string;
  readonly newer: { readonly one: string; readonly other: string };
  readonly readOn: string;
}

export const eventTexts: Texts<EventTexts> = {
  en: {
    title: 'Events',
    about:
      'What happened here, as programs read it and webhooks get it. The newest is first; open one to see all of it.',
    empty: 'There are no events yet. Each change here adds one.',
    types: 'Types',
    typesHint: 'Such as role.created, or role.* for all of a kind; several with commas.',
    type: 'Event',
    actor: 'By',
    time: 'Time',
    number: 'Number',
    follow: 'Follow',
    followHint: 'Looks for new events every 5 seconds.',
    newer: {
      one: 'This is the oldest event; newer ones follow.',
      other: 'These are the # oldest events; newer ones follow.',
    },
    readOn: 'Show newer',
  },
  de: {
    title: 'Ereignisse',
    about:
      'Was hier geschah, wie Programme es lesen und Webhooks es erhalten. Das Neueste steht zuerst; öffnen Sie eines, um alles zu sehen.',
    empty: 'Es gibt noch keine Ereignisse. Jede Änderung hier fügt eines hinzu.',
    types: 'Arten',
    typesHint: 'Etwa role.created, oder role.* für alle einer Art; mehrere mit Kommas.',
    type: 'Ereignis',
    actor: 'Von',
    time: 'Zeit',
    number: 'Nummer',
    follow: 'Mitlesen',
    followHint: 'Sucht alle 5 Sekunden nach neuen Ereignissen.',
    newer: {
      one: 'Das ist das älteste Ereignis; neuere folgen.',
      other: 'Das sind die # ältesten Ereignisse; neuere folgen.',
    },
    readOn: 'Neuere zeigen',
  },
  es: {
    title: 'Eventos',
    about:
      'Lo que pasó aquí, como lo leen los programas y lo reciben los webhooks. Lo más nuevo va primero; abra uno para verlo entero.',
    empty: 'Aún no hay eventos. Cada cambio aquí añade uno.',
    types: 'Tipos',
    typesHint: 'Como role.created, o role.* para todos los de una clase; varios con comas.',
    type: 'Evento',
    actor: 'De',
    time: 'Hora',
    number: 'Número',
    follow: 'Seguir',
    followHint: 'Busca eventos nuevos cada 5 segundos.',
    newer: {
      one: 'Este es el evento más antiguo; hay otros más nuevos.',
      other: 'Estos son los # eventos más antiguos; hay otros más nuevos.',
    },
    readOn: 'Mostrar más nuevos',
  },
  fr: {
    title: 'Événements',
    about:
      'Ce qui s’est passé ici, tel que les programmes le lisent et que les webhooks le reçoivent. Le plus récent d’abord ; ouvrez-en un pour tout voir.',
    empty: 'Il n’y a pas encore d’événements. Chaque changement ici en ajoute un.',
    types: 'Types',
    typesHint: 'Comme role.created, ou role.* pour tous ceux d’une sorte ; plusieurs avec des virgules.',
    type: 'Événement',
    actor: 'Par',
    time: 'Heure',
    number: 'Numéro',
    follow: 'Suivre',
    followHint: 'Cherche de nouveaux événements toutes les 5 secondes.',
    newer: {
      one: 'C’est l’événement le plus ancien ; de plus récents suivent.',
      other: 'Ce sont les # événements les plus anciens ; de plus récents suivent.',
    },
    readOn: 'Montrer les plus récents',
  },
};
