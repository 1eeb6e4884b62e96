import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DoorwardError } from '../errors.ts';
import { pickLanguage } from '../i18n/translate.ts';
import type { Language } from '../languages.ts';
import { restErrorBody } from './error-body.ts';
import { formAnswersOf } from './body/forms.ts';

interface ErrorPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Where a browser continues after a refused step: the page of the sign-in's current step, or a page saying that it is
 * over.
 */
type Onward = { readonly redirectTo: string } | { readonly page: (language: Language) => ErrorPage };

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds the flow of the request to the URL, if its page belongs to a flow. */
    urlWithFlow?: (url: string, request: FastifyRequest) => string;
    /**
     * Finds out where a browser can continue after a step of its sign-in was refused; null if this service does not
     * know. Set by `pages/`.
     */
    onward?: (request: FastifyRequest) => Promise<Onward | null>;
    /** Renders an error for a person in a browser, with a link to `next` if that is given. Set by `pages/`. */
    errorPage: (error: DoorwardError, language: Language, requestId: string, next?: string) => ErrorPage;
    /** Renders "not found" for a person in a browser. Set by `pages/`. */
    notFoundPage: (language: Language) => ErrorPage;
  }
}

/** Sends an error in the form that the client expects: JSON, an OAuth error, or a page. */
export function sendError(error: DoorwardError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // An operation may format its own errors: as a standard such as OAuth requires, or, for a form, as a redirect to the
  // page of the form.
  const refusal = request.route?.refusal?.(error) ?? formAnswersOf(request)?.refusal?.(error);
  if (refusal) {
    const { body, headers, status } = refusal;
    const { location } = headers;
    const locationWithFlow = location !== undefined && {
      location: request.server.urlWithFlow?.(location, request) ?? location,
    };
    return reply
      .status(status ?? error.status)
      .headers({
        ...error.extras.headers,
        'content-type': 'application/json; charset=utf-8',
        ...headers,
        ...locationWithFlow,
      })
      .send(body === null ? '' : JSON.stringify(body));
  }
  if ((request.route ?? request.routeOptions.config).forBrowsers && asksForHtml(request)) {
    const { onward } = request.server;
    return error.code === 'INVALID_TOKEN' && onward
      ? sendOnward(onward, error, request, reply)
      : sendErrorPage(error, request, reply);
  }
  const language = languageOf(request);
  return reply
    .status(error.status)
    .headers({ ...error.extras.headers })
    .header('content-language', language)
    .header('vary', 'Accept-Language, Origin')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(restErrorBody(error, { language, requestId: request.id })));
}

/** After a refused step, sends the browser to the page where its sign-in continues, if its flow is known. */
function sendOnward(
  onward: NonNullable<FastifyInstance['onward']>,
  error: DoorwardError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const sendPage = () => void sendErrorPage(error, request, reply);
  onward(request).then((next) => {
    if (!next) return sendPage();
    if ('redirectTo' in next) return void reply.redirect(next.redirectTo, 303);
    const { html, headers } = next.page(languageOf(request));
    return void reply.status(error.status).headers(headers).send(html);
  }, sendPage);
  return reply;
}

/** Sends an error page. `next`: the address that the page links to. */
export function sendErrorPage(
  error: DoorwardError,
  request: FastifyRequest,
  reply: FastifyReply,
  next?: string,
): FastifyReply {
  const { html, headers } = request.server.errorPage(error, languageOf(request), request.id, next);
  return reply
    .status(error.status)
    .headers({ ...error.extras.headers, ...headers })
    .send(html);
}

/** Sends "not found": a page to browsers, JSON to programs. */
export function sendNotFound(
  error: DoorwardError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (!/^(?:GET|HEAD)$/.test(request.method) || !asksForHtml(request))
    return sendError(error, request, reply);
  const { html, headers } = request.server.notFoundPage(languageOf(request));
  return reply.status(error.status).headers(headers).send(html);
}

/**
 * Whether the client accepts HTML at least as much as JSON (RFC 9110 §12.5.1). HTML must be listed explicitly: browsers
 * do so, but programs that send only a wildcard do not.
 */
export function asksForHtml({ headers }: FastifyRequest): boolean {
  const { accept } = headers;
  if (!accept?.includes('text/html')) return false;
  const qualities = new Map<string, number>();
  for (const range of accept.split(',', 32)) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    qualities.set(type, quality === undefined ? 1 : Number(quality));
  }
  const json = ['application/json', 'application/*', '*/*'].find((type) => qualities.has(type));
  const html = qualities.get('text/html') ?? 0;
  return html > 0 && html >= (qualities.get(json ?? '') ?? 0);
}

/** The language of the request, from its `Accept-Language`. */
export const languageOf = (request: FastifyRequest): Language =>
  pickLanguage(request.headers['accept-language']);
