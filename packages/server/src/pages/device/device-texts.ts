import type { Language } from '../../languages.ts';

interface DeviceTexts {
  readonly title: string;
  readonly text: string;
  readonly code: string;
  readonly hint: string;
  readonly next: string;
  readonly warning: string;
  /** Messages about the last attempt. */
  readonly wrong: string;
  readonly closed: string;
  readonly approved: { readonly title: string; readonly text: string };
  readonly denied: { readonly title: string; readonly text: string };
  /** Texts on the consent page. */
  readonly compare: string;
  readonly requestedAt: string;
  readonly unknownAddress: string;
  readonly ownNetwork: string;
  readonly otherNetwork: string;
  readonly program: string;
  readonly advice: string;
}

/** Texts about devices without a browser. `{app}`, `{code}`, `{time}`, `{address}` are placeholders. */
export const deviceTexts: Record<Language, DeviceTexts> = {
  en: {
    title: 'Connect a device',
    text: 'Enter the code that your device shows.',
    code: 'Code',
    hint: 'Eight letters, with or without the hyphen.',
    next: 'Continue',
    warning:
      'Enter only a code from a device in front of you. If another person sent you a code, do not enter it.',
    wrong:
      'This code is wrong, expired or already used. Check the code on your device; a code is valid for ten minutes.',
    closed:
      'Too many wrong codes came from this browser or your network. Wait a while, then begin again on the device.',
    approved: { title: 'Your device is connected', text: 'Go back to the device. You can close this page.' },
    denied: { title: 'The device gets no access', text: 'You can close this page.' },
    compare: 'Does your device show this code?',
    requestedAt: 'A device asked for access at {time} from the address {address}.',
    unknownAddress: 'The address of the device is unknown.',
    ownNetwork: 'This is the network of this browser.',
    otherNetwork: 'This is not the network of this browser.',
    program: 'The device calls itself:',
    advice:
      'Allow it only if the device in front of you shows this code. If somebody sent you the code, select “Do not allow”: {app} then gets no access.',
  },
  de: {
    title: 'Ein Gerät verbinden',
    text: 'Geben Sie den Code ein, den Ihr Gerät anzeigt.',
    code: 'Code',
    hint: 'Acht Buchstaben, mit oder ohne Bindestrich.',
    next: 'Weiter',
    warning:
      'Geben Sie nur den Code eines Geräts ein, das Sie vor sich haben. Wenn Ihnen jemand einen Code geschickt hat, geben Sie ihn nicht ein.',
    wrong:
      'Dieser Code ist falsch, abgelaufen oder schon verwendet. Prüfen Sie den Code auf dem Gerät; er gilt zehn Minuten.',
    closed:
      'Aus diesem Browser oder Ihrem Netz kamen zu viele falsche Codes. Warten Sie eine Weile und beginnen Sie dann am Gerät neu.',
    approved: {
      title: 'Ihr Gerät ist verbunden',
      text: 'Gehen Sie zurück zum Gerät. Sie können diese Seite schließen.',
    },
    denied: { title: 'Das Gerät erhält keinen Zugriff', text: 'Sie können diese Seite schließen.' },
    compare: 'Zeigt Ihr Gerät diesen Code?',
    requestedAt: 'Ein Gerät hat um {time} von der Adresse {address} um Zugriff gebeten.',
    unknownAddress: 'Die Adresse des Geräts ist unbekannt.',
    ownNetwork: 'Das ist das Netz dieses Browsers.',
    otherNetwork: 'Das ist ein anderes Netz als das dieses Browsers.',
    program: 'Angabe des Geräts:',
    advice:
      'Erlauben Sie es nur, wenn das Gerät vor Ihnen diesen Code zeigt. Wenn Ihnen jemand den Code geschickt hat, wählen Sie „Nicht erlauben“: {app} erhält dann keinen Zugriff.',
  },
  es: {
    title: 'Conectar un dispositivo',
    text: 'Escriba el código que muestra su dispositivo.',
    code: 'Código',
    hint: 'Ocho letras, con o sin guion.',
    next: 'Continuar',
    warning:
      'Escriba solo el código de un dispositivo que tenga delante. Si alguien le ha enviado un código, no lo escriba.',
    wrong:
      'Este código es incorrecto, ha caducado o ya se ha usado. Compruébelo en el dispositivo; vale diez minutos.',
    closed:
      'Desde este navegador o su red han llegado demasiados códigos incorrectos. Espere un rato y empiece de nuevo en el dispositivo.',
    approved: {
      title: 'Su dispositivo está conectado',
      text: 'Vuelva al dispositivo. Puede cerrar esta página.',
    },
    denied: { title: 'El dispositivo no tendrá acceso', text: 'Puede cerrar esta página.' },
    compare: '¿Muestra su dispositivo este código?',
    requestedAt: 'Un dispositivo pidió acceso desde la dirección {address} (hora: {time}).',
    unknownAddress: 'No se conoce la dirección del dispositivo.',
    ownNetwork: 'Es la red de este navegador.',
    otherNetwork: 'Es una red distinta de la de este navegador.',
    program: 'El dispositivo se identifica como:',
    advice:
      'Permítalo solo si el dispositivo que tiene delante muestra este código. Si alguien le envió el código, elija «No permitir»: {app} no tendrá acceso.',
  },
  fr: {
    title: 'Connecter un appareil',
    text: 'Saisissez le code affiché par votre appareil.',
    code: 'Code',
    hint: 'Huit lettres, avec ou sans tiret.',
    next: 'Continuer',
    warning:
      'Ne saisissez que le code d’un appareil qui est devant vous. Si quelqu’un vous a envoyé un code, ne le saisissez pas.',
    wrong:
      'Ce code est erroné, expiré ou déjà utilisé. Vérifiez-le sur l’appareil ; il est valable dix minutes.',
    closed:
      'Trop de codes erronés sont venus de ce navigateur ou de votre réseau. Attendez un peu, puis recommencez sur l’appareil.',
    approved: {
      title: 'Votre appareil est connecté',
      text: 'Retournez à l’appareil. Vous pouvez fermer cette page.',
    },
    denied: { title: 'L’appareil n’obtient aucun accès', text: 'Vous pouvez fermer cette page.' },
    compare: 'Votre appareil affiche-t-il ce code ?',
    requestedAt: 'À {time}, un appareil a demandé un accès depuis l’adresse {address}.',
    unknownAddress: 'L’adresse de l’appareil est inconnue.',
    ownNetwork: 'C’est le réseau de ce navigateur.',
    otherNetwork: 'C’est un autre réseau que celui de ce navigateur.',
    program: 'L’appareil se présente comme :',
    advice:
      'N’autorisez l’accès que si l’appareil qui est devant vous affiche ce code. Si quelqu’un vous a envoyé le code, choisissez « Ne pas autoriser » : {app} n’aura alors aucun accès.',
  },
};
