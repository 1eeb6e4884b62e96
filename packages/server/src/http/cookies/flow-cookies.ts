import { parseCookie } from 'cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { flowIdOf } from '../../crypto/tokens/flow-secret.ts';
import type { FlowCookieEffect } from '../../kernel/context.ts';
import { nameOf, writeCookie, writeCookieNamed } from './cookies.ts';

/*
 * The cookies of a browser's sign-in flows. Each flow has its own cookie, named by the flow's id, so that flows that
 * start at the same time don't overwrite each other. `doorward_flow` contains the secret of the newest flow, for
 * clients that name no flow and for the former version, which knows only this cookie.
 */

const MAX_FLOWS = 10;

/** A flow's cookie outlives the flow, so that its browser tab can continue when the flow is over. */
const COOKIE_SECONDS = 86_400;

/** Length of the former version's secrets and tokens, which contain no flow id. */
const FORMER_LENGTH = 43;

const tokenNames = ['form_token', 'formToken', 'consent_token', 'token', 'state'] as const;

type Members = Readonly<Record<string, unknown>>;
const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

/** The id of the flow that the request belongs to, from its address or from a token in it. */
function namedFlow({
  query,
  body,
}: FastifyRequest): { readonly id: string; readonly isExplicit: boolean } | null {
  const { flow } = membersOf(query);
  if (typeof flow === 'string') return { id: flow, isExplicit: true };
  const sent = { ...membersOf(query), ...membersOf(body) };
  const token = tokenNames.map((name) => sent[name]).find((value) => typeof value === 'string');
  return token === undefined ? null : { id: flowIdOf(token), isExplicit: false };
}

interface FlowCookie {
  readonly secret: string;
  /** Where the browser can continue when the flow is over. */
  readonly hint: string;
}

/** The cookie of the flow that the request names; null if it names none, or a flow of another browser. */
export function namedFlowCookie(request: FastifyRequest, https: boolean): FlowCookie | null {
  const named = request.headers.cookie === undefined ? null : namedFlow(request);
  if (!named) return null;
  const cookies = parseCookie(request.headers.cookie ?? '');
  const newest = nameOf('flow', https);
  const [secret = '', hint = ''] = (cookies[`${newest}_${named.id}`] ?? '').split('.');
  if (secret !== '') return { secret, hint };
  const main = cookies[newest];
  return main !== undefined && flowIdOf(main) === named.id ? { secret: main, hint: '' } : null;
}

/**
 * The secret of the flow that the request names, or of the newest flow if it names none. Null if this browser has no
 * flow, or not the flow that the URL names.
 */
export function flowSecretIn(request: FastifyRequest, https: boolean): string | null {
  const { cookie } = request.headers;
  if (cookie === undefined) return null;
  const named = namedFlowCookie(request, https);
  if (named) return named.secret;
  const newest = parseCookie(cookie)[nameOf('flow', https)] ?? null;
  const isExplicit = namedFlow(request)?.isExplicit === true;
  return isExplicit && newest?.length !== FORMER_LENGTH ? null : newest;
}

/**
 * Sets the cookies of a flow that starts or is extended. If the newest flow has ended, clears the cookie that contains
 * its secret.
 */
export function writeFlowCookies(reply: FastifyReply, https: boolean, effect: FlowCookieEffect): void {
  const { request } = reply;
  const cookies = parseCookie(request.headers.cookie ?? '');
  const newest = nameOf('flow', https);
  const isNewest = cookies[newest] === flowSecretIn(request, https);
  if (effect === 'clear') {
    if (isNewest) writeCookie(reply, 'flow', https, 'clear');
    return;
  }
  const { value, maxAgeSeconds, hint } = effect;
  if (hint !== undefined || isNewest) writeCookie(reply, 'flow', https, { value, maxAgeSeconds });
  if (hint === undefined) return;
  const own = `${newest}_${flowIdOf(value)}`;
  writeCookieNamed(reply, own, https, { value: `${value}.${hint}`, maxAgeSeconds: COOKIE_SECONDS });
  // Browsers send older cookies first (RFC 6265 §5.4), so the oldest flows are dropped.
  const others = Object.keys(cookies).filter((name) => name.startsWith(`${newest}_`) && name !== own);
  for (const name of others.slice(0, Math.max(0, others.length - MAX_FLOWS + 1)))
    writeCookieNamed(reply, name, https, 'clear');
}

const flowPages =
  /^\/(?:api\/auth\/project\/(?:sign-in|second-factor|enrolment|organization|consent|respond|github|providers\/[\w-]+)|hosted\/(?:cli-sign-in|connect-provider|sign-out|signed-out))(?=\?(?!.*\bflow=)|$)/;

/** Adds the flow id of this secret or token to the URL, because another tab may have another flow. */
export const inFlow = (url: string, secretOrToken: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}flow=${flowIdOf(secretOrToken)}`;

/** Adds the flow to the URL if the page belongs to a flow. */
export function urlWithFlow(appUrl: string, url: string, secret: string | null): string {
  const path = url.startsWith(`${appUrl}/`) ? url.slice(appUrl.length) : url;
  if (secret === null || !flowPages.test(path)) return url;
  return inFlow(url, secret);
}

/** Lets responses without a call, such as errors, name the flow of their request. */
export const decorateWithFlows = (
  app: FastifyInstance,
  { appUrl, security }: { readonly appUrl: string; readonly security: { readonly https: boolean } },
): FastifyInstance =>
  app.decorate('urlWithFlow', (url, request) =>
    urlWithFlow(appUrl, url, flowSecretIn(request, security.https)),
  );
