import type { FastifyInstance } from 'fastify';
import { fillSentence } from '../../html/fill-sentence.ts';
import { html, type Html } from '../../html/html.ts';
import type { Language } from '../../languages.ts';
import { flowSecretIn } from '../../http/cookies/flow-cookies.ts';
import type { PageSettings } from '../page-settings.ts';
import { hostedPage, servePage } from '../page.ts';
import type { OnwardLink } from '../onward.ts';
import { registerConfirmationPage, type ConfirmationTexts, type Question } from './confirmation.ts';

interface Texts extends ConfirmationTexts {
  readonly done: {
    readonly title: string;
    readonly text: string;
    /** The label of the link to the app, or to the site of the installation. */
    readonly back: string;
    readonly again: string;
  };
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'Sign out?',
    asks: 'You will be signed out of {app} and of all other apps for which you use the same sign-in in this browser.',
    warning: 'If you did not want to sign out, select “Stay signed in”.',
    approve: 'Sign out',
    deny: 'Stay signed in',
    over: 'This request has expired or has already been answered. Sign out again in the app.',
    done: {
      title: 'You are signed out',
      text: 'You can close this page.',
      back: 'Back to {app}',
      again: 'Sign in again',
    },
  },
  de: {
    title: 'Abmelden?',
    asks: 'Sie werden bei {app} abgemeldet und bei allen anderen Apps, für die Sie in diesem Browser dieselbe Anmeldung verwenden.',
    warning: 'Wenn Sie sich nicht abmelden wollten, wählen Sie „Angemeldet bleiben“.',
    approve: 'Abmelden',
    deny: 'Angemeldet bleiben',
    over: 'Diese Anfrage ist abgelaufen oder wurde schon beantwortet. Melden Sie sich in der App noch einmal ab.',
    done: {
      title: 'Sie sind abgemeldet',
      text: 'Sie können diese Seite schließen.',
      back: 'Zurück zu {app}',
      again: 'Neu anmelden',
    },
  },
  es: {
    title: '¿Cerrar sesión?',
    asks: 'Se cerrará su sesión en {app} y en todas las demás aplicaciones para las que usa el mismo inicio de sesión en este navegador.',
    warning: 'Si no quería cerrar la sesión, elija «Mantener la sesión».',
    approve: 'Cerrar sesión',
    deny: 'Mantener la sesión',
    over: 'Esta solicitud ha caducado o ya se ha respondido. Cierre la sesión de nuevo en la aplicación.',
    done: {
      title: 'Ha cerrado la sesión',
      text: 'Puede cerrar esta página.',
      back: 'Volver a {app}',
      again: 'Iniciar sesión de nuevo',
    },
  },
  fr: {
    title: 'Se déconnecter ?',
    asks: 'Vous serez déconnecté de {app} et de toutes les autres applications pour lesquelles vous utilisez la même connexion dans ce navigateur.',
    warning: 'Si vous ne vouliez pas vous déconnecter, choisissez « Rester connecté ».',
    approve: 'Se déconnecter',
    deny: 'Rester connecté',
    over: 'Cette demande a expiré ou a déjà reçu une réponse. Déconnectez-vous de nouveau dans l’application.',
    done: {
      title: 'Vous êtes déconnecté',
      text: 'Vous pouvez fermer cette page.',
      back: 'Retour à {app}',
      again: 'Se connecter à nouveau',
    },
  },
};

interface LogoutQuestion extends Question {
  readonly app: string;
}

interface WayBack {
  readonly app: string;
  readonly homepageUrl: string;
}

/** Makes a link that shows the site to which it leads, because the name of an app can imitate any other name. */
function backTo(language: Language, { app, homepageUrl }: WayBack): Html {
  const { host } = new URL(homepageUrl);
  const place = host !== app && html`<p class="place"><bdi>${host}</bdi></p>`;
  return html`<p class="other">
      <a class="button" href="${homepageUrl}">${fillSentence(texts[language].done.back, { app })}</a>
    </p>
    ${place}`;
}

/** The page after a logout. `home`: where the link leads for people who did not come from an app. */
function signedOutPage(language: Language, home: string, wayBack: WayBack | null): Html {
  const { title, text, again } = texts[language].done;
  const isOwn = home.startsWith('/');
  const way = wayBack ?? (isOwn ? null : { app: new URL(home).host, homepageUrl: home });
  const onward = way
    ? backTo(language, way)
    : html`<p class="other"><a class="button" href="${home}">${again}</a></p>`;
  const body = html`<h1>${title}</h1>
    <p role="status" class="good">${text}</p>
    ${onward}`;
  return hostedPage({ language, title, body });
}

/**
 * Serves `/hosted/sign-out`, where the user confirms or denies a logout, and `/hosted/signed-out`, the page after it.
 */
export function registerSignOutPages(
  app: FastifyInstance,
  options: Pick<PageSettings, 'https' | 'home'> & {
    readonly logoutQuestionFor: (flowCookie: string) => Promise<LogoutQuestion | null>;
    readonly wayBackFor: (flowCookie: string) => Promise<WayBack | null>;
    readonly onwardLink: OnwardLink;
  },
): void {
  registerConfirmationPage(app, {
    https: options.https,
    onwardLink: options.onwardLink,
    questionFor: options.logoutQuestionFor,
    path: '/hosted/sign-out',
    texts: () => texts,
    action: '/api/auth/project/end-session/confirm',
    namesIn: ({ app: name }) => ({ app: name }),
    // An app may redirect from its registered address to another host, so only the scheme can be limited.
    formTarget: ({ protocol }) => protocol,
  });
  servePage(app, {
    path: '/hosted/signed-out',
    // Reads nothing from its address, so that no link to this page can choose where the page leads.
    page: async (language, request) => {
      const cookie = flowSecretIn(request, options.https);
      const wayBack = cookie === null ? null : await options.wayBackFor(cookie);
      return signedOutPage(language, options.home, wayBack);
    },
  });
}
