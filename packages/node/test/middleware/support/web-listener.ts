import type { IncomingMessage, RequestListener } from 'node:http';
import { Readable } from 'node:stream';

/** Lets a function of the Fetch standard answer requests of a Node server, as the adapters of the frameworks do. */
export const webListener =
  (
    fetch: (request: Request, env: { readonly incoming: IncomingMessage }) => Promise<Response>,
  ): RequestListener =>
  (incoming, outgoing) => {
    const aborting = new AbortController();
    outgoing.once('close', () => aborting.abort());
    const { rawHeaders } = incoming;
    const headers = new Headers();
    for (let index = 0; index < rawHeaders.length; index += 2)
      headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
    const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers,
      signal: aborting.signal,
    });
    void fetch(request, { incoming }).then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body) Readable.fromWeb(response.body as never).pipe(outgoing);
      else outgoing.end();
    });
  };
