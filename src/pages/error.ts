import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import { translateCode, translateDetail, type Language } from '../i18n/translate.ts';
import { pageHeaders } from '../transport/docs-page.ts';
import { errorTexts } from './error-texts.ts';
import { hostedPage, pagePolicy } from './page.ts';
import { filled, placeOf } from './project-frame.ts';

/** What a person reads where a program would get the JSON of an error. */

/**
 * What they can do, and, for whoever can do more, which parameter is wrong; of what was sent with it nothing is shown.
 * `next`: the one place where it leads, in case they know it.
 */
export const errorPage: FastifyInstance['errorPage'] = (error, language, requestId, next) => {
  const { title, advice, otherwise, unknownApp, goOn, forTheOperator } = errorTexts[language];
  const message = translateCode(language, error.code, error.params);
  const html = escapeHtml;
  const { details = [], fix } = error.extras;
  const told = [
    `${html(message)} ${html(error.code)} · ${html(requestId)}`,
    ...details.map(({ path, code }) => html(`${path}: ${translateDetail(language, code)}`)),
    ...(fix === undefined ? [] : [`<span lang="en">${html(fix)}</span>`]),
  ];
  const advised = next === undefined ? (advice[error.code] ?? otherwise) : unknownApp;
  const link =
    next === undefined
      ? ''
      : `\n      <a class="button plain" rel="noreferrer" href="${html(next)}">${filled(goOn, { place: placeOf(next) })}</a>`;
  const body = `      <h1>${html(title)}</h1>
      <p role="alert" class="bad">${html(advised)}</p>${link}
      <p class="place">${html(forTheOperator)}<br>${told.join('<br>')}</p>`;
  return { html: hostedPage({ language, title, body }), headers: headersIn(language) };
};

/** The page says nothing else, because many of the addresses that do not exist are tried by attackers. */
export const notFoundPage: FastifyInstance['notFoundPage'] = (language) => {
  const { notFound } = errorTexts[language];
  const body = `      <h1>${escapeHtml(notFound.title)}</h1>
      <p>${escapeHtml(notFound.text)}</p>
      <a class="button plain" href="/">${escapeHtml(notFound.start)}</a>`;
  return { html: hostedPage({ language, title: notFound.title, body }), headers: headersIn(language) };
};

const headersIn = (language: Language) => ({
  ...pageHeaders(pagePolicy(), 'no-store'),
  'content-language': language,
  vary: 'Accept, Accept-Language, Origin',
  'content-type': 'text/html; charset=utf-8',
});
