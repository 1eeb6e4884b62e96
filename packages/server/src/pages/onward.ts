import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fillSentence } from '../html/fill-sentence.ts';
import { html, type Html } from '../html/html.ts';
import { inFlow, namedFlowCookie } from '../http/cookies/flow-cookies.ts';
import type { Language } from '../languages.ts';
import { errorTexts } from './error-texts.ts';
import { respond } from './error.ts';
import { placeOf } from './sign-in/app-page.ts';

interface Texts {
  readonly title: string;
  readonly text: string;
  /** The label of the link that starts again at this service. */
  readonly again: string;
}

const texts: Record<Language, Texts> = {
  en: {
    title: 'This sign-in has ended',
    text: 'It was completed or cancelled, or it timed out after ten minutes. Go back to where you started: if you aren’t signed in there, you can sign in again.',
    again: 'Continue',
  },
  de: {
    title: 'Diese Anmeldung ist beendet',
    text: 'Sie wurde abgeschlossen oder abgebrochen, oder zehn Minuten lang ist nichts geschehen. Machen Sie dort weiter, woher Sie kamen: Wenn Sie dort nicht angemeldet sind, können Sie sich neu anmelden.',
    again: 'Weiter',
  },
  es: {
    title: 'Este inicio de sesión ha terminado',
    text: 'Se completó o se canceló, o no pasó nada durante diez minutos. Continúe donde estaba: si allí no tiene la sesión iniciada, puede iniciarla de nuevo.',
    again: 'Continuar',
  },
  fr: {
    title: 'Cette connexion est terminée',
    text: 'Elle a abouti ou a été annulée, ou rien ne s’est passé pendant dix minutes. Reprenez là où vous étiez : si vous n’y êtes pas connecté, vous pouvez vous connecter à nouveau.',
    again: 'Continuer',
  },
};

type Onward =
  | { readonly kind: 'page'; readonly path: string; readonly token: string }
  | { readonly kind: 'app'; readonly address: string }
  | { readonly kind: 'service' }
  | { readonly kind: 'device' };

/** Creates the link that leads on from a page that cannot be used any more; null if its target is unknown. */
export type OnwardLink = (request: FastifyRequest, language: Language) => Promise<Html | null>;

function linkTo(language: Language, next: Onward, home: string): Html {
  const link = (address: string, label: Html | string = texts[language].again) =>
    html`<a class="button plain" rel="noreferrer" href="${address}">${label}</a>`;
  switch (next.kind) {
    case 'page':
      return link(inFlow(next.path, next.token));
    case 'device':
      return link('/device');
    case 'service':
      return link(home);
    case 'app':
      return link(next.address, fillSentence(errorTexts[language].goOn, { place: placeOf(next.address) }));
  }
}

/**
 * Redirects a browser whose request was refused because its sign-in is at another step or has ended. This happens after
 * a second submit, on a page from the history, or in a tab that was open for too long. Only the cookie of a flow is
 * trusted, so a forged form leads nowhere.
 */
export function registerOnward(
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly home: string;
    readonly onwardOf: (flow: { readonly secret: string; readonly hint: string }) => Promise<Onward | null>;
  },
): OnwardLink {
  const nextOf = async (request: FastifyRequest) => {
    const flow = namedFlowCookie(request, options.https);
    return flow && (await options.onwardOf(flow));
  };
  app.decorate('onward', async (request: FastifyRequest) => {
    const next = await nextOf(request);
    if (!next) return null;
    if (next.kind === 'page') {
      // A page that could not be shown must not redirect to itself.
      const isOperation = request.routeOptions.config.operation !== undefined;
      return isOperation ? { redirectTo: inFlow(next.path, next.token) } : null;
    }
    return {
      page: (language: Language) => {
        const { title, text } = texts[language];
        const body = html`<h1>${title}</h1>
          <p role="status">${text}</p>
          ${linkTo(language, next, options.home)}`;
        return respond(language, title, body);
      },
    };
  });
  return async (request, language) => {
    const next = await nextOf(request);
    return next && linkTo(language, next, options.home);
  };
}
