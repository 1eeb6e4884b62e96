import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DoorwardError } from '../errors.ts';
import { pickLanguage, type Language } from '../i18n/translate.ts';
import { restErrorBody } from './error-body.ts';
import { formAnswersOf } from './forms.ts';

/** A failure as its caller can read it: as JSON, as OAuth has it, or as a page. */

declare module 'fastify' {
  interface FastifyInstance {
    /** Tells a person in a browser what went wrong; the pages bring it. */
    errorPage: (
      error: DoorwardError,
      language: Language,
      requestId: string,
    ) => { readonly html: string; readonly headers: Readonly<Record<string, string>> };
  }
}

export function sendError(error: DoorwardError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = formAnswersOf(request)?.refusal?.(error);
  if (refusal) {
    const { body, headers, status } = refusal;
    return reply
      .status(status ?? error.status)
      .headers({ ...error.extras.headers, 'content-type': 'application/json; charset=utf-8', ...headers })
      .send(body === null ? '' : JSON.stringify(body));
  }
  const language = languageOf(request);
  if ((request.route ?? request.routeOptions.config).forBrowsers && asksForHtml(request)) {
    const { html, headers } = request.server.errorPage(error, language, request.id);
    return reply
      .status(error.status)
      .headers({ ...error.extras.headers, ...headers })
      .send(html);
  }
  return reply
    .status(error.status)
    .headers({ ...error.extras.headers })
    .header('content-language', language)
    .header('vary', 'Accept-Language, Origin')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(restErrorBody(error, { language, requestId: request.id })));
}

/** A browser names HTML first; a program that takes anything does not. */
const asksForHtml = ({ headers }: FastifyRequest): boolean => /\btext\/html\b/.test(headers.accept ?? '');

export const languageOf = (request: FastifyRequest): Language =>
  pickLanguage(request.headers['accept-language']);
