import createOpenapiClient from 'openapi-fetch';
import type { paths } from '../client/generated/openapi.ts';
import type { Http } from '../client/http.ts';
import type { Transport } from './transport.ts';

/**
 * An openapi-fetch client on top of the transport. Tokens, time-outs and retries work as for operations, but error
 * responses are returned, not thrown.
 */
export function createHttp(transport: Transport): Http {
  return createOpenapiClient<paths>({
    baseUrl: transport.url,
    querySerializer: { array: { style: 'form', explode: false } },
    pathSerializer,
    fetch: async (request) => {
      const { method, url, headers, signal } = request;
      if (!url.startsWith(`${transport.url}/`))
        throw new TypeError('`http` sends only to the `url` of the client');
      const { authorization: _, ...kept } = Object.fromEntries(headers);
      const body = await request.text();
      const { response, text } = await transport.send({
        operation: method,
        method,
        target: url.slice(transport.url.length),
        headers: kept,
        body: body === '' ? undefined : body,
        token: 'own',
        isRepeatable: method !== 'POST' || 'idempotency-key' in kept,
        signal,
        readsBody: false,
        returnsErrors: true,
      });
      // `send` has already read the body of an error, to decide about a retry.
      return text === null ? response : new Response(text === '' ? null : text, response);
    },
  });
}

/** Encodes path parameters like `requestParts`, so that a parameter cannot change the path. */
const pathSerializer = (template: string, parameters: Readonly<Record<string, unknown>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(parameters[name]);
    if (value === '' || /^\.{1,2}$/.test(value)) throw new TypeError(`${name} must be a part of a path`);
    return encodeURIComponent(value);
  });
