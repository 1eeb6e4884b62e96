import { connect, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { startApp, type TestApp } from '../support/app/app.ts';
import { unique, type Person } from '../support/app/client.ts';

/** Requests that a well-behaved client never sends, byte by byte (conventions §1, §8, §12). */
const ORIGIN = 'https://app.example';

let app: TestApp;
let ada: Person;
let port: number;
beforeAll(async () => {
  app = await startApp({
    SECURITY_ADDITIONAL_ORIGINS: ORIGIN,
    // The last one is not a host: no other text that isn't one may pass because of it.
    SECURITY_ALLOWED_HOSTS: 'Here,localhost:80,[::1]:4000,here:99999',
  });
  ada = await app.person();
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.server.address() as AddressInfo);
});
afterAll(() => app.close());

interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

class Wire {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #text = '';
  #received: () => void = () => undefined;

  constructor(to = port) {
    this.socket = connect(to, '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1');
      this.#received();
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) =>
      this.socket.once('close', () => {
        this.#received();
        resolve();
      }),
    );
  }

  say(...parts: (string | Buffer)[]): this {
    for (const part of parts) this.socket.write(part);
    return this;
  }

  /** The next responses, or those that came before the connection was closed. */
  async hear(count: number): Promise<Received[]> {
    const answers: Received[] = [];
    while (answers.length < count) {
      const received = this.#take();
      if (received) answers.push(received);
      else if (this.socket.closed) break;
      else await new Promise<void>((resolve) => (this.#received = resolve));
    }
    return answers;
  }

  #take(): Received | undefined {
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [start = '', ...lines] = this.#text.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    if (this.#text.length < end + 4 + length) return undefined;
    const body = this.#text.slice(end + 4, end + 4 + length);
    this.#text = this.#text.slice(end + 4 + length);
    return { status: Number(start.slice(9, 12)), headers, body };
  }
}

const get = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${['host: here', ...headers].join('\r\n')}\r\n\r\n`;
/** Creates a tag, if the request is parsed as one. */
const tag = (name: string) => JSON.stringify({ scope: ada.account, name });
const post = (body: string | Buffer, ...headers: string[]) => {
  const own = headers.some((header) => /^(content-length|transfer-encoding):/.test(header));
  const all = [
    'host: here',
    `authorization: Bearer ${ada.token}`,
    'content-type: application/json',
    ...(own ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    ...headers,
  ];
  return Buffer.concat([
    Buffer.from(`POST /api/tags HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`),
    Buffer.from(body),
  ]);
};
const chunked = (...chunks: string[]) =>
  `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
const named = async (name: string) =>
  (await app.must('tags', { scope: ada.account, search: name }, { token: ada.token })).totalCount;
const code = ({ body }: Received) => (JSON.parse(body) as { code?: string }).code;

describe('requests that two parsers may read differently', () => {
  const rest = get('/health');
  it.each<[string, (name: string) => (string | Buffer)[]]>([
    [
      'a length and chunks',
      (name) => [post(chunked(tag(name)), 'content-length: 5', 'transfer-encoding: chunked')],
    ],
    ['two lengths', (name) => [post(tag(name), `content-length: ${tag(name).length}`, 'content-length: 5')]],
    [
      'a length twice',
      (name) => [post(tag(name), ...Array<string>(2).fill(`content-length: ${tag(name).length}`))],
    ],
    ['a list of lengths', (name) => [post(tag(name), `content-length: ${tag(name).length}, 5`)]],
    ['a signed length', (name) => [post(tag(name), `content-length: +${tag(name).length}`)]],
    [
      'chunks twice',
      (name) => [post(chunked(tag(name)), ...Array<string>(2).fill('transfer-encoding: chunked'))],
    ],
    [
      'chunks that are not the last coding',
      (name) => [post(chunked(tag(name)), 'transfer-encoding: chunked, gzip')],
    ],
    ['a coding that is nearly chunks', (name) => [post(chunked(tag(name)), 'transfer-encoding: xchunked')]],
    ['a chunk whose size is none', () => [post('', 'transfer-encoding: chunked'), '5;\nGET \r\nx']],
    ['a space before the colon', () => ['GET /health HTTP/1.1\r\nhost: here\r\nfoo : x\r\n\r\n']],
    ['a folded field', () => ['GET /health HTTP/1.1\r\nhost: here\r\nfoo: x\r\n bar\r\n\r\n']],
    ['lines without a carriage return', () => ['GET /health HTTP/1.1\nhost: here\n\n']],
    ['a NUL in a field', () => ['GET /health HTTP/1.1\r\nhost: here\r\nfoo: a\0b\r\n\r\n']],
    ['no HTTP at all', () => ['EHLO here\r\n\r\n']],
  ])('%s: 400, closed, and nothing behind them is served', async (_, parts) => {
    const name = unique();
    const wire = new Wire().say(...parts(name), rest);
    const answers = await wire.hear(2);
    await wire.closed;
    expect(answers.map(({ status }) => status)).toEqual([400]);
    const [{ headers, body } = { headers: {}, body: '' }] = answers;
    expect(JSON.parse(body)).toEqual({
      error: 'The request is not valid.',
      code: 'VALIDATION_ERROR',
      requestId: expect.any(String) as string,
    });
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'content-type': 'application/json; charset=utf-8',
      connection: 'close',
    });
    expect(await named(name)).toBe(0);
  });

  test('two hosts, where the host is checked', async () => {
    const [answer] = await new Wire()
      .say('GET /api/me HTTP/1.1\r\nhost: here\r\nhost: there\r\n\r\n')
      .hear(1);
    expect([answer?.status, answer && code(answer)]).toEqual([400, 'VALIDATION_ERROR']);
  });

  test.each([
    ['here', 401],
    ['HERE', 401],
    ['here:80', 401],
    ['here:443', 401],
    ['here.', 401],
    ['localhost', 401],
    ['[0:0:0:0:0:0:0:1]:4000', 401],
    ['here:8080', 421],
    ['there', 421],
    ['[::1]', 421],
    ['here@there', 421],
    ['here/there', 421],
    ['.', 421],
  ])('the host %s', async (host, status) => {
    const [answer] = await new Wire().say(`GET /api/me HTTP/1.1\r\nhost: ${host}\r\n\r\n`).hear(1);
    expect(answer?.status).toBe(status);
  });

  test.each(['/health', '/health/live', '/health/ready'])('any host at %s', async (path) => {
    const [answer] = await new Wire().say(`GET ${path} HTTP/1.1\r\nhost: 10.0.0.7:4000\r\n\r\n`).hear(1);
    expect(answer?.status).toBe(200);
  });

  test('pipelined requests are answered in order, and a malformed one does not affect another response', async () => {
    const name = unique();
    const wire = new Wire().say(
      Buffer.concat([post(tag(name)), Buffer.from(`${get('/health/live')}BAD\r\n\r\n`)]),
    );
    const answers = await wire.hear(3);
    await wire.closed;
    expect(answers.map(({ status }) => status).slice(0, 1)).toEqual([201]);
    expect(answers.map(({ status }) => status)).not.toContain(400);
    expect(await named(name)).toBe(1);

    const both = await new Wire().say(get('/health/live') + get('/api/nowhere') + get('/health')).hear(3);
    expect(both.map(({ status }) => status)).toEqual([200, 404, 200]);
  });
});

describe('bodies', () => {
  test.each(['gzip', 'br', 'deflate', 'x-gzip', 'identity, gzip'])(
    'in %s are not decompressed',
    async (coding) => {
      const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
      const before = process.memoryUsage().arrayBuffers;
      const wire = new Wire().say(post(bomb, `content-encoding: ${coding}`), get('/health/live'));
      const [refused, next] = await wire.hear(2);
      expect([refused?.status, refused && code(refused)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
      expect(next?.status).toBe(200);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(25_000_000);
      wire.socket.destroy();
    },
  );

  test('in chunks are refused at the limit, and no more of them is read', async () => {
    const wire = new Wire().say(post('', 'transfer-encoding: chunked'));
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    for (let count = 0; count < 40; count++) wire.say(chunk);
    const [answer] = await wire.hear(1);
    expect([answer?.status, answer && code(answer)]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    await wire.closed;
  });

  test('with a length above the limit are refused before they are sent', async () => {
    const wire = new Wire().say(post('{', 'content-length: 9999999999'));
    const [answer] = await wire.hear(1);
    expect([answer?.status, answer && code(answer)]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    await wire.closed;
  });

  test('that are shorter than their length change nothing', async () => {
    const name = unique();
    const wire = new Wire().say(post(tag(name), `content-length: ${tag(name).length + 1}`));
    wire.socket.end();
    await wire.closed;
    expect(await named(name)).toBe(0);
  });

  test('that are longer than their length end there', async () => {
    const name = unique();
    const wire = new Wire().say(post(`${tag(name)}${get('/health')}`, `content-length: ${tag(name).length}`));
    expect((await wire.hear(2)).map(({ status }) => status)).toEqual([201, 200]);
    wire.socket.destroy();
  });

  test('with a hundred thousand members or elements are refused in order', async () => {
    const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`a${at}`, 0]));
    for (const body of [JSON.stringify(wide), `{"metadata":[${'0,'.repeat(400_000)}0]}`]) {
      const [answer] = await new Wire().say(post(body)).hear(1);
      expect([answer?.status, answer && code(answer)]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });
});

describe('headers', () => {
  it.each([
    ['one large field', () => get('/health', `a: ${'x'.repeat(17_000)}`)],
    ['many fields', () => get('/health', ...Array<string>(3000).fill('abc: defg'))],
    ['a long address', () => get(`/${'x'.repeat(17_000)}`)],
  ])('with %s are 431', async (_, text) => {
    const wire = new Wire().say(text());
    const [answer] = await wire.hear(1);
    await wire.closed;
    expect(answer?.status).toBe(431);
    expect(answer?.headers).toMatchObject({ 'x-content-type-options': 'nosniff', connection: 'close' });
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      error: 'The request is too large.',
      code: 'PAYLOAD_TOO_LARGE',
      requestId: answer?.headers['x-request-id'],
      fix: expect.stringContaining('16384 bytes') as string,
    });
  });

  test('are read to their end, however many fields there are', async () => {
    const id = `last-${unique()}`;
    const [answer] = await new Wire()
      .say(get('/health', ...Array<string>(2500).fill('a:'), `x-request-id: ${id}`))
      .hear(1);
    expect(answer?.headers['x-request-id']).toBe(id);
  });

  test('cannot override the method, host or address of the request line', async () => {
    const name = unique();
    const overrides = [
      'x-http-method-override: DELETE',
      'x-method-override: DELETE',
      'x-original-url: /api/nowhere',
    ];
    const [answer] = await new Wire().say(post(tag(name), ...overrides)).hear(1);
    expect(answer?.status).toBe(201);
    expect(await named(name)).toBe(1);
    const [absolute] = await new Wire().say(get('http://evil.example/health/live')).hear(1);
    expect([absolute?.status, absolute?.body]).toEqual([200, '{"status":"ok"}']);
  });
});

describe('slow connections', () => {
  let impatient: TestApp;
  beforeAll(async () => {
    impatient = await startApp({ REQUEST_TIMEOUT_SECONDS: '1', SECURITY_ALLOWED_HOSTS: 'here' }, app);
    await impatient.server.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => impatient.close());

  test.each([
    ['a head that does not end', () => 'GET /health HTTP/1.1\r\nhost: here\r\n'],
    ['a body that does not come', () => post('{', 'content-length: 100')],
  ])('%s: 408, closed', async (_, text) => {
    const wire = new Wire((impatient.server.server.address() as AddressInfo).port).say(text());
    const [answer] = await wire.hear(1);
    await wire.closed;
    expect([answer?.status, answer && code(answer)]).toEqual([408, 'VALIDATION_ERROR']);
    expect(answer?.headers).toMatchObject({ 'cache-control': 'no-store', connection: 'close' });
  });

  test('above the limit are closed', async () => {
    const { server } = app.server;
    const most = server.maxConnections;
    expect(most).toBe(10_000);
    const open = new Wire();
    await open.say(get('/health/live')).hear(1);
    server.maxConnections = 1;
    const dropped = new Promise((resolve) => server.once('drop', resolve));
    const refused = new Wire();
    await Promise.all([dropped, refused.closed]);
    server.maxConnections = most;
    expect((await open.say(get('/health/live')).hear(1))[0]?.status).toBe(200);
    open.socket.destroy();
  });
});

describe('OPTIONS', () => {
  const options = (path: string, ...headers: string[]) => get(path, ...headers).replace('GET', 'OPTIONS');
  const preflight = (origin: string, method: string) =>
    options('/api/tags/x', `origin: ${origin}`, `access-control-request-method: ${method}`);

  it.each(['GET', 'POST', 'PATCH', 'PUT', 'DELETE'])(
    'allows an allowed origin to send %s',
    async (method) => {
      const [answer] = await new Wire().say(preflight(ORIGIN, method)).hear(1);
      expect(answer?.status).toBe(204);
      expect(answer?.headers['access-control-allow-origin']).toBe(ORIGIN);
      expect(answer?.headers['access-control-allow-methods']?.split(/, */)).toContain(method);
      expect(answer?.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(answer?.headers['x-request-id']).toBeDefined();
    },
  );

  it.each(['https://evil.example', 'null', `${ORIGIN}.evil.example`, ORIGIN.replace('https', 'http'), '*'])(
    'lets %s do nothing',
    async (origin) => {
      const wire = new Wire().say(preflight(origin, 'POST'), get('/health', `origin: ${origin}`));
      for (const { headers } of await wire.hear(2)) {
        expect(headers).not.toHaveProperty('access-control-allow-origin');
        expect(headers['vary']).toContain('Origin');
      }
      wire.socket.destroy();
    },
  );

  it.each([
    ['/api/tags', 200, 'GET, HEAD, POST, OPTIONS'],
    ['/api/tags/x', 200, 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    ['*', 200, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
    ['/api/nowhere', 404, undefined],
  ])('that is not a preflight at %s is %i', async (path, status, allow) => {
    const [answer] = await new Wire().say(options(path)).hear(1);
    expect([answer?.status, answer?.headers['allow']]).toEqual([status, allow]);
    if (answer && status === 404) expect(code(answer)).toBe('NOT_FOUND');
    expect(answer?.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
    expect(answer?.headers['x-request-id']).toBeDefined();
  });
});

test('in production there is no explorer and no introspection, and the pages are strict', async () => {
  const production = await startApp({
    NODE_ENV: 'production',
    APP_URL: 'https://access.example.com',
    MAIL_PROVIDER: 'file',
  });
  const ask = (url: string, accept = 'text/html') =>
    production.server.inject({ url, headers: { accept, host: 'access.example.com' } });
  expect((await ask('/graphql')).statusCode).toBe(404);
  expect((await ask('/metrics')).statusCode).toBe(404);
  const introspection = await production.server.inject({
    method: 'POST',
    url: '/graphql',
    payload: { query: '{ __schema { __typename } }' },
  });
  expect(introspection.json()).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
  });
  expect((await ask('/api-docs.json', '*/*')).statusCode).toBe(200);
  const pages = [
    '/api-docs',
    '/hosted/verify-email',
    '/hosted/reset-password',
    '/hosted/invitation',
    '/hosted/signed-in',
    '/device',
  ];
  for (const page of pages) {
    const { statusCode, headers } = await ask(page);
    expect(statusCode, page).toBe(200);
    const policy = String(headers['content-security-policy']);
    expect(policy, page).toMatch(/default-src 'none'/);
    expect(policy, page).toMatch(/frame-ancestors 'none'/);
    expect(policy, page).toMatch(/base-uri 'none'/);
    expect(policy, page).not.toMatch(/script-src[^;]*'unsafe-(inline|eval)'|\*/);
    expect(headers['strict-transport-security'], page).toBe('max-age=31536000');
    expect(headers['x-content-type-options'], page).toBe('nosniff');
  }
  await production.close();
});

test.each(['k\0', 'k\n', '\ud800', "k'; --"])(
  'a token whose kid is %j is invalid, without another effect',
  async (kid) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part({ sub: ada.userId })}.c2ln`;
    const headers = { authorization: `Bearer ${token}`, host: 'here' };
    const statusOf = async (url: string) => (await app.server.inject({ url, headers })).statusCode;
    expect(await statusOf('/health')).toBe(200);
    expect(await statusOf('/api/event-types')).toBe(200);
    expect(await statusOf('/api/me')).toBe(401);
  },
);
