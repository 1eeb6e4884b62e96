import type { Language } from '../../i18n/translate.ts';

/** The texts about devices without a browser. `{app}`, `{code}`, `{time}`, `{address}` are placeholders. */
interface DeviceTexts {
  readonly title: string;
  readonly text: string;
  readonly code: string;
  readonly hint: string;
  readonly next: string;
  readonly warning: string;
  /** What became of the last attempt. */
  readonly wrong: string;
  readonly closed: string;
  readonly approved: { readonly title: string; readonly text: string };
  readonly denied: { readonly title: string; readonly text: string };
  /** On the page of consent. */
  readonly compare: string;
  readonly asked: string;
  readonly unknownAddress: string;
  readonly ownNetwork: string;
  readonly otherNetwork: string;
  readonly program: string;
  readonly place: string;
}

export const deviceTexts: Record<Language, DeviceTexts> = {
  en: {
    title: 'Connect a device',
    text: 'Enter the code that your device shows.',
    code: 'Code',
    hint: 'Eight letters, with or without the hyphen.',
    next: 'Continue',
    warning: 'Enter only a code from a device in front of you. Nobody else needs you to enter one.',
    wrong: 'There is no device with this code. Compare it with the device; it ends after ten minutes.',
    closed: 'Too many wrong codes were entered. Wait 15 minutes, then start again on the device.',
    approved: { title: 'Your device is connected', text: 'Go back to the device. You can close this page.' },
    denied: { title: 'The device gets no access', text: 'You can close this page.' },
    compare: 'Does your device show this code?',
    asked: 'A device asked for access at {time} from the address {address}.',
    unknownAddress: 'unknown',
    ownNetwork: 'That is the network of this browser.',
    otherNetwork: 'That is another network than that of this browser.',
    program: 'Its program calls itself:',
    place:
      'Allow it only if the device in front of you shows this code. If somebody sent you the code, select “Do not allow”: {app} then gets no access.',
  },
  de: {
    title: 'Ein Gerät verbinden',
    text: 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
    code: 'Code',
    hint: 'Acht Buchstaben, mit oder ohne Bindestrich.',
    next: 'Weiter',
    warning:
      'Geben Sie nur den Code eines Geräts ein, das Sie vor sich haben. Niemand sonst braucht ihn von Ihnen.',
    wrong: 'Es gibt kein Gerät mit diesem Code. Vergleichen Sie ihn mit dem Gerät; er gilt zehn Minuten.',
    closed:
      'Zu viele falsche Codes wurden eingegeben. Warten Sie 15 Minuten und beginnen Sie dann am Gerät neu.',
    approved: {
      title: 'Ihr Gerät ist verbunden',
      text: 'Gehen Sie zurück zum Gerät. Sie können diese Seite schließen.',
    },
    denied: { title: 'Das Gerät erhält keinen Zugriff', text: 'Sie können diese Seite schließen.' },
    compare: 'Zeigt Ihr Gerät diesen Code?',
    asked: 'Ein Gerät hat um {time} von der Adresse {address} um Zugriff gebeten.',
    unknownAddress: 'unbekannt',
    ownNetwork: 'Das ist das Netz dieses Browsers.',
    otherNetwork: 'Das ist ein anderes Netz als das dieses Browsers.',
    program: 'Sein Programm nennt sich:',
    place:
      'Erlauben Sie es nur, wenn das Gerät vor Ihnen diesen Code zeigt. Wenn Ihnen jemand den Code geschickt hat, wählen Sie „Nicht erlauben“: {app} erhält dann keinen Zugriff.',
  },
  es: {
    title: 'Conectar un dispositivo',
    text: 'Escriba el código que muestra su dispositivo.',
    code: 'Código',
    hint: 'Ocho letras, con o sin guion.',
    next: 'Continuar',
    warning: 'Escriba solo el código de un dispositivo que tenga delante. Nadie más necesita que lo escriba.',
    wrong: 'No hay ningún dispositivo con este código. Compárelo con el dispositivo; vale diez minutos.',
    closed:
      'Se han escrito demasiados códigos incorrectos. Espere 15 minutos y empiece de nuevo en el dispositivo.',
    approved: {
      title: 'Su dispositivo está conectado',
      text: 'Vuelva al dispositivo. Puede cerrar esta página.',
    },
    denied: { title: 'El dispositivo no tendrá acceso', text: 'Puede cerrar esta página.' },
    compare: '¿Muestra su dispositivo este código?',
    asked: 'Un dispositivo pidió acceso a las {time} desde la dirección {address}.',
    unknownAddress: 'desconocida',
    ownNetwork: 'Es la red de este navegador.',
    otherNetwork: 'Es una red distinta de la de este navegador.',
    program: 'Su programa se llama a sí mismo:',
    place:
      'Permítalo solo si el dispositivo que tiene delante muestra este código. Si alguien le envió el código, elija «No permitir»: {app} no tendrá acceso.',
  },
  fr: {
    title: 'Connecter un appareil',
    text: 'Saisissez le code affiché par votre appareil.',
    code: 'Code',
    hint: 'Huit lettres, avec ou sans tiret.',
    next: 'Continuer',
    warning:
      'Ne saisissez que le code d’un appareil qui est devant vous. Personne d’autre n’a besoin que vous le saisissiez.',
    wrong: 'Aucun appareil n’a ce code. Comparez-le avec l’appareil ; il est valable dix minutes.',
    closed: 'Trop de codes erronés ont été saisis. Attendez 15 minutes, puis recommencez sur l’appareil.',
    approved: {
      title: 'Votre appareil est connecté',
      text: 'Retournez à l’appareil. Vous pouvez fermer cette page.',
    },
    denied: { title: 'L’appareil n’obtient aucun accès', text: 'Vous pouvez fermer cette page.' },
    compare: 'Votre appareil affiche-t-il ce code ?',
    asked: 'Un appareil a demandé l’accès à {time} depuis l’adresse {address}.',
    unknownAddress: 'inconnue',
    ownNetwork: 'C’est le réseau de ce navigateur.',
    otherNetwork: 'C’est un autre réseau que celui de ce navigateur.',
    program: 'Son programme se nomme :',
    place:
      'N’autorisez que si l’appareil devant vous affiche ce code. Si quelqu’un vous a envoyé le code, choisissez « Ne pas autoriser » : {app} n’aura alors aucun accès.',
  },
};
