import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { readCookie } from '../transport/cookies.ts';
import { hostedPage, servePage, type Page } from './page.ts';
import { field, filled } from './project-frame.ts';

/**
 * Asks the user whether a GitHub account may sign in as them from now on, before it can (identity §8): any site can lead
 * a browser to GitHub and back. Who is asked, and about which account, comes from the flow, and from nothing in the
 * address.
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
    title: 'Connect this GitHub account?',
    asks: 'The GitHub account {account} ({accountAddress}) will be able to sign in as {name} ({address}).',
    warning: 'Connect it only if it is yours. Whoever signs in with it can then do all that you can.',
    approve: 'Connect',
    deny: 'Do not connect',
    over: 'There is nothing to decide here any more. Start again from your account.',
  },
  de: {
    title: 'Dieses GitHub-Konto verbinden?',
    asks: 'Das GitHub-Konto {account} ({accountAddress}) kann sich dann als {name} ({address}) anmelden.',
    warning: 'Verbinden Sie es nur, wenn es Ihres ist. Wer sich damit anmeldet, darf alles, was Sie dürfen.',
    approve: 'Verbinden',
    deny: 'Nicht verbinden',
    over: 'Hier gibt es nichts mehr zu entscheiden. Beginnen Sie in Ihrem Konto noch einmal.',
  },
  es: {
    title: '¿Conectar esta cuenta de GitHub?',
    asks: 'La cuenta de GitHub {account} ({accountAddress}) podrá iniciar sesión como {name} ({address}).',
    warning: 'Conéctela solo si es suya. Quien inicie sesión con ella podrá hacer todo lo que usted puede.',
    approve: 'Conectar',
    deny: 'No conectar',
    over: 'Ya no hay nada que decidir aquí. Empiece de nuevo desde su cuenta.',
  },
  fr: {
    title: 'Associer ce compte GitHub ?',
    asks: 'Le compte GitHub {account} ({accountAddress}) pourra se connecter en tant que {name} ({address}).',
    warning:
      "Ne l'associez que s'il est à vous. Quiconque se connecte avec pourra faire tout ce que vous pouvez faire.",
    approve: 'Associer',
    deny: 'Ne pas associer',
    over: "Il n'y a plus rien à décider ici. Recommencez depuis votre compte.",
  },
};

/** What is asked of the browser that holds the flow cookie. */
interface Question {
  readonly account: string;
  readonly accountAddress: string;
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
  const { formToken, redirect, ...holes } = question;
  const body = `      <h1>${html(title)}</h1>
      <p>${filled(asks, holes)}</p>
      <p>${html(warning)}</p>
      <form method="post" action="/api/auth/github/connect">
        ${field('formToken', formToken)}
        <button name="decision" value="approve">${html(approve)}</button>
        <button name="decision" value="deny" class="quiet">${html(deny)}</button>
      </form>`;
  // The answer redirects to the origin from which the user came, which may be the frontend.
  const formAction = `'self' ${new URL(redirect).origin}`;
  return { html: hostedPage({ language, title, body }), formAction };
}

/** Serves `/hosted/connect-github`. */
export const registerConnectGithubPage = (
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly connectQuestionFor: (flowCookie: string) => Promise<Question | null>;
  },
): void =>
  servePage(app, {
    path: '/hosted/connect-github',
    page: async (language, request) => {
      const cookie = readCookie(request, 'flow', options.https);
      return page(language, cookie === null ? null : await options.connectQuestionFor(cookie));
    },
  });
