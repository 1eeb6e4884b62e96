import { Resolver } from 'node:dns/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import { isIPv6, type LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Resolve } from '../webhook-targets/target-guard.ts';

/**
 * Webhooks on the wire. This is all of the delivery that opens a socket; tests hand in others. Each attempt has a
 * connection of its own, to one of the addresses that were judged for it: a kept one would lead where the name led
 * before.
 */
export interface Outgoing {
  readonly url: URL;
  /** Where its host was found to be. TLS still verifies the name. */
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Answered {
  readonly status: number;
  readonly retryAfter: string | null;
  /** The beginning, `MAX_ANSWER_BYTES` at most. */
  readonly body: Buffer;
}

/** Resolves with whatever was answered, redirects too. @throws PostFault; the reason of the signal once it is aborted */
export type Post = (request: Outgoing, signal: AbortSignal) => Promise<Answered>;

export class PostFault extends Error {
  override readonly name = 'PostFault';
  readonly error: 'connection' | 'tls';

  constructor(error: PostFault['error'], cause: unknown) {
    super(`webhook: ${error}`, { cause });
    this.error = error;
  }
}

const MAX_ANSWER_BYTES = 65_536;

/** `ca`: whom to trust instead of the public authorities, for tests. */
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
        lookup: alwaysTo(addresses),
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
      // Nobody asked for another protocol.
      sent.once('upgrade', (_, socket) => {
        socket.destroy();
        failed(new Error('upgraded'));
      });
      sent.once('response', (response) => {
        beginningOf(response).then(
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

/** Reads so much and hangs up. */
async function beginningOf(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES);
}

/** Answers what was judged to whatever name is asked for. Of an address nothing is asked. */
function alwaysTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_, options, callback) => {
    if (options.all) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family ?? 4);
  };
}

/**
 * Asks the name servers, not `getaddrinfo`: that one takes a thread of the pool in which passwords are hashed, for as
 * long as a name server pleases. `/etc/hosts` is not read, and `localhost` is this machine (RFC 6761).
 */
export function createResolve(timeoutMs = 2000): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '');
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1'];
    const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (found.length === 0 && asked[0].status === 'rejected') throw asked[0].reason;
    return found;
  };
}
