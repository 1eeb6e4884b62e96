import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server does with one request; the last one of a script is repeated. */
export type Step = (request: Received, response: ServerResponse, message: IncomingMessage) => void;

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface FaultyServer {
  readonly url: string;
  readonly received: Received[];
  /** Replaces what comes next. */
  script(...steps: Step[]): void;
  close(): Promise<void>;
}

/** An HTTP server that answers as its script says: wrong, late, cut, or not at all. */
export async function faultyServer(...steps: Step[]): Promise<FaultyServer> {
  const received: Received[] = [];
  let queue = [...steps];
  const server = createServer((message, response) => {
    const parts: Buffer[] = [];
    message.on('data', (part: Buffer) => parts.push(part));
    message.on('end', () => {
      const { method = '', url: path = '', headers } = message;
      const request = { method, path, headers, body: Buffer.concat(parts).toString() };
      received.push(request);
      const step = queue.length > 1 ? queue.shift() : queue[0];
      if (step) step(request, response, message);
      else response.writeHead(404).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    script: (...next) => void (queue = next),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Answers JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Step =>
  (_, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

export const success = (data: unknown, headers: Record<string, string> = {}): Step =>
  json(200, { success: true, data }, headers);

export const failure = (status: number, code: string, headers: Record<string, string> = {}): Step =>
  json(status, { error: 'A message.', code, requestId: 'request-1' }, headers);

/** Reads the request and closes the connection. */
export const hangUp: Step = (_, response) => void response.destroy();
/** Never answers. */
export const silence: Step = () => undefined;
/** Sends the head and a part of the body, and nothing more. */
export const stall: Step = (_, response) => {
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    .write('{"success":true');
};
/** Sends a part of the body and closes the connection. */
export const cut: Step = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"success":true', () => response.destroy());
};
