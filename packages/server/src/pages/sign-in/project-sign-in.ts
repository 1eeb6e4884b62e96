import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../../errors.ts';
import { html, type Html } from '../../html/html.ts';
import { flowSecretIn, inFlow } from '../../http/cookies/flow-cookies.ts';
import type { Language } from '../../languages.ts';
import { servePage, type PageWithForm } from '../page.ts';
import { appPage, hiddenField } from './app-page.ts';
import { enrolmentPage } from './enrolment/enrolment-page.ts';
import type { OnwardLink } from '../onward.ts';
import { linkPage } from './methods/code-page.ts';
import { firstPage } from './methods/first-page.ts';
import { formOf } from './methods/form-address.ts';
import { showPasswordScript } from './methods/form-parts.ts';
import { noticeTexts } from './methods/notice-texts.ts';
import { passkeyForm, passkeyScript } from './methods/passkey-form.ts';
import { methodTexts } from './methods/method-texts.ts';
import { cancelForm, noticeParagraph, totpField } from './page-parts.ts';
import { organizationPage } from './organization/organization-choice.ts';
import { consentPage } from './project-consent.ts';
import { signInTexts } from './project-sign-in-texts.ts';
import type { LinkState, PageState } from '../../sign-in/page-state/page-state.ts';

const pages: Record<
  PageState['step'],
  (language: Language, state: PageState, request: FastifyRequest) => PageWithForm
> = {
  signIn: (language, state, { query }) => firstPage(language, state, formOf(query)),
  secondFactor: secondFactorPage,
  enrolment: enrolmentPage,
  organization: organizationPage,
  consent: (language, state, { host }) => consentPage(language, state, host),
  respond: respondPage,
};

const paths: Record<PageState['step'], string> = {
  signIn: '/api/auth/project/sign-in',
  secondFactor: '/api/auth/project/second-factor',
  enrolment: '/api/auth/project/enrolment',
  organization: '/api/auth/project/organization',
  consent: '/api/auth/project/consent',
  respond: '/api/auth/project/respond',
};

/** Posts the answer to the app immediately; without scripts, the user presses the button. */
const postAtOnce = 'document.forms[0].submit();';

/** The scripts by step. Each is served at the address of its step; the page decides whether it uses the script. */
const scripts: Partial<Record<PageState['step'], { readonly script: string }>> = {
  signIn: { script: showPasswordScript + passkeyScript },
  secondFactor: { script: passkeyScript },
  respond: { script: postAtOnce },
};

/** Makes the last page of a sign-in with the response mode `form_post`. */
function respondPage(language: Language, state: PageState): PageWithForm {
  const { place } = signInTexts[language];
  const { link, title } = methodTexts[language];
  const fields = Object.entries(state.fields).map(([name, value]) => hiddenField(name, value));
  const body = html`<form method="post" action="${state.redirectUri}">
    ${fields}
    <button>${link.button}</button>
  </form>`;
  return appPage({ language, state, title, body, place, script: `${paths.respond}.js` });
}

function secondFactorPage(language: Language, state: PageState): PageWithForm {
  const { secondFactor: texts, place } = signInTexts[language];
  const isWrong = state.notice === 'wrongCode';
  const described = isWrong && html`aria-describedby="notice"`;
  const form = (fields: Html, button: string) =>
    html`<form method="post" action="/api/auth/project/second-factor">
      ${hiddenField('form_token', state.formToken)} ${fields}
      <button>${button}</button>
    </form>`;
  const code = totpField(texts.code, isWrong);
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
  const isPasskeyAlone = state.hasPasskey && !state.hasAuthenticator;
  const { title, text } = isPasskeyAlone ? texts.withPasskey : texts;
  const or = isPasskeyAlone ? undefined : methodTexts[language].or;
  const body = html`<p>${text}</p>
    ${isWrong && noticeParagraph(texts.wrong)}
    ${state.notice === 'passkeyRefused' && noticeParagraph(noticeTexts[language].passkeyRefused)}
    ${!isPasskeyAlone && form(code, texts.confirm)}
    ${state.hasPasskey && passkeyForm(language, state, { isSecond: true, or })}
    <details${isPasskeyAlone && html` open`}>
      <summary>${texts.noApp}</summary>
      ${form(recoveryCode, texts.recover)}
    </details>
    ${cancelForm(language, state)}`;
  const script = state.hasPasskey ? { script: `${paths.secondFactor}.js` } : {};
  return appPage({ language, state, title, body, place, ...script });
}

const tokenOf = ({ query }: FastifyRequest): string => {
  const { token } = query as { readonly token?: unknown };
  return typeof token === 'string' ? token : '';
};

/**
 * Serves the pages of a project sign-in (identity §12), by step. They need no script, except for passkeys. They show
 * what the flow of this browser contains. The only values that they read from an address are the form to show and the
 * token of a mailed link, which is not shown. A browser whose flow is at another step is redirected to the page of that
 * step.
 */
export function registerProjectSignInPages(
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly pageStateOf: (flowCookie: string) => Promise<PageState | null>;
    readonly linkOf: (flowCookie: string | null, token: string) => Promise<LinkState>;
    readonly onwardLink: OnwardLink;
  },
): void {
  const flowOf = (request: FastifyRequest) => flowSecretIn(request, options.https);
  for (const step of ['signIn', 'secondFactor', 'enrolment', 'organization', 'consent', 'respond'] as const) {
    servePage(app, {
      ...scripts[step],
      path: paths[step],
      page: async (language, request) => {
        const cookie = flowOf(request);
        const state = cookie === null ? null : await options.pageStateOf(cookie);
        if (!state) throw fail('INVALID_TOKEN', { fix: 'Start the sign-in again in the app.' });
        if (state.step !== step) return { redirectTo: inFlow(paths[state.step], state.formToken) };
        return pages[step](state.language ?? language, state, request);
      },
    });
  }
  servePage(app, {
    path: '/api/auth/project/email',
    page: async (language, request) => {
      const link = await options.linkOf(flowOf(request), tokenOf(request));
      const onward = link.state === 'invalid' ? await options.onwardLink(request, language) : null;
      return linkPage((link.state === 'ready' && link.language) || language, link, onward);
    },
  });
}
