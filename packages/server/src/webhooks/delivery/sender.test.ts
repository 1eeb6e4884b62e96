import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import {
  createServer as createRawServer,
  type AddressInfo,
  type Server as RawServer,
  type Socket,
} from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { certificateFor } from '../../../test/support/app/certificate.ts';
import { createPost } from '../../outgoing/outgoing.ts';
import { createSend, type Outcome } from './sender.ts';
import { createTargetGuard } from '../../outgoing/target-guard.ts';

/** The real sender with real receivers on this machine, which misbehave in many ways. */
interface Received {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}
const received: Received[] = [];
/** The answer of a path; set by each test. */
let answer: RequestListener;
let receiver: Server;
const servers: (Server | RawServer)[] = [];
const trusted = certificateFor('receiver.test');

const portOf = (server: Server | RawServer): number => (server.address() as AddressInfo).port;
async function listening<S extends Server | RawServer>(server: S): Promise<S> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return server;
}
const raw = (serve: (socket: Socket) => void) =>
  listening(createRawServer((socket) => serve(socket.on('error', () => undefined))));

beforeAll(async () => {
  receiver = await listening(createServer((request, response) => void receive(request, response)));
});
const receive = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const { method = '', headers } = request;
  received.push({ method, headers, body: Buffer.concat(chunks) });
  answer(request, response);
};
beforeEach(() => {
  received.length = 0;
  answer = (_, response) => response.writeHead(204).end();
});
afterAll(() => {
  for (const server of servers) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
});

const secret = Buffer.alloc(32, 5);
const body = JSON.stringify({ id: 'evt_7', data: { name: 'Zoë 🦊' } });
interface Sending {
  readonly timeoutMs?: number;
  readonly ca?: string;
  readonly stop?: AbortSignal;
}
function send(url: string, { timeoutMs = 10_000, ca, stop }: Sending = {}): Promise<Outcome> {
  const guard = createTargetGuard({ allowHttp: true, allowedPrivateCidrs: ['127.0.0.0/8'] }, async () => [
    '127.0.0.1',
  ]);
  const clock = { now: () => new Date('2030-01-01T00:00:00.900Z') };
  const sendIt = createSend({ guard, post: createPost(ca), clock, timeoutMs });
  return sendIt({ url, id: 'evt_7', body, secrets: [secret] }, stop ?? new AbortController().signal);
}
const here = (path = '/hook') => `http://receiver.test:${portOf(receiver)}${path}`;

describe('an attempt', () => {
  test('sends exactly the signed bytes and its user agent', async () => {
    expect(await send(here('/a%20path?q=1'))).toEqual({
      attemptedAt: new Date('2030-01-01T00:00:00.900Z'),
      latencyMs: expect.any(Number) as number,
      statusCode: 204,
      error: null,
      responseBody: null,
      retryAfter: null,
    });
    const [{ method, headers, body: bytes }] = received as [Received];
    expect(bytes.toString('utf8')).toBe(body);
    expect(method).toBe('POST');
    expect(headers).toMatchObject({
      host: `receiver.test:${portOf(receiver)}`,
      'user-agent': 'Doorward-Webhooks/1',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': 'evt_7',
      'webhook-timestamp': '1893456000',
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/) as string,
    });
  });

  test.each([
    [200, null],
    [299, null],
    [300, 'redirect'],
    [304, 'redirect'],
    [399, 'redirect'],
    [400, 'status'],
    [410, 'status'],
    [503, 'status'],
  ] as const)('that is answered with %i is %s', async (status, error) => {
    answer = (_, response) => response.writeHead(status, { 'retry-after': '7' }).end('so');
    const responseBody = status === 304 ? null : 'so';
    expect(await send(here())).toMatchObject({ statusCode: status, error, retryAfter: '7', responseBody });
  });

  test('does not follow redirects, whatever their target', async () => {
    for (const location of [
      here('/elsewhere'),
      'http://169.254.169.254/latest/meta-data/',
      '/hook',
      '//[::1]/',
    ]) {
      answer = (_, response) => response.writeHead(307, { location }).end();
      expect(await send(here())).toMatchObject({ statusCode: 307, error: 'redirect' });
    }
    expect(received).toHaveLength(4);
  });

  test('stores a thousand characters that PostgreSQL accepts', async () => {
    const bytes = Buffer.concat([
      Buffer.from('a\0b'),
      Buffer.from([0xed, 0xa0, 0x80, 0xff]),
      Buffer.from('🦊'.repeat(2000)),
    ]);
    answer = (_, response) => response.end(bytes);
    const { responseBody } = await send(here());
    expect([...(responseBody ?? '')]).toHaveLength(1000);
    expect(responseBody).toMatch(/^a\uFFFDb\uFFFD+🦊+$/u);
  });

  test('closes the connection of an endless answer', async () => {
    const hungUp = new Promise<void>((resolve) => {
      answer = (_, response) => {
        response.writeHead(200);
        const more = () => {
          while (response.write(Buffer.alloc(16_384, 'x')));
        };
        response.on('drain', more).on('close', resolve);
        more();
      };
    });
    expect(await send(here())).toMatchObject({
      statusCode: 200,
      error: null,
      responseBody: 'x'.repeat(1000),
    });
    await hungUp;
  });

  test('times out, whatever it waits for', async () => {
    const hangs: Record<string, RequestListener> = {
      headers: () => undefined,
      body: (_, response) => void response.writeHead(200).write('and then'),
    };
    for (const hang of Object.values(hangs)) {
      answer = hang;
      expect(await send(here(), { timeoutMs: 150 })).toMatchObject({ error: 'timeout', statusCode: null });
    }
    const silent = await raw(() => undefined);
    const timeout = { timeoutMs: 150 };
    expect(await send(`https://receiver.test:${portOf(silent)}/`, timeout)).toMatchObject({
      error: 'timeout',
    });
    const dripping = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      const timer = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await send(`http://receiver.test:${portOf(dripping)}/`, timeout)).toMatchObject({
      error: 'timeout',
    });
  });

  test('times out while a name server hangs', async () => {
    const never = createSend({
      guard: createTargetGuard(
        { allowHttp: false, allowedPrivateCidrs: [] },
        () => new Promise(() => undefined),
      ),
      post: () => Promise.reject(new Error('connected')),
      clock: { now: () => new Date() },
      timeoutMs: 50,
    });
    const message = { url: 'https://slow.test/', id: 'evt_1', body, secrets: [secret] };
    expect(await never(message, new AbortController().signal)).toMatchObject({ error: 'timeout' });
  });

  test('without a receiver, or without a web server there, is a failed connection', async () => {
    const gone = await raw(() => undefined);
    const port = portOf(gone);
    await new Promise((closed) => gone.close(closed));
    expect(await send(`http://receiver.test:${port}/`)).toMatchObject({
      error: 'connection',
      statusCode: null,
    });
    for (const serve of [
      (socket: Socket) => void socket.destroy(),
      (socket: Socket) => void socket.end('220 mail.example ESMTP\r\n'),
      (socket: Socket) =>
        void socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'),
      (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`),
    ]) {
      const server = await raw((socket) => void socket.once('data', () => serve(socket)));
      const outcome = await send(`http://receiver.test:${portOf(server)}/`);
      expect(outcome, String(serve)).toMatchObject({ error: 'connection', statusCode: null });
    }
  });

  test('with unknown result, because the process stops, rejects', async () => {
    const stop = new AbortController();
    answer = () => stop.abort(new Error('stopping'));
    await expect(send(here(), { stop: stop.signal })).rejects.toThrow('stopping');
    await expect(send(here(), { stop: stop.signal })).rejects.toThrow('stopping');
    expect(received).toHaveLength(1);
  });
});

describe('over TLS an attempt', () => {
  const secure = async (certificate = trusted) =>
    portOf(
      await listening(
        createSecureServer(certificate, (request, response) => response.end(request.headers.host)),
      ),
    );

  test('verifies the name at the checked address', async () => {
    const port = await secure();
    expect(await send(`https://receiver.test:${port}/`, { ca: trusted.cert })).toMatchObject({
      error: null,
      responseBody: `receiver.test:${port}`,
    });
  });

  test('fails for another name, an unknown authority, an expired certificate, and without TLS', async () => {
    const port = await secure();
    const former = certificateFor('receiver.test', 'past');
    const formerPort = await secure(former);
    for (const [url, ca] of [
      [`https://other.test:${port}/`, trusted.cert],
      [`https://127.0.0.1:${port}/`, trusted.cert],
      [`https://receiver.test:${port}/`, undefined],
      [`https://receiver.test:${port}/`, former.cert],
      [`https://receiver.test:${formerPort}/`, former.cert],
      [here().replace('http:', 'https:'), trusted.cert],
    ] as const) {
      expect(await send(url, ca === undefined ? {} : { ca }), url).toMatchObject({
        error: 'tls',
        statusCode: null,
      });
    }
    expect(received).toEqual([]);
  });
});
