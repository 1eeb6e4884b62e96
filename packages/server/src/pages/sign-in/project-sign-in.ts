import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../../errors.ts';
import { html, type Html } from '../../html/html.ts';
import { readCookie } from '../../http/cookies.ts';
import type { Language } from '../../i18n/translate.ts';
import { fillSentence } from '../../html/fill-sentence.ts';
import { hostedPage, servePage, type Page, type PageWithForm } from '../page.ts';
import { appPage, hiddenField, type BrandedApp, type PageState } from './app-page.ts';
import { consentPage } from './project-consent.ts';
import { signInTexts } from './project-sign-in-texts.ts';

/**
 * The pages of a project sign-in (identity §12), by step. They are forms without script. They show what the flow of this
 * browser contains; the only value that they read from an address is the token of a mailed link, which is not visible.
 */
const pages: Record<PageState['step'], (language: Language, state: PageState, host: string) => PageWithForm> =
  { signIn: signInPage, secondFactor: secondFactorPage, consent: consentPage, respond: respondPage };

const paths: Record<PageState['step'], string> = {
  signIn: '/api/auth/project/sign-in',
  secondFactor: '/api/auth/project/second-factor',
  consent: '/api/auth/project/consent',
  respond: '/api/auth/project/respond',
};

/** Posts the answer to the app at once; without script the button does. */
const postAtOnce = 'document.forms[0].submit();';

/** The last page of a sign-in with the response mode `form_post`. */
function respondPage(language: Language, state: PageState): PageWithForm {
  const { link, title, place } = signInTexts[language];
  const fields = Object.entries(state.fields).map(([name, value]) => hiddenField(name, value));
  const body = html`<form method="post" action="${state.redirectUri}">
    ${fields}
    <button>${link.button}</button>
  </form>`;
  return appPage({ language, state, title, body, place, script: `${paths.respond}.js` });
}

/** The state of a mailed link in the browser that opened it. */
export type Link =
  | {
      readonly state: 'ready';
      readonly app: BrandedApp;
      readonly redirectUri: string;
      readonly token: string;
      /** The language that the app asked for. */
      readonly language?: Language | null;
    }
  | { readonly state: 'otherBrowser' }
  | { readonly state: 'invalid' };

function signInPage(language: Language, state: PageState): PageWithForm {
  const { title, place, cancel, mailed } = signInTexts[language];
  if (state.notice !== 'mailed') {
    const body = html`${providerForms(language, state)} ${cancelForm(cancel, state)}`;
    return appPage({ language, state, title, body, place });
  }
  const sent = fillSentence(mailed.text, { address: state.mailedTo ?? '' });
  const body = html`<p role="status" class="good">${sent}</p>
    <details>
      <summary>${mailed.again}</summary>
      ${providerForms(language, state)}
    </details>
    ${cancelForm(cancel, state)}`;
  return appPage({ language, state, title: mailed.title, body, place });
}

/** The message about a failed attempt, to which a field refers as its description. */
const noticeParagraph = (text: string): Html => html`<p role="alert" id="notice" class="bad">${text}</p>`;

/** The ways to sign in that the app offers, below the message about a failed attempt. */
function providerForms(language: Language, { providers, notice, formToken, loginHint }: PageState): Html {
  const { notices, ...texts } = signInTexts[language];
  const failure = notice !== null && notice in notices ? notices[notice as keyof typeof notices] : undefined;
  const isInvalid = notice === 'addressInvalid';
  const byMail = html`<form method="post" action="/api/auth/project/email/request">
    ${hiddenField('form_token', formToken)}
    <label for="email">${texts.address}</label>
    <input
      id="email"
      name="email"
      type="email"
      autocomplete="email"
      maxlength="320"
      ${loginHint !== null && html`value="${loginHint}"`}
      required
      ${notice !== 'mailed' && html`autofocus`}
      aria-describedby="${isInvalid ? 'notice hint' : 'hint'}"
      ${isInvalid && html`aria-invalid="true"`}
    />
    <p id="hint">${texts.addressHint}</p>
    <button>${texts.send}</button>
  </form>`;
  const byGithub = html`<a class="button plain" href="/api/auth/project/github">${texts.github}</a>`;
  const separator = html`<p class="or">${texts.or}</p>`;
  return html`${failure !== undefined && noticeParagraph(failure)}
  ${providers.map((provider, index) => [index > 0 && separator, provider === 'email' ? byMail : byGithub])}`;
}

/** Every step can be cancelled, which denies the app access. */
const cancelForm = (text: string, { formToken }: PageState): Html =>
  html`<form method="post" action="/api/auth/project/consent/deny">
    ${hiddenField('consent_token', formToken)}
    <button class="quiet">${text}</button>
  </form>`;

function secondFactorPage(language: Language, state: PageState): PageWithForm {
  const { secondFactor: texts, cancel, place } = signInTexts[language];
  const isWrong = state.notice === 'wrongCode';
  const described = isWrong && html`aria-describedby="notice"`;
  const form = (fields: Html, button: string) =>
    html`<form method="post" action="/api/auth/project/second-factor">
      ${hiddenField('form_token', state.formToken)} ${fields}
      <button>${button}</button>
    </form>`;
  const code = html`<label for="code">${texts.code}</label>
    <input
      id="code"
      name="code"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="16"
      required
      autofocus
      ${described}
      ${isWrong && html`aria-invalid="true"`}
    />`;
  const recoveryCode = html`<label for="recovery">${texts.recoveryCode}</label>
    <input
      id="recovery"
      name="recovery_code"
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
      maxlength="32"
      required
      ${described}
    />`;
  const body = html`<p>${texts.text}</p>
    ${isWrong && noticeParagraph(texts.wrong)} ${form(code, texts.confirm)}
    <details>
      <summary>${texts.noApp}</summary>
      ${form(recoveryCode, texts.recover)}
    </details>
    ${cancelForm(cancel, state)}`;
  return appPage({ language, state, title: texts.title, body, place });
}

/** Opening the link changes nothing, because mail scanners open every link; the button signs in. */
function linkPage(language: Language, link: Link): Page {
  const { link: texts, title, place } = signInTexts[language];
  if (link.state === 'ready') {
    const body = html`<p>${texts.text}</p>
      <form method="post" action="/api/auth/project/email/consume">
        ${hiddenField('token', link.token)}
        <button>${texts.button}</button>
      </form>`;
    return appPage({ language, state: link, title, body, place });
  }
  const failure = texts[link.state];
  const body = html`<h1>${failure.title}</h1>
    <p role="status" class="bad">${failure.text}</p>`;
  return hostedPage({ language, title: failure.title, body });
}

const tokenOf = ({ query }: FastifyRequest): string => {
  const { token } = query as { readonly token?: unknown };
  return typeof token === 'string' ? token : '';
};

/** Serves the pages of a project sign-in. A browser whose flow is at another step is redirected to the page of that step. */
export function registerProjectSignInPages(
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly pageStateOf: (flowCookie: string) => Promise<PageState | null>;
    readonly linkOf: (flowCookie: string | null, token: string) => Promise<Link>;
  },
): void {
  const flowOf = (request: FastifyRequest) => readCookie(request, 'flow', options.https);
  for (const step of ['signIn', 'secondFactor', 'consent', 'respond'] as const) {
    servePage(app, {
      ...(step === 'respond' && { script: postAtOnce }),
      path: paths[step],
      page: async (language, request) => {
        const cookie = flowOf(request);
        const state = cookie === null ? null : await options.pageStateOf(cookie);
        if (!state) throw fail('INVALID_TOKEN', { fix: 'Start the sign-in again in the app.' });
        if (state.step !== step) return { redirectTo: paths[state.step] };
        return pages[step](state.language ?? language, state, request.host);
      },
    });
  }
  servePage(app, {
    path: '/api/auth/project/email',
    page: async (language, request) => {
      const link = await options.linkOf(flowOf(request), tokenOf(request));
      return linkPage((link.state === 'ready' && link.language) || language, link);
    },
  });
}
