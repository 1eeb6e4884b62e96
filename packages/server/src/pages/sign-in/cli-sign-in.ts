import type { FastifyInstance } from 'fastify';
import type { Language } from '../../languages.ts';
import { deviceCliTexts } from './device-cli-texts.ts';
import { deviceQuestion } from '../device/device-page.ts';
import type { OnwardLink } from '../onward.ts';
import { registerConfirmationPage, type ConfirmationTexts, type Question } from './confirmation.ts';
import type { ShownDevice } from '../../sign-in/page-state/page-state.ts';

const texts: Record<Language, ConfirmationTexts> = {
  en: {
    title: 'Sign in to the command line on this computer?',
    asks: 'A program on this computer ({place}) would like to sign in as {name} ({address}).',
    warning:
      'Select “Sign in” only if you have just started this program yourself: it will be able to do everything that you can do. If you did not start it, select “Do not sign in”; the program then gets no access.',
    approve: 'Sign in',
    deny: 'Do not sign in',
    over: 'This request has expired or has already been answered. Start the sign-in again from the command line.',
  },
  de: {
    title: 'In der Kommandozeile auf diesem Computer anmelden?',
    asks: 'Ein Programm auf diesem Computer ({place}) möchte sich als {name} ({address}) anmelden.',
    warning:
      'Wählen Sie „Anmelden“ nur, wenn Sie dieses Programm gerade selbst gestartet haben: Es darf dann alles, was Sie dürfen. Wenn Sie es nicht gestartet haben, wählen Sie „Nicht anmelden“; das Programm erhält dann keinen Zugriff.',
    approve: 'Anmelden',
    deny: 'Nicht anmelden',
    over: 'Diese Anfrage ist abgelaufen oder wurde schon beantwortet. Starten Sie die Anmeldung in der Kommandozeile neu.',
  },
  es: {
    title: '¿Iniciar sesión en la línea de comandos de este equipo?',
    asks: 'Un programa de este equipo ({place}) quiere iniciar sesión como {name} ({address}).',
    warning:
      'Elija «Iniciar sesión» solo si acaba de iniciar este programa usted mismo: podrá hacer todo lo que usted puede hacer. Si no lo ha iniciado, elija «No iniciar sesión»; el programa no tendrá acceso.',
    approve: 'Iniciar sesión',
    deny: 'No iniciar sesión',
    over: 'Esta solicitud ha caducado o ya se ha respondido. Inicie sesión de nuevo desde la línea de comandos.',
  },
  fr: {
    title: 'Se connecter à la ligne de commande sur cet ordinateur ?',
    asks: 'Un programme sur cet ordinateur ({place}) souhaite se connecter en tant que {name} ({address}).',
    warning:
      'Choisissez « Se connecter » seulement si vous venez de lancer ce programme vous-même : il pourra faire tout ce que vous pouvez faire. Si vous ne l’avez pas lancé, choisissez « Ne pas se connecter » ; le programme n’aura alors aucun accès.',
    approve: 'Se connecter',
    deny: 'Ne pas se connecter',
    over: 'Cette demande a expiré ou a déjà reçu une réponse. Recommencez la connexion depuis la ligne de commande.',
  },
};

interface CliQuestion extends Question {
  readonly name: string;
  readonly address: string;
  /** The computer on which the command line runs; null if it is the user's own. */
  readonly device: ShownDevice | null;
}

/**
 * Serves `/hosted/cli-sign-in`, where the user decides whether a command-line tool may sign in as them. The tool runs
 * on their computer, or on a device that showed them a code, which they have entered.
 */
export const registerCliSignInPage = (
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly questionFor: (flowCookie: string) => Promise<CliQuestion | null>;
    readonly onwardLink: OnwardLink;
  },
): void =>
  registerConfirmationPage(app, {
    ...options,
    path: '/hosted/cli-sign-in',
    texts: (question) => (question?.device ? deviceCliTexts : texts),
    details: (language, { device }) => device && deviceQuestion(language, device),
    action: '/api/auth/cli/confirm',
    namesIn: ({ name, address, redirect }) => ({ name, address, place: new URL(redirect).host }),
    // A policy cannot name an IPv6 address, so it allows the scheme.
    formTarget: ({ host, hostname }) => (hostname.startsWith('[') ? 'http:' : `http://${host}`),
  });
