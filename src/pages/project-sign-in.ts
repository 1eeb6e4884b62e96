import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail } from '../errors.ts';
import { escapeHtml } from '../events/mail-layout.ts';
import type { Language } from '../i18n/translate.ts';
import { readCookie } from '../transport/cookies.ts';
import { hostedPage, servePage, type Page, type PageWithForm } from './page.ts';
import { consentPage } from './project-consent.ts';
import { appPage, field, filled, type BrandedApp, type Standing } from './project-frame.ts';
import { signInTexts } from './project-sign-in-texts.ts';

/**
 * The pages on which somebody signs in to an app (identity §12): who he is, his second factor, what the app may do. They
 * are forms without script. What they show comes from the flow of this browser; from the address comes the token of a
 * mailed link, and nothing that is seen.
 */
const pages: Record<
  Standing['step'],
  (language: Language, standing: Standing, host: string) => PageWithForm
> = { signIn: signInPage, secondFactor: secondFactorPage, consent: consentPage };

const paths: Record<Standing['step'], string> = {
  signIn: '/api/auth/project/sign-in',
  secondFactor: '/api/auth/project/second-factor',
  consent: '/api/auth/project/consent',
};

/** What a mailed link leads to, in the browser that opened it. */
export type Link =
  | {
      readonly state: 'ready';
      readonly app: BrandedApp;
      readonly redirectUri: string;
      readonly token: string;
    }
  | { readonly state: 'otherBrowser' }
  | { readonly state: 'invalid' };

function signInPage(language: Language, standing: Standing): PageWithForm {
  const texts = signInTexts[language];
  const { notice, mailedTo } = standing;
  if (notice !== 'mailed') {
    const body = `${ways(language, standing)}\n${cancel(texts.cancel, standing)}`;
    return appPage({ language, standing, title: texts.title, body, place: texts.place });
  }
  const { title, text, again } = texts.mailed;
  const body = `      <p role="status" class="good">${filled(text, { address: mailedTo ?? '' })}</p>
      <details>
        <summary>${escapeHtml(again)}</summary>
${ways(language, standing)}
      </details>
${cancel(texts.cancel, standing)}`;
  return appPage({ language, standing, title, body, place: texts.place });
}

/** The providers of the app. What went wrong with one of them stands above, and beside the field that it is about. */
function ways(language: Language, { providers, notice, formToken }: Standing): string {
  const { notices, ...texts } = signInTexts[language];
  const html = escapeHtml;
  const told = notice !== null && notice in notices ? notices[notice as keyof typeof notices] : undefined;
  const wrong = notice === 'addressInvalid';
  const focus = notice === 'mailed' ? '' : ' autofocus';
  const alert = told === undefined ? '' : `      <p role="alert" id="notice" class="bad">${html(told)}</p>\n`;
  const byMail = `      <form method="post" action="/api/auth/project/email/request">
        ${field('form_token', formToken)}
        <label for="email">${html(texts.address)}</label>
        <input id="email" name="email" type="email" autocomplete="email" maxlength="320" required${focus}
          aria-describedby="${wrong ? 'notice ' : ''}hint"${wrong ? ' aria-invalid="true"' : ''}>
        <p id="hint">${html(texts.addressHint)}</p>
        <button>${html(texts.send)}</button>
      </form>`;
  const byGithub = `      <a class="button plain" href="/api/auth/project/github">${html(texts.github)}</a>`;
  const offered = providers.map((provider) => (provider === 'email' ? byMail : byGithub));
  return alert + offered.join(`\n      <p class="or">${html(texts.or)}</p>\n`);
}

/** Refusing is a way out of every step. */
const cancel = (text: string, { formToken }: Standing): string =>
  `      <form method="post" action="/api/auth/project/consent/deny">
        ${field('consent_token', formToken)}
        <button class="quiet">${escapeHtml(text)}</button>
      </form>`;

function secondFactorPage(language: Language, standing: Standing): PageWithForm {
  const { secondFactor: texts, ...common } = signInTexts[language];
  const html = escapeHtml;
  const wrong = standing.notice === 'wrongCode';
  const alert = wrong ? `      <p role="alert" id="notice" class="bad">${html(texts.wrong)}</p>\n` : '';
  const described = wrong ? ' aria-describedby="notice"' : '';
  const form = (fields: string, button: string) =>
    `      <form method="post" action="/api/auth/project/second-factor">
        ${field('form_token', standing.formToken)}
${fields}
        <button>${html(button)}</button>
      </form>`;
  const code = `        <label for="code">${html(texts.code)}</label>
        <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="16" required autofocus${described}${
          wrong ? ' aria-invalid="true"' : ''
        }>`;
  const recovery = `        <label for="recovery">${html(texts.recoveryCode)}</label>
        <input id="recovery" name="recovery_code" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="32" required${described}>`;
  const body = `      <p>${html(texts.text)}</p>
${alert}${form(code, texts.confirm)}
      <details>
        <summary>${html(texts.noApp)}</summary>
${form(recovery, texts.recover)}
      </details>
${cancel(common.cancel, standing)}`;
  return appPage({ language, standing, title: texts.title, body, place: common.place });
}

/** Opening the link changes nothing, because mail scanners open every link; the button does. */
function emailPage(language: Language, link: Link): Page {
  const { link: texts, title, place } = signInTexts[language];
  if (link.state === 'ready') {
    const body = `      <p>${escapeHtml(texts.text)}</p>
      <form method="post" action="/api/auth/project/email/consume">
        ${field('token', link.token)}
        <button>${escapeHtml(texts.button)}</button>
      </form>`;
    return appPage({ language, standing: link, title, body, place });
  }
  const told = texts[link.state];
  const body = `      <h1>${escapeHtml(told.title)}</h1>
      <p role="status" class="bad">${escapeHtml(told.text)}</p>`;
  return hostedPage({ language, title: told.title, body });
}

const tokenOf = ({ query }: FastifyRequest): string => {
  const { token } = query as { readonly token?: unknown };
  return typeof token === 'string' ? token : '';
};

/** Serves the pages of a project sign-in, each to the browser whose flow has come to it. */
export function registerProjectSignInPages(
  app: FastifyInstance,
  options: {
    readonly https: boolean;
    readonly standingOf: (flowCookie: string) => Promise<Standing | null>;
    readonly linkOf: (flowCookie: string | null, token: string) => Promise<Link>;
  },
): void {
  const flowOf = (request: FastifyRequest) => readCookie(request, 'flow', options.https);
  for (const step of ['signIn', 'secondFactor', 'consent'] as const) {
    servePage(app, {
      path: paths[step],
      page: async (language, request) => {
        const cookie = flowOf(request);
        const standing = cookie === null ? null : await options.standingOf(cookie);
        if (!standing) throw fail('INVALID_TOKEN', { fix: 'Start the sign-in again, in the app.' });
        if (standing.step !== step) return { instead: paths[standing.step] };
        return pages[step](language, standing, request.host);
      },
    });
  }
  servePage(app, {
    path: '/api/auth/project/email',
    page: async (language, request) =>
      emailPage(language, await options.linkOf(flowOf(request), tokenOf(request))),
  });
}
