import type { Texts } from '../../i18n/language.ts';

interface SecretTexts {
  readonly title: string;
  readonly once: string;
  readonly kept: string;
  readonly download: string;
}

export const secretTexts: Texts<SecretTexts> = {
  en: {
    title: 'Your secret',
    once: 'It is shown only now. Copy or download it, and keep it where your other secrets are; then you can close this.',
    kept: 'I have stored it',
    download: 'Download',
  },
  de: {
    title: 'Ihr Geheimnis',
    once: 'Es wird nur jetzt gezeigt. Kopieren Sie es oder laden Sie es herunter, und bewahren Sie es bei Ihren anderen Geheimnissen auf; dann können Sie dies schließen.',
    kept: 'Ich habe es gespeichert',
    download: 'Herunterladen',
  },
  es: {
    title: 'Su secreto',
    once: 'Solo se muestra ahora. Cópielo o descárguelo, y guárdelo donde estén sus otros secretos; entonces puede cerrar esto.',
    kept: 'Lo he guardado',
    download: 'Descargar',
  },
  fr: {
    title: 'Votre secret',
    once: 'Il n’est affiché que maintenant. Copiez-le ou téléchargez-le, et conservez-le avec vos autres secrets ; vous pourrez alors fermer ceci.',
    kept: 'Je l’ai conservé',
    download: 'Télécharger',
  },
};
