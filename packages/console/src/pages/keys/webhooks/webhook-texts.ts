import type { EntityTexts } from '../../../entities/declarations/entity.ts';
import type { Texts } from '../../../i18n/language.ts';

export interface WebhookTexts extends EntityTexts {
  readonly url: string;
  readonly urlHint: string;
  readonly urlFormat: string;
  readonly nameHint: string;
  readonly ready: string;
  readonly types: string;
  readonly typesHint: string;
  readonly everything: string;
  readonly allOf: (noun: string) => string;
  readonly optIn: string;
  readonly sends: string;
  readonly sendsHint: string;
  readonly works: string;
  readonly paused: string;
  readonly failingSince: string;
  readonly gone: string;
  readonly failing: string;
  readonly lastDelivered: string;
  readonly never: string;
  readonly oldSecretUntil: string;
  readonly test: string;
  readonly testAbout: string;
  readonly testType: string;
  readonly testTypeHint: string;
  readonly rotate: string;
  readonly rotateAbout: string;
  readonly grace: string;
  readonly atOnce: string;
  readonly force: string;
  readonly forceHint: string;
  readonly snippet: string;
}

export const webhookTexts: Texts<WebhookTexts> = {
  en: {
    title: 'Webhooks',
    about: 'When something happens in this project, the service sends it to these addresses.',
    create: 'New webhook',
    empty: 'There are no webhooks yet. With one, your program learns at once what happens here.',
    removal: 'The service sends nothing more to this address. What still waits is dropped.',
    url: 'Address',
    urlHint:
      'Where your program takes the events: a public https address such as https://hooks.example.com/doorward, with port 443, 80 or above 1023, and without user name, password or #. Addresses of your own network need WEBHOOKS_ALLOWED_PRIVATE_CIDRS.',
    urlFormat: 'Write the whole address, beginning with https:// and without spaces, # and \\.',
    nameHint: 'A policy document needs it to manage this webhook. It must be unique in the project.',
    ready: 'ready: nothing was sent yet',
    types: 'Events',
    typesHint: 'What the service sends.',
    everything: 'all events',
    allOf: (noun) => `all of ${noun}`,
    optIn: 'only if chosen here',
    sends: 'Send events',
    sendsHint:
      'While this is off, events wait. If the service has stopped the webhook, save with this on to start it again.',
    works: 'events arrive',
    paused: 'switched off: events wait',
    failingSince: 'events do not arrive, first failure',
    gone: 'stopped by the service: the receiver answered that it no longer exists (410)',
    failing: 'stopped by the service: no event arrived for too long',
    lastDelivered: 'Last delivery',
    never: 'never',
    oldSecretUntil: 'Old secret signs until',
    test: 'Test',
    testAbout: 'The service sends an example at once. You see the answer among the deliveries.',
    testType: 'Example of',
    testTypeHint: 'Without a choice the service sends a ping.',
    rotate: 'New secret',
    rotateAbout:
      'From now on the service signs with a new secret. Give your program both while the old one still signs.',
    grace: 'The old secret still signs for',
    atOnce: 'no time: it ends at once',
    force: 'End the older secret now',
    forceHint: 'Two secrets sign at the moment. Without this, the service refuses a third.',
    snippet: 'Check the signature',
  },
  de: {
    title: 'Webhooks',
    about: 'Wenn in diesem Projekt etwas geschieht, sendet der Dienst es an diese Adressen.',
    create: 'Neuer Webhook',
    empty: 'Es gibt noch keine Webhooks. Mit einem erfährt Ihr Programm sofort, was hier geschieht.',
    removal: 'Der Dienst sendet nichts mehr an diese Adresse. Was noch wartet, verfällt.',
    url: 'Adresse',
    urlHint:
      'Wo Ihr Programm die Ereignisse entgegennimmt: eine öffentliche https-Adresse wie https://hooks.example.com/doorward, mit Port 443, 80 oder über 1023 und ohne Benutzernamen, Passwort oder #. Adressen Ihres eigenen Netzes brauchen WEBHOOKS_ALLOWED_PRIVATE_CIDRS.',
    urlFormat: 'Schreiben Sie die ganze Adresse, die mit https:// beginnt, ohne Leerzeichen, # und \\.',
    nameHint:
      'Eine Richtlinie braucht ihn, um diesen Webhook zu verwalten. Er muss im Projekt eindeutig sein.',
    ready: 'bereit: Noch wurde nichts gesendet',
    types: 'Ereignisse',
    typesHint: 'Was der Dienst sendet.',
    everything: 'alle Ereignisse',
    allOf: (noun) => `alle von ${noun}`,
    optIn: 'nur wenn hier gewählt',
    sends: 'Ereignisse senden',
    sendsHint:
      'Solange das aus ist, warten Ereignisse. Hat der Dienst den Webhook gestoppt, startet er wieder, wenn Sie mit eingeschaltetem Schalter speichern.',
    works: 'Ereignisse kommen an',
    paused: 'ausgeschaltet: Ereignisse warten',
    failingSince: 'Ereignisse kommen nicht an, erster Fehler',
    gone: 'vom Dienst gestoppt: Der Empfänger antwortete, dass es ihn nicht mehr gibt (410)',
    failing: 'vom Dienst gestoppt: Zu lange kam kein Ereignis an',
    lastDelivered: 'Letzte Zustellung',
    never: 'nie',
    oldSecretUntil: 'Altes Geheimnis unterschreibt bis',
    test: 'Testen',
    testAbout: 'Der Dienst sendet sofort ein Beispiel. Die Antwort sehen Sie bei den Zustellungen.',
    testType: 'Beispiel für',
    testTypeHint: 'Ohne Auswahl sendet der Dienst einen Ping.',
    rotate: 'Neues Geheimnis',
    rotateAbout:
      'Ab jetzt unterschreibt der Dienst mit einem neuen Geheimnis. Geben Sie Ihrem Programm beide, solange das alte noch unterschreibt.',
    grace: 'Das alte Geheimnis unterschreibt noch',
    atOnce: 'nicht mehr: es endet sofort',
    force: 'Das ältere Geheimnis jetzt beenden',
    forceHint: 'Zurzeit unterschreiben zwei Geheimnisse. Ohne dies lehnt der Dienst ein drittes ab.',
    snippet: 'Die Unterschrift prüfen',
  },
  es: {
    title: 'Webhooks',
    about: 'Cuando algo sucede en este proyecto, el servicio lo envía a estas direcciones.',
    create: 'Nuevo webhook',
    empty: 'Aún no hay webhooks. Con uno, su programa sabe de inmediato lo que sucede aquí.',
    removal: 'El servicio no envía nada más a esta dirección. Lo que aún espera se descarta.',
    url: 'Dirección',
    urlHint:
      'Donde su programa recibe los eventos: una dirección https pública como https://hooks.example.com/doorward, con el puerto 443, el 80 o uno mayor que 1023, y sin usuario, contraseña ni #. Las direcciones de su propia red necesitan WEBHOOKS_ALLOWED_PRIVATE_CIDRS.',
    urlFormat: 'Escriba la dirección entera, que empieza por https:// y no lleva espacios, # ni \\.',
    nameHint: 'Una política lo necesita para gestionar este webhook. Debe ser único en el proyecto.',
    ready: 'listo: aún no se envió nada',
    types: 'Eventos',
    typesHint: 'Lo que envía el servicio.',
    everything: 'todos los eventos',
    allOf: (noun) => `todos los de ${noun}`,
    optIn: 'solo si se elige aquí',
    sends: 'Enviar eventos',
    sendsHint:
      'Mientras está apagado, los eventos esperan. Si el servicio ha detenido el webhook, guarde con esto encendido para reanudarlo.',
    works: 'los eventos llegan',
    paused: 'apagado: los eventos esperan',
    failingSince: 'los eventos no llegan, primer fallo',
    gone: 'detenido por el servicio: el receptor respondió que ya no existe (410)',
    failing: 'detenido por el servicio: ningún evento llegó durante demasiado tiempo',
    lastDelivered: 'Última entrega',
    never: 'nunca',
    oldSecretUntil: 'El secreto anterior firma hasta',
    test: 'Probar',
    testAbout: 'El servicio envía un ejemplo de inmediato. Verá la respuesta entre las entregas.',
    testType: 'Ejemplo de',
    testTypeHint: 'Sin elección, el servicio envía un ping.',
    rotate: 'Nuevo secreto',
    rotateAbout:
      'Desde ahora el servicio firma con un secreto nuevo. Dé a su programa los dos mientras el anterior aún firma.',
    grace: 'El secreto anterior aún firma durante',
    atOnce: 'ningún tiempo: termina de inmediato',
    force: 'Terminar ahora el secreto más antiguo',
    forceHint: 'Ahora firman dos secretos. Sin esto, el servicio rechaza un tercero.',
    snippet: 'Comprobar la firma',
  },
  fr: {
    title: 'Webhooks',
    about: 'Quand quelque chose arrive dans ce projet, le service l’envoie à ces adresses.',
    create: 'Nouveau webhook',
    empty:
      'Il n’y a pas encore de webhooks. Avec un webhook, votre programme apprend aussitôt ce qui arrive ici.',
    removal: 'Le service n’envoie plus rien à cette adresse. Ce qui attend encore est abandonné.',
    url: 'Adresse',
    urlHint:
      'L’endroit où votre programme reçoit les événements : une adresse https publique comme https://hooks.example.com/doorward, avec le port 443, le port 80 ou un port au-dessus de 1023, sans nom d’utilisateur, mot de passe ni #. Les adresses de votre propre réseau demandent WEBHOOKS_ALLOWED_PRIVATE_CIDRS.',
    urlFormat: 'Écrivez l’adresse entière, qui commence par https:// et ne contient ni espace, ni #, ni \\.',
    nameHint: 'Une politique en a besoin pour gérer ce webhook. Il doit être unique dans le projet.',
    ready: 'prêt : rien n’a encore été envoyé',
    types: 'Événements',
    typesHint: 'Ce que le service envoie.',
    everything: 'tous les événements',
    allOf: (noun) => `tous ceux de ${noun}`,
    optIn: 'seulement si choisi ici',
    sends: 'Envoyer les événements',
    sendsHint:
      'Tant que c’est désactivé, les événements attendent. Si le service a arrêté le webhook, enregistrez avec cette option activée pour le relancer.',
    works: 'les événements arrivent',
    paused: 'éteint : les événements attendent',
    failingSince: 'les événements n’arrivent pas, premier échec',
    gone: 'arrêté par le service : le destinataire a répondu qu’il n’existe plus (410)',
    failing: 'arrêté par le service : aucun événement n’est arrivé depuis trop longtemps',
    lastDelivered: 'Dernière livraison',
    never: 'jamais',
    oldSecretUntil: 'L’ancien secret signe jusqu’à',
    test: 'Tester',
    testAbout: 'Le service envoie aussitôt un exemple. La réponse figure parmi les livraisons.',
    testType: 'Exemple de',
    testTypeHint: 'Sans choix, le service envoie un ping.',
    rotate: 'Nouveau secret',
    rotateAbout:
      'Dès maintenant, le service signe avec un nouveau secret. Donnez les deux à votre programme tant que l’ancien signe encore.',
    grace: 'L’ancien secret signe encore',
    atOnce: 'plus du tout : il prend fin aussitôt',
    force: 'Mettre fin maintenant au secret le plus ancien',
    forceHint: 'Deux secrets signent en ce moment. Sans cela, le service en refuse un troisième.',
    snippet: 'Vérifier la signature',
  },
};
