import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../../config/config.ts';
import { fail, type DoorwardError } from '../../errors.ts';
import { createConnectionShares } from './connection-shares.ts';
import { restErrorBody } from '../error-body.ts';

/*
 * Limits that apply before a request exists: how long a request may take to arrive, the size of its head, and the
 * number of connections. Bytes that aren't valid HTTP get a response here too.
 */

const CHECKS_PER_TIMEOUT = 4;
const HEADERS_MS = 15_000;
const HEADERS_BYTES = 16_384;

type Limits = Config['http'];

/** Options for the constructor of the server. `headers` are added to responses to invalid HTTP. */
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
      connectionsCheckingInterval: headersTimeout / CHECKS_PER_TIMEOUT,
      maxHeaderSize: HEADERS_BYTES,
    },
    clientErrorHandler: (error, socket) => refuse(error, socket, headers),
  };
}

/** Limits the connections of the server. `networkOf` returns the network whose share a connection uses. */
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
  // By default Node drops header fields after the 2,000th, which may be fields that a proxy added. Their total size is
  // limited anyway.
  server.maxHeadersCount = 0;
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
    lastResponses.set(socket, response),
  );
}

/** The latest response of each connection. */
const lastResponses = new WeakMap<Socket, ServerResponse>();

/** Whether no request has arrived yet, or the latest one has its response. */
function isIdle(socket: Socket): boolean {
  const response = lastResponses.get(socket);
  return response === undefined || response.writableFinished || response.destroyed;
}

/** Connections whose refusal was sent, with the number of bytes that they may still send before they are closed. */
const refused = new WeakMap<Socket, number>();
const LINGER_MS = 2000;
const LINGER_BYTES = 1024 * 1024;

/**
 * Ends the connection after the response, and goes on reading for a moment. A connection that is closed with unread
 * bytes is reset, and the client's system then drops the response if the client has not read it yet.
 */
function endWith(socket: Socket, text: string): void {
  refused.set(socket, socket.bytesRead + LINGER_BYTES);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  // Once the client has ended its side too, the response cannot be lost any more.
  socket.once('end', () => socket.destroy());
  socket.end(text);
  // Keeps reading, and discards what arrives. `refuse` destroys the socket after `LINGER_BYTES`.
  socket.resume();
}

function refuse(error: Error & { code?: string }, socket: Socket, headers: Readonly<Record<string, string>>) {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const allowed = refused.get(socket);
  if (allowed !== undefined) {
    // These bytes still belong to the request that was refused.
    if (socket.bytesRead > allowed) socket.destroy();
    return;
  }
  const response = lastResponses.get(socket);
  // The invalid bytes follow a valid request whose response is still pending, so the connection is closed after it.
  if (response?.req.complete && !response.writableFinished) {
    response.once('close', () => socket.destroy());
    return;
  }
  if (!socket.writable || response?.headersSent) return void socket.destroy();
  const requestId = randomUUID();
  const { status, error: doorwardError } = errorOf(error.code);
  const body = JSON.stringify(restErrorBody(doorwardError, { language: 'en', requestId }));
  const fields = {
    'x-request-id': requestId,
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  endWith(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
}

/**
 * The error for a failure code. Statuses 431 and 408 have no code in the catalog (errors §1), so the closest code is
 * used.
 */
function errorOf(code = ''): { readonly status: number; readonly error: DoorwardError } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const fix = `Send at most ${HEADERS_BYTES} bytes of URL and header fields.`;
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
