import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import { translateCode } from '../i18n/translate.ts';
import { pageHeaders } from '../transport/docs-page.ts';
import { errorTexts } from './error-texts.ts';
import { hostedPage, pagePolicy } from './page.ts';

/**
 * What a person reads where a program would get the JSON of an error: what he can do, and what to tell whoever can do
 * more. It leads nowhere, and shows nothing of the address that led to it.
 */
export const errorPage: FastifyInstance['errorPage'] = (error, language, requestId) => {
  const { title, advice, otherwise, forTheOperator } = errorTexts[language];
  const message = translateCode(language, error.code, error.params);
  const html = escapeHtml;
  const body = `      <h1>${html(title)}</h1>
      <p role="alert" class="bad">${html(advice[error.code] ?? otherwise)}</p>
      <p class="place">${html(forTheOperator)}<br>${html(message)} ${html(error.code)} · ${html(requestId)}</p>`;
  return {
    html: hostedPage({ language, title, body }),
    headers: {
      ...pageHeaders(pagePolicy(), 'no-store'),
      'content-language': language,
      vary: 'Accept, Accept-Language, Origin',
      'content-type': 'text/html; charset=utf-8',
    },
  };
};
