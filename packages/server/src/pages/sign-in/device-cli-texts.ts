import type { Language } from '../../languages.ts';
import type { ConfirmationTexts } from './confirmation.ts';

/** The question about a command line whose code the user has entered. */
export const deviceCliTexts: Record<Language, ConfirmationTexts> = {
  en: {
    title: 'Sign in to a command line?',
    asks: 'The command line that shows your code would like to sign in as {name} ({address}).',
    warning:
      'Select “Sign in” only if you have just started it yourself and it shows this code: it will be able to do everything that you can do. If another person sent you the code, select “Do not sign in”; the command line then gets no access.',
    approve: 'Sign in',
    deny: 'Do not sign in',
    over: 'This request has expired or has already been answered. Start the sign-in again from the command line.',
  },
  de: {
    title: 'In einer Kommandozeile anmelden?',
    asks: 'Die Kommandozeile, die Ihren Code anzeigt, möchte sich als {name} ({address}) anmelden.',
    warning:
      'Wählen Sie „Anmelden“ nur, wenn Sie sie gerade selbst gestartet haben und sie diesen Code anzeigt: Sie darf dann alles, was Sie dürfen. Wenn Ihnen jemand den Code geschickt hat, wählen Sie „Nicht anmelden“; die Kommandozeile erhält dann keinen Zugriff.',
    approve: 'Anmelden',
    deny: 'Nicht anmelden',
    over: 'Diese Anfrage ist abgelaufen oder wurde schon beantwortet. Starten Sie die Anmeldung in der Kommandozeile neu.',
  },
  es: {
    title: '¿Iniciar sesión en una línea de comandos?',
    asks: 'La línea de comandos que muestra su código quiere iniciar sesión como {name} ({address}).',
    warning:
      'Elija «Iniciar sesión» solo si acaba de iniciarla usted mismo y muestra este código: podrá hacer todo lo que usted puede hacer. Si otra persona le envió el código, elija «No iniciar sesión»; la línea de comandos no tendrá acceso.',
    approve: 'Iniciar sesión',
    deny: 'No iniciar sesión',
    over: 'Esta solicitud ha caducado o ya se ha respondido. Inicie sesión de nuevo desde la línea de comandos.',
  },
  fr: {
    title: 'Se connecter à une ligne de commande ?',
    asks: 'La ligne de commande qui affiche votre code souhaite se connecter en tant que {name} ({address}).',
    warning:
      'Choisissez « Se connecter » seulement si vous venez de la lancer vous-même et si elle affiche ce code : elle pourra faire tout ce que vous pouvez faire. Si une autre personne vous a envoyé le code, choisissez « Ne pas se connecter » ; la ligne de commande n’aura alors aucun accès.',
    approve: 'Se connecter',
    deny: 'Ne pas se connecter',
    over: 'Cette demande a expiré ou a déjà reçu une réponse. Recommencez la connexion depuis la ligne de commande.',
  },
};
