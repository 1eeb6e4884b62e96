import type { Code } from '../errors.ts';
import type { Language } from '../languages.ts';

interface Texts {
  readonly title: string;
  readonly advice: Partial<Record<Code, string>>;
  /** The advice for all other codes. */
  readonly otherwise: string;
  /**
   * The advice if an app sent a wrong request. `goOn` links to the app; its address (`{place}`) can be chosen by
   * anyone.
   */
  readonly unknownApp: string;
  readonly goOn: string;
  readonly forTheOperator: string;
  readonly notFound: { readonly title: string; readonly text: string; readonly start: string };
}

/** What users can do about an error. The message of the error itself is meant for the people who help them. */
export const errorTexts: Record<Language, Texts> = {
  en: {
    title: 'Something went wrong',
    advice: {
      INVALID_TOKEN:
        'This sign-in has ended, or you started it in another browser. Go back to the app and sign in again.',
      INVALID_REDIRECT_URI:
        'For your security we did not redirect you: the app that sent you here gave an address that is not registered for it. Only the operator of the app can fix this.',
      NOT_FOUND:
        'The app that sent you here does not exist, or it has been deleted. Only the operator of the app can fix this.',
      ORIGIN_NOT_ALLOWED:
        'This request did not come from one of our pages, so we did not process it. Go back to the app and start again.',
      RATE_LIMITED: 'There were too many attempts in a short time. Wait a moment, then try again.',
      VALIDATION_ERROR: 'The link that you followed is incomplete. Go back to the app and start again.',
      PROVIDER_NOT_CONFIGURED: 'This way to sign in is not available here. Go back and choose another one.',
      INTERNAL_ERROR: 'The error is on our side. Please try again in a moment.',
      UNAVAILABLE: 'The service is not available at the moment. Please try again soon.',
    },
    otherwise: 'Go back to the app and start again.',
    unknownApp:
      'The app that sent you here made a request that is not allowed, so you cannot sign in to it now. Go back only if you know and trust this address.',
    goOn: 'Back to {place}',
    forTheOperator: 'Details for support:',
    notFound: {
      title: 'Page not found',
      text: 'Check the address, or go back to the previous page.',
      start: 'Start page',
    },
  },
  de: {
    title: 'Etwas ist schiefgegangen',
    advice: {
      INVALID_TOKEN:
        'Diese Anmeldung ist beendet, oder Sie haben sie in einem anderen Browser begonnen. Gehen Sie zurück zur App und beginnen Sie noch einmal.',
      INVALID_REDIRECT_URI:
        'Zu Ihrer Sicherheit haben wir Sie nicht weitergeleitet: Die App, von der Sie kommen, hat eine Adresse angegeben, die nicht für sie registriert ist. Nur der Betreiber der App kann das beheben.',
      NOT_FOUND:
        'Die App, von der Sie kommen, gibt es nicht, oder sie wurde gelöscht. Nur der Betreiber der App kann das beheben.',
      ORIGIN_NOT_ALLOWED:
        'Diese Anfrage kam nicht von einer unserer Seiten, deshalb haben wir sie nicht bearbeitet. Gehen Sie zurück zur App und beginnen Sie noch einmal.',
      RATE_LIMITED:
        'Es gab in kurzer Zeit zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann noch einmal.',
      VALIDATION_ERROR:
        'Der Link, dem Sie gefolgt sind, ist unvollständig. Gehen Sie zurück zur App und beginnen Sie noch einmal.',
      PROVIDER_NOT_CONFIGURED:
        'Dieser Anmeldeweg ist hier nicht verfügbar. Gehen Sie zurück und wählen Sie einen anderen.',
      INTERNAL_ERROR: 'Der Fehler liegt bei uns. Bitte versuchen Sie es gleich noch einmal.',
      UNAVAILABLE: 'Der Dienst ist zurzeit nicht verfügbar. Bitte versuchen Sie es bald noch einmal.',
    },
    otherwise: 'Gehen Sie zurück zur App und beginnen Sie noch einmal.',
    unknownApp:
      'Die App, von der Sie kommen, hat eine unzulässige Anfrage gesendet. Deshalb können Sie sich dort jetzt nicht anmelden. Gehen Sie nur zurück, wenn Sie diese Adresse kennen und ihr vertrauen.',
    goOn: 'Zurück zu {place}',
    forTheOperator: 'Angaben für den Support:',
    notFound: {
      title: 'Seite nicht gefunden',
      text: 'Prüfen Sie die Adresse, oder gehen Sie zurück zur vorherigen Seite.',
      start: 'Startseite',
    },
  },
  es: {
    title: 'Algo ha salido mal',
    advice: {
      INVALID_TOKEN:
        'Este inicio de sesión ha terminado, o lo empezó en otro navegador. Vuelva a la aplicación y empiece de nuevo.',
      INVALID_REDIRECT_URI:
        'Por su seguridad no le hemos redirigido: la aplicación que le envió aquí indicó una dirección que no está registrada para ella. Solo el responsable de la aplicación puede solucionarlo.',
      NOT_FOUND:
        'La aplicación que le envió aquí no existe o se ha eliminado. Solo el responsable de la aplicación puede solucionarlo.',
      ORIGIN_NOT_ALLOWED:
        'Esta solicitud no procede de una de nuestras páginas, así que no la hemos procesado. Vuelva a la aplicación y empiece de nuevo.',
      RATE_LIMITED: 'Ha habido demasiados intentos en poco tiempo. Espere un momento e inténtelo de nuevo.',
      VALIDATION_ERROR:
        'El enlace que ha seguido está incompleto. Vuelva a la aplicación y empiece de nuevo.',
      PROVIDER_NOT_CONFIGURED:
        'Esta forma de iniciar sesión no está disponible aquí. Vuelva atrás y elija otra.',
      INTERNAL_ERROR: 'El error es nuestro. Inténtelo de nuevo en un momento.',
      UNAVAILABLE: 'El servicio no está disponible en este momento. Inténtelo de nuevo dentro de poco.',
    },
    otherwise: 'Vuelva a la aplicación y empiece de nuevo.',
    unknownApp:
      'La aplicación que le envió aquí hizo una solicitud que no está permitida, así que ahora no puede iniciar sesión en ella. Vuelva solo si conoce esta dirección y confía en ella.',
    goOn: 'Volver a {place}',
    forTheOperator: 'Datos para soporte:',
    notFound: {
      title: 'Página no encontrada',
      text: 'Compruebe la dirección o vuelva a la página anterior.',
      start: 'Página de inicio',
    },
  },
  fr: {
    title: 'Une erreur s’est produite',
    advice: {
      INVALID_TOKEN:
        'Cette connexion est terminée, ou vous l’avez commencée dans un autre navigateur. Revenez à l’application et recommencez.',
      INVALID_REDIRECT_URI:
        'Pour votre sécurité, nous ne vous avons pas redirigé : l’application qui vous envoie a indiqué une adresse qui n’est pas enregistrée pour elle. Seul le responsable de l’application peut y remédier.',
      NOT_FOUND:
        'L’application qui vous envoie n’existe pas ou a été supprimée. Seul le responsable de l’application peut y remédier.',
      ORIGIN_NOT_ALLOWED:
        'Cette demande ne venait pas de l’une de nos pages, nous ne l’avons donc pas traitée. Revenez à l’application et recommencez.',
      RATE_LIMITED: 'Il y a eu trop de tentatives en peu de temps. Patientez un instant, puis réessayez.',
      VALIDATION_ERROR: 'Le lien que vous avez suivi est incomplet. Revenez à l’application et recommencez.',
      PROVIDER_NOT_CONFIGURED:
        'Ce moyen de connexion n’est pas disponible ici. Revenez en arrière et choisissez-en un autre.',
      INTERNAL_ERROR: 'L’erreur vient de notre côté. Réessayez dans un instant.',
      UNAVAILABLE: 'Le service n’est pas disponible pour le moment. Réessayez dans peu de temps.',
    },
    otherwise: 'Revenez à l’application et recommencez.',
    unknownApp:
      'L’application qui vous envoie a fait une demande qui n’est pas autorisée ; vous ne pouvez donc pas vous y connecter maintenant. N’y retournez que si vous connaissez cette adresse et lui faites confiance.',
    goOn: 'Retour à {place}',
    forTheOperator: 'Informations pour l’assistance :',
    notFound: {
      title: 'Page introuvable',
      text: 'Vérifiez l’adresse ou revenez à la page précédente.',
      start: 'Page d’accueil',
    },
  },
};
