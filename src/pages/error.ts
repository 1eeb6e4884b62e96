import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../events/mail-layout.ts';
import { translateCode, type Language } from '../i18n/translate.ts';
import { pageHeaders } from '../transport/docs-page.ts';
import { hostedPage, pagePolicy } from './page.ts';

const titles: Record<Language, string> = {
  en: 'This did not work',
  de: 'Das hat nicht geklappt',
  es: 'Esto no ha funcionado',
  fr: "Cela n'a pas fonctionné",
};

/** What a person reads where a program would get the JSON of an error. It leads nowhere. */
export const errorPage: FastifyInstance['errorPage'] = (error, language, requestId) => {
  const title = titles[language];
  const message = translateCode(language, error.code, error.params);
  const body = `      <h1>${escapeHtml(title)}</h1>
      <p role="alert" class="bad">${escapeHtml(message)}</p>
      <p>${escapeHtml(error.code)} · ${escapeHtml(requestId)}</p>`;
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
