import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../contracts/types.ts';
import type { Call } from './admit.ts';

/** A call on Node's HTTP server, which Express, Fastify and NestJS share. */
interface NodeCall<Request> extends Call<Request> {
  readonly signal: AbortSignal;
  /** Stops watching for a disconnect of the caller. From then on that is up to the route. */
  readonly settle: () => void;
}

export function nodeCall<Request extends { principal?: Principal }>(
  request: Request,
  raw: IncomingMessage,
  response: ServerResponse,
): NodeCall<Request> {
  const aborting = new AbortController();
  const abort = (): void => aborting.abort();
  response.once('close', abort);
  return {
    request,
    header: (name) => headerOf(raw, name),
    address: raw.socket?.remoteAddress,
    signal: aborting.signal,
    settle: () => void response.off('close', abort),
    signIn: (principal) => void (request.principal = principal),
  };
}

/**
 * Joins repeated headers like `fetch`, so that two `Authorization` headers are not a valid token. Node itself would
 * keep only the first.
 */
function headerOf(raw: IncomingMessage, name: string): string | undefined {
  // Simulated requests, such as those of Fastify's `inject`, have only `headers`.
  const values = (raw as { readonly headersDistinct?: NodeJS.Dict<string[]> }).headersDistinct?.[name];
  return (
    (values ?? [raw.headers[name]].flat()).filter((value) => value !== undefined).join(', ') || undefined
  );
}
