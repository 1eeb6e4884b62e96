import * as http from 'node:http';
import * as https from 'node:https';
import type { CustomFetch } from 'openid-client';
import { fixedLookup } from '../outgoing/outgoing.ts';
import { readLimited } from './provider.ts';
import type { TargetGuard } from '../outgoing/target-guard.ts';

/**
 * Creates a fetch that connects only to addresses that the guard allows, does not follow redirects, and limits the size
 * of the response. The metadata of a provider names further URLs, which could point into the network of this service.
 */
export const guardedFetch =
  (guard: Pick<TargetGuard, 'addressesOf'>): CustomFetch =>
  async (target, { method, headers, body, signal }) => {
    const url = new URL(target);
    const lookup = fixedLookup(await guard.addressesOf(url));
    const { request } = url.protocol === 'https:' ? https : http;
    const bytes =
      body === undefined || body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer());
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const sent = request(url, {
        method,
        headers: {
          ...headers,
          'accept-encoding': 'identity',
          ...(bytes && { 'content-length': String(bytes.length) }),
        },
        agent: false,
        lookup,
        ...(signal && { signal }),
      });
      sent.once('error', reject);
      sent.once('response', resolve);
      sent.end(bytes);
    });
    const content = await readLimited(response as AsyncIterable<Buffer>);
    const { statusCode: status = 500 } = response;
    return new Response([204, 205, 304].includes(status) ? null : new Uint8Array(content), {
      status,
      headers: { 'content-type': response.headers['content-type'] ?? '' },
    });
  };
