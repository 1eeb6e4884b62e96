import type { FastifyInstance } from 'fastify';
import { html, type Html } from '../html/html.ts';
import { pageHeaders } from '../html/page-headers.ts';
import { translateCode, translateDetail } from '../i18n/translate.ts';
import type { Language } from '../languages.ts';
import { errorTexts } from './error-texts.ts';
import { fillSentence } from '../html/fill-sentence.ts';
import { hostedPage, pagePolicy } from './page.ts';
import { placeOf } from './sign-in/app-page.ts';

/**
 * Makes the page for an error: what the user can do and, for support, which parameter is wrong. It shows no value from
 * the request. `next` is the only address to which the page links.
 */
export const errorPage: FastifyInstance['errorPage'] = (error, language, requestId, next) => {
  const { title, advice, otherwise, unknownApp, goOn, forTheOperator } = errorTexts[language];
  const { details = [], fix } = error.extras;
  const advised = next === undefined ? (advice[error.code] ?? otherwise) : unknownApp;
  const link =
    next !== undefined &&
    html`<a class="button plain" rel="noreferrer" href="${next}"
      >${fillSentence(goOn, { place: placeOf(next) })}</a
    >`;
  const body = html`<h1>${title}</h1>
    <p role="alert" class="bad">${advised}</p>
    ${link}
    <p class="place">
      ${forTheOperator}<br />
      ${translateCode(language, error.code, error.params)} ${error.code} · ${requestId}
      ${details.map(({ path, code }) => html`<br />${path}: ${translateDetail(language, code)}`)}
      ${fix !== undefined && html`<br /><span lang="en">${fix}</span>`}
    </p>`;
  return respond(language, title, body);
};

/**
 * Makes the page for an address that does not exist. It shows nothing from the request, since scanners try many
 * addresses.
 */
export const notFoundPage: FastifyInstance['notFoundPage'] = (language) => {
  const { title, text, start } = errorTexts[language].notFound;
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <a class="button plain" href="/">${start}</a>`;
  return respond(language, title, body);
};

export const respond = (language: Language, title: string, body: Html) => ({
  html: hostedPage({ language, title, body }).toString(),
  headers: {
    ...pageHeaders(pagePolicy(), 'no-store'),
    'content-language': language,
    vary: 'Accept, Accept-Language, Origin',
    'content-type': 'text/html; charset=utf-8',
  },
});
