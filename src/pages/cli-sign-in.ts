import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { readCookie } from '../transport/cookies.ts';
import { hostedPage, servePage, type Page } from './page.ts';

/**
 * Asks the user whether a command line on this computer may sign in as him. A form without script: its token and the
 * cookie of the flow together are the answer. Who he is comes from the flow, and from nothing in the address.
 */
interface Texts {
  readonly title: string;
  readonly asks: string;
  readonly warning: string;
  readonly approve: string;
  readonly deny: string;
  readonly over: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Sign in the command line on this computer?',
    asks: 'A program that listens at {place} asks to sign in as {name} ({address}).',
    warning: 'Approve only if you have just started this yourself. The program can then do all that you can.',
    approve: 'Sign in',
    deny: 'Do not sign in',
    over: 'There is nothing to decide here any more. Start the sign-in again from the command line.',
  },
  de: {
    title: 'Die Kommandozeile auf diesem Computer anmelden?',
    asks: 'Ein Programm, das unter {place} wartet, möchte sich als {name} ({address}) anmelden.',
    warning:
      'Stimmen Sie nur zu, wenn Sie das gerade selbst begonnen haben. Das Programm darf dann alles, was Sie dürfen.',
    approve: 'Anmelden',
    deny: 'Nicht anmelden',
    over: 'Hier gibt es nichts mehr zu entscheiden. Beginnen Sie die Anmeldung in der Kommandozeile noch einmal.',
  },
  es: {
    title: '¿Iniciar sesión en la línea de comandos de este equipo?',
    asks: 'Un programa que escucha en {place} quiere iniciar sesión como {name} ({address}).',
    warning:
      'Apruébelo solo si acaba de iniciarlo usted mismo. El programa podrá entonces hacer todo lo que usted puede.',
    approve: 'Iniciar sesión',
    deny: 'No iniciar sesión',
    over: 'Ya no hay nada que decidir aquí. Empiece de nuevo desde la línea de comandos.',
  },
  fr: {
    title: 'Connecter la ligne de commande sur cet ordinateur ?',
    asks: 'Un programme qui écoute à {place} demande à se connecter en tant que {name} ({address}).',
    warning:
      "N'acceptez que si vous venez de le lancer vous-même. Le programme pourra alors faire tout ce que vous pouvez faire.",
    approve: 'Connecter',
    deny: 'Ne pas connecter',
    over: "Il n'y a plus rien à décider ici. Recommencez la connexion depuis la ligne de commande.",
  },
};

/** What is asked of the browser that holds the flow cookie. */
export interface Question {
  readonly name: string;
  readonly address: string;
  readonly formToken: string;
  readonly redirect: string;
}

function page(language: Language, question: Question | null): Page {
  const { title, asks, warning, approve, deny, over } = texts[language];
  const html = escapeHtml;
  if (!question) {
    const body = `      <h1>${html(title)}</h1>
      <p role="status" class="bad">${html(over)}</p>`;
    return hostedPage({ language, title, body });
  }
  const { host, hostname } = new URL(question.redirect);
  const holes: Readonly<Record<string, string>> = { ...question, place: host };
  // In one pass, so that a name cannot bring a hole of its own.
  const sentence = asks.replace(/\{(\w+)\}/g, (_, hole: string) => holes[hole] ?? '');
  const body = `      <h1>${html(title)}</h1>
      <p>${html(sentence)}</p>
      <p>${html(warning)}</p>
      <form method="post" action="/api/auth/cli/confirm">
        <input type="hidden" name="formToken" value="${html(question.formToken)}">
        <button name="decision" value="approve">${html(approve)}</button>
        <button name="decision" value="deny" class="quiet">${html(deny)}</button>
      </form>`;
  // The answer leads to the command line. A policy cannot name an IPv6 address.
  const listener = hostname.startsWith('[') ? 'http:' : `http://${host}`;
  return { html: hostedPage({ language, title, body }), formAction: `'self' ${listener}` };
}

/** Serves `/hosted/cli-sign-in`. */
export const registerCliSignInPage = (
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly questionFor: (flowCookie: string) => Promise<Question | null>;
  },
): void =>
  servePage(app, {
    path: '/hosted/cli-sign-in',
    page: async (language, request) => {
      const cookie = readCookie(request, 'flow', options.https);
      return page(language, cookie === null ? null : await options.questionFor(cookie));
    },
  });
