import { Resolver } from 'node:dns/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Resolve } from './target-guard.ts';

/**
 * One HTTP request of a webhook or a back-channel logout. Only this module opens sockets for them; tests replace it.
 * Each attempt opens a new connection to one of the addresses that were checked for it, because a reused connection
 * could lead to an address that the name had earlier.
 */
export interface Outgoing {
  readonly url: URL;
  /** The checked addresses of the URL's host. TLS still verifies the name. */
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The beginning of the body, at most `MAX_ANSWER_BYTES` long. */
  readonly body: Buffer;
}

/**
 * Sends a request. Resolves with any response, including redirects.
 * @throws PostFault; the reason of the signal once it is aborted
 */
export type Post = (request: Outgoing, signal: AbortSignal) => Promise<PostAnswer>;

export class PostFault extends Error {
  override readonly name = 'PostFault';
  readonly error: 'connection' | 'tls';

  constructor(error: PostFault['error'], cause: unknown) {
    super(`webhook: ${error}`, { cause });
    this.error = error;
  }
}

const MAX_ANSWER_BYTES = 65_536;

/**
 * Creates the function that sends requests. `ca` is the certificate authority to trust instead of the public ones, for
 * tests.
 */
export const createPost =
  (ca?: string): Post =>
  (request, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const { url, addresses, headers, body } = request;
      let stage: PostFault['error'] = 'connection';
      const failed = (cause: unknown) =>
        reject(signal.aborted ? (signal.reason as Error) : new PostFault(stage, cause));
      const options = {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        agent: false,
        lookup: fixedLookup(addresses),
        signal,
      };
      const sent =
        url.protocol === 'https:'
          ? https.request(url, { ...options, rejectUnauthorized: true, ...(ca ? { ca } : {}) })
          : http.request(url, options);
      sent.once('socket', (socket) => {
        if (url.protocol !== 'https:') return;
        socket.once('connect', () => (stage = 'tls'));
        (socket as TLSSocket).once('secureConnect', () => (stage = 'connection'));
      });
      sent.on('error', failed);
      // The request did not ask for another protocol, so an upgrade is a failure.
      sent.once('upgrade', (_, socket) => {
        socket.destroy();
        failed(new Error('upgraded'));
      });
      sent.once('response', (response) => {
        readBeginning(response).then(
          (read) =>
            resolve({
              status: response.statusCode ?? 0,
              retryAfter: response.headers['retry-after'] ?? null,
              body: read,
            }),
          failed,
        );
      });
      sent.end(body);
    });

/** Reads the beginning of the body and closes the connection. */
async function readBeginning(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES);
}

/**
 * Creates a lookup that resolves every name to the checked addresses, without a query. For a URL with an address, Node
 * calls no lookup.
 */
export function fixedLookup(addresses: readonly string[]): LookupFunction {
  const results = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_, options, callback) => {
    if (options.all) callback(null, results);
    else callback(null, results[0]?.address ?? '', results[0]?.family ?? 4);
  };
}

/**
 * Creates the function that resolves names. It queries name servers instead of calling `getaddrinfo`, which would
 * occupy a thread of the pool that hashes passwords for as long as a name server takes. `/etc/hosts` is not read, and
 * `localhost` is this machine (RFC 6761).
 */
export function createResolve(timeoutMs = 2000): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1'];
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const resolved = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (resolved.length === 0 && answers[0].status === 'rejected') throw answers[0].reason;
    return resolved;
  };
}
