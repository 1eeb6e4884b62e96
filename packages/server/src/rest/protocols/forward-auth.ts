import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { fail, type Detail, type DoorwardError } from '../../errors.ts';
import { ignoreBodies } from '../../http/body/body-parser.ts';
import { forwardAuthHeaders as names } from '../../http/protocols/forward-auth-headers.ts';
import type { NamedOperation } from '../../kernel/operation.ts';

/* Paths and input of the operation that proxies call before they forward a request (nginx, Traefik, Envoy). */

type Members = Record<string, unknown>;

/** The header value that means the token's own scope. */
const OWN_SCOPE = 'own';

/** Creates the error for a call that names no scope, or that names `own` with a token without a scope. */
export const scopeHeaderRequired = (): DoorwardError =>
  fail('SCOPE_REQUIRED', {
    params: { place: names.scope },
    fix: `Send ${names.scope}: <tenant>:<id>, or ?scope=<tenant>:<id>. The value ${OWN_SCOPE} means the token's own scope; a session has none.`,
  });

/**
 * Adds routes for every method, at the operation's path and at all paths below it. Envoy appends its client's path and
 * accepts only 200, so below the path a response without a body has status 200 instead of 204.
 */
export function addForwardAuthRoutes(app: FastifyInstance, route: RouteOptions): void {
  app.register(async (scope) => {
    ignoreBodies(scope);
    const everyMethod = { ...route, method: scope.supportedMethods };
    scope.route(everyMethod);
    scope.route({
      ...everyMethod,
      url: `${route.url}/*`,
      onSend: (_request, reply, payload, done) => {
        if (reply.statusCode === 204) reply.status(200);
        done(null, payload);
      },
    });
  });
}

/**
 * Reads the input from headers that the proxy sets, or from the query of the configured URL. The proxy may pass on
 * headers of its client, who must not be able to change the input, so a value that is sent twice or in both positions
 * is refused. Below the operation's path, the rest of the path and the query belong to the client and are ignored.
 *
 * @throws VALIDATION_ERROR, SCOPE_REQUIRED
 */
export function readForwardAuthInput(
  _op: NamedOperation,
  _required: readonly string[],
  { query, params, raw, headers }: FastifyRequest,
): Members {
  const parameters = '*' in (params as object) ? {} : (query as Members);
  const details: Detail[] = [];
  const read: Members = {};
  const isInHeaders = Object.values(names).some((header) => headers[header] !== undefined);
  for (const [field, header] of Object.entries(names)) {
    const value = isInHeaders ? headers[header] : parameters[field];
    const isTwice = isInHeaders ? countHeader(raw.rawHeaders, header) > 1 : Array.isArray(value);
    if (isTwice) details.push({ path: field, code: 'duplicate' });
    else if (isInHeaders && field in parameters) details.push({ path: field, code: 'excluded' });
    else if (value !== undefined) read[field] = value;
  }
  for (const name of Object.keys(parameters)) {
    if (!Object.hasOwn(names, name)) details.push({ path: name, code: 'unknown_field' });
  }
  if (details.length > 0) throw fail('VALIDATION_ERROR', { details: details.slice(0, 20) });
  return withScope(read);
}

/**
 * Requires the caller to name the scope. Otherwise each token would be checked in its own scope: anyone could create
 * this permission in their own project, and pass with a key of that project.
 */
function withScope({ scope, ...others }: Members): Members {
  const isComplete = Object.keys(names).every((name) => name === 'scope' || name in others);
  if (scope === undefined && isComplete) throw scopeHeaderRequired();
  // Without a scope in the input, the call uses the token's scope.
  if (scope === undefined || scope === OWN_SCOPE) return others;
  return { ...others, scope: scopeIn(scope as string) };
}

/** Counts in the raw headers, because Node joins repeated headers into one value. */
const countHeader = (rawHeaders: readonly string[], header: string): number =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === header).length;

function scopeIn(text: string): Members {
  const colon = text.indexOf(':');
  if (colon < 0) throw fail('VALIDATION_ERROR', { details: [{ path: 'scope', code: 'format' }] });
  return { tenant: text.slice(0, colon), id: text.slice(colon + 1) };
}
