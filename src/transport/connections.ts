import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import { fail, type DoorwardError } from '../errors.ts';
import { createConnectionShares } from './connection-shares.ts';
import { restErrorBody } from './error-body.ts';

/**
 * What a connection may do before there is a request to speak of: how long one may take to arrive, how large its head
 * may be, how many there may be at once; and what is answered to bytes that are no HTTP.
 */
const CHECKS = 4;
const HEADERS_MS = 15_000;
const HEADERS_BYTES = 16_384;

type Limits = Config['http'];

/** For the constructor of the server. `headers`: those of every answer. */
export function connectionOptions(
  { requestTimeoutSeconds }: Limits,
  headers: Readonly<Record<string, string>>,
): Pick<FastifyServerOptions, 'requestTimeout' | 'clientErrorHandler'> & { readonly http: object } {
  const requestTimeout = requestTimeoutSeconds * 1000;
  const headersTimeout = Math.min(HEADERS_MS, requestTimeout);
  return {
    requestTimeout,
    http: {
      headersTimeout,
      connectionsCheckingInterval: headersTimeout / CHECKS,
      maxHeaderSize: HEADERS_BYTES,
    },
    clientErrorHandler: (error, socket) => refuse(error, socket, headers),
  };
}

/** For the server itself. `networkOf`: whose limits count a socket. */
export function limitConnections(
  app: FastifyInstance,
  { maxConnections }: Limits,
  networkOf: (socket: Socket) => string,
): void {
  const { server } = app;
  const shares = createConnectionShares(maxConnections, isIdle);
  server.on('connection', (socket: Socket) => shares.add(socket, networkOf(socket)));
  app.addHook('onRequest', (request, reply, done) => {
    const isHealth = request.routeOptions.config.rate === 'exempt';
    if (isHealth || !shares.isForHealth(request.raw.socket)) return done();
    reply.header('connection', 'close');
    done(fail('UNAVAILABLE', { headers: { 'Retry-After': '1' } }));
  });
  server.maxConnections = maxConnections;
  // Node leaves out what comes after the 2,000th field: that could be what a proxy in front has added. Their size is bounded.
  server.maxHeadersCount = 0;
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
    underWay.set(socket, response),
  );
}

/** The last answer that each connection waits for. */
const underWay = new WeakMap<Socket, ServerResponse>();

/** Silent so far, or between two requests. */
function isIdle(socket: Socket): boolean {
  const response = underWay.get(socket);
  return response === undefined || response.writableFinished || response.destroyed;
}

function refuse(error: Error & { code?: string }, socket: Socket, headers: Readonly<Record<string, string>>) {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const response = underWay.get(socket);
  // What could not be read came after a request that could: that one is answered first, and not by this.
  if (response?.req.complete && !response.writableFinished) {
    response.once('close', () => socket.destroy());
    return;
  }
  if (!socket.writable || response?.headersSent) return void socket.destroy();
  const requestId = randomUUID();
  const { status, error: told } = answerTo(error.code);
  const body = JSON.stringify(restErrorBody(told, { language: 'en', requestId }));
  const lines = {
    'x-request-id': requestId,
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`, () =>
    socket.destroy(),
  );
}

/** Two of them have a status that no code of the catalogue has (errors §1), so the nearest one tells what it is about. */
function answerTo(code = ''): { readonly status: number; readonly error: DoorwardError } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const fix = `Send a head of at most ${HEADERS_BYTES} bytes: a shorter address, fewer or shorter header fields.`;
    return { status: 431, error: fail('PAYLOAD_TOO_LARGE', { fix }) };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return {
      status: 408,
      error: fail('VALIDATION_ERROR', { fix: 'Send the whole request without pauses.' }),
    };
  }
  const error = fail(code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW' ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR');
  return { status: error.status, error };
}
