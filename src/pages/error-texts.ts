import type { Code } from '../errors.ts';
import type { Language } from '../i18n/translate.ts';

/** What a person can do about an error that a browser comes to. Whoever wrote the program behind it reads the message. */
interface Texts {
  readonly title: string;
  readonly advice: Partial<Record<Code, string>>;
  /** For every other code. */
  readonly otherwise: string;
  /** An app made a mistake and its address may be anybody's; `goOn` names it as {place}. */
  readonly unknownApp: string;
  readonly goOn: string;
  readonly forTheOperator: string;
  readonly notFound: { readonly title: string; readonly text: string; readonly start: string };
}

export const errorTexts: Record<Language, Texts> = {
  en: {
    title: 'This did not work',
    advice: {
      INVALID_TOKEN:
        'This sign-in is over, or was started in another browser. Go back to where you came from and start it again.',
      INVALID_REDIRECT_URI:
        'For your safety we did not lead you on: the app that sent you here named an address that is not its own. Only whoever runs the app can mend this.',
      NOT_FOUND:
        'What sent you here is not known to us, or not any more. Only whoever runs it can mend this.',
      ORIGIN_NOT_ALLOWED:
        'This did not come from a page of ours, so nothing was done. Go back to where you came from and start again.',
      RATE_LIMITED: 'There were too many attempts in a short time. Wait a little, then try again.',
      VALIDATION_ERROR:
        'The address that led you here is not complete. Go back to where you came from and start again.',
      PROVIDER_NOT_CONFIGURED: 'This way to sign in is not offered here. Go back and choose another.',
      INTERNAL_ERROR: 'The fault is ours. Please try again in a moment.',
      UNAVAILABLE: 'Please try again in a moment.',
    },
    otherwise: 'Go back to where you came from and start again.',
    unknownApp:
      'The app that sent you here asked for something that we cannot do, so you cannot sign in to it now. Go back to it only if you know its address.',
    goOn: 'Back to {place}',
    forTheOperator: 'For whoever helps you:',
    notFound: {
      title: 'There is nothing here',
      text: 'Check the address, or go back to where you came from.',
      start: 'Start page',
    },
  },
  de: {
    title: 'Das hat nicht geklappt',
    advice: {
      INVALID_TOKEN:
        'Diese Anmeldung ist beendet oder wurde in einem anderen Browser begonnen. Gehen Sie dorthin zurück, woher Sie kamen, und beginnen Sie noch einmal.',
      INVALID_REDIRECT_URI:
        'Zu Ihrer Sicherheit haben wir Sie nicht weitergeleitet: Die App, die Sie hierher geschickt hat, nannte eine Adresse, die nicht ihre ist. Nur wer die App betreibt, kann das beheben.',
      NOT_FOUND:
        'Was Sie hierher geschickt hat, ist uns nicht oder nicht mehr bekannt. Nur wer es betreibt, kann das beheben.',
      ORIGIN_NOT_ALLOWED:
        'Das kam nicht von einer unserer Seiten, deshalb ist nichts geschehen. Gehen Sie dorthin zurück, woher Sie kamen, und beginnen Sie noch einmal.',
      RATE_LIMITED:
        'Es gab in kurzer Zeit zu viele Versuche. Warten Sie etwas und versuchen Sie es dann erneut.',
      VALIDATION_ERROR:
        'Die Adresse, die Sie hierher geführt hat, ist nicht vollständig. Gehen Sie dorthin zurück, woher Sie kamen, und beginnen Sie noch einmal.',
      PROVIDER_NOT_CONFIGURED:
        'Dieser Anmeldeweg wird hier nicht angeboten. Gehen Sie zurück und wählen Sie einen anderen.',
      INTERNAL_ERROR: 'Der Fehler liegt bei uns. Bitte versuchen Sie es gleich noch einmal.',
      UNAVAILABLE: 'Bitte versuchen Sie es gleich noch einmal.',
    },
    otherwise: 'Gehen Sie dorthin zurück, woher Sie kamen, und beginnen Sie noch einmal.',
    unknownApp:
      'Die App, die Sie hierher geschickt hat, hat um etwas gebeten, das wir nicht tun können. Deshalb können Sie sich dort jetzt nicht anmelden. Gehen Sie nur zurück, wenn Sie die Adresse der App kennen.',
    goOn: 'Zurück zu {place}',
    forTheOperator: 'Für die Person, die Ihnen hilft:',
    notFound: {
      title: 'Hier gibt es nichts',
      text: 'Prüfen Sie die Adresse, oder gehen Sie dorthin zurück, woher Sie kamen.',
      start: 'Startseite',
    },
  },
  es: {
    title: 'Esto no ha funcionado',
    advice: {
      INVALID_TOKEN:
        'Este inicio de sesión ha terminado o se empezó en otro navegador. Vuelva al lugar de donde venía y empiece de nuevo.',
      INVALID_REDIRECT_URI:
        'Por su seguridad no le hemos llevado más lejos: la aplicación que le envió aquí indicó una dirección que no es suya. Solo quien la gestiona puede arreglarlo.',
      NOT_FOUND: 'No conocemos, o ya no, lo que le envió aquí. Solo quien lo gestiona puede arreglarlo.',
      ORIGIN_NOT_ALLOWED:
        'Esto no venía de una página nuestra, así que no se ha hecho nada. Vuelva al lugar de donde venía y empiece de nuevo.',
      RATE_LIMITED: 'Ha habido demasiados intentos en poco tiempo. Espere un poco e inténtelo de nuevo.',
      VALIDATION_ERROR:
        'La dirección que le trajo aquí no está completa. Vuelva al lugar de donde venía y empiece de nuevo.',
      PROVIDER_NOT_CONFIGURED: 'Esta forma de iniciar sesión no se ofrece aquí. Vuelva y elija otra.',
      INTERNAL_ERROR: 'El fallo es nuestro. Inténtelo de nuevo en un momento.',
      UNAVAILABLE: 'Inténtelo de nuevo en un momento.',
    },
    otherwise: 'Vuelva al lugar de donde venía y empiece de nuevo.',
    unknownApp:
      'La aplicación que le envió aquí pidió algo que no podemos hacer, así que ahora no puede iniciar sesión en ella. Vuelva a ella solo si conoce su dirección.',
    goOn: 'Volver a {place}',
    forTheOperator: 'Para quien le ayude:',
    notFound: {
      title: 'Aquí no hay nada',
      text: 'Compruebe la dirección o vuelva al lugar de donde venía.',
      start: 'Página de inicio',
    },
  },
  fr: {
    title: "Cela n'a pas fonctionné",
    advice: {
      INVALID_TOKEN:
        "Cette connexion est terminée ou a été commencée dans un autre navigateur. Revenez là d'où vous venez et recommencez.",
      INVALID_REDIRECT_URI:
        "Pour votre sécurité, nous ne vous avons pas conduit plus loin : l'application qui vous envoie a indiqué une adresse qui n'est pas la sienne. Seul son responsable peut y remédier.",
      NOT_FOUND:
        'Ce qui vous a envoyé ici nous est inconnu ou ne nous est plus connu. Seul son responsable peut y remédier.',
      ORIGIN_NOT_ALLOWED:
        "Cela ne venait pas d'une de nos pages, rien n'a donc été fait. Revenez là d'où vous venez et recommencez.",
      RATE_LIMITED: 'Il y a eu trop de tentatives en peu de temps. Patientez un peu, puis réessayez.',
      VALIDATION_ERROR:
        "L'adresse qui vous a conduit ici est incomplète. Revenez là d'où vous venez et recommencez.",
      PROVIDER_NOT_CONFIGURED:
        "Ce moyen de connexion n'est pas proposé ici. Revenez en arrière et choisissez-en un autre.",
      INTERNAL_ERROR: 'La faute est de notre côté. Réessayez dans un instant.',
      UNAVAILABLE: 'Réessayez dans un instant.',
    },
    otherwise: "Revenez là d'où vous venez et recommencez.",
    unknownApp:
      "L'application qui vous envoie a demandé quelque chose que nous ne pouvons pas faire ; vous ne pouvez donc pas vous y connecter maintenant. N'y retournez que si vous connaissez son adresse.",
    goOn: 'Retour à {place}',
    forTheOperator: 'Pour la personne qui vous aide :',
    notFound: {
      title: "Il n'y a rien ici",
      text: "Vérifiez l'adresse ou revenez là d'où vous venez.",
      start: "Page d'accueil",
    },
  },
};
