import fc from 'fast-check';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createSocketRefusals } from './refuse-on-socket.ts';

/** Whoever asks for `/busy` is refused, always; everybody else is told what he sent. */
const REFUSED = 'HTTP/1.1 503 Service Unavailable\r\nn: 1\r\ncontent-length: 4\r\n';
const KEPT = 'Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n';
const isBusy = (url = ''): boolean => url === '/busy';

interface Watched {
  readonly server: Server;
  /** Refused on the connection. */
  count: number;
  calm: boolean;
}

/** The same server twice: with what is under test, or with the parser alone. */
function newServer(watching: boolean): Watched {
  const state: Watched = {
    count: 0,
    calm: false,
    server: createServer((request, response) => {
      response.sendDate = false;
      if (watching) sockets.handedOver(request, response);
      if (isBusy(request.url)) {
        response.writeHead(503, ['n', '1', 'content-length', '4']).end('busy');
        if (watching) sockets.watch(response);
        return;
      }
      const body: Buffer[] = [];
      request.on('data', (chunk: Buffer) => body.push(chunk));
      request.on('end', () => {
        const text = `${request.method} ${request.url} ${Buffer.concat(body).toString('latin1')}`;
        response.end(text);
      });
    }),
  };
  const sockets = createSocketRefusals({
    isCalm: () => state.calm,
    refusalOf({ method, url }) {
      if (!isBusy(url) || method === 'HEAD') return null;
      state.count++;
      return `${REFUSED}${KEPT}\r\nbusy`;
    },
  });
  return state;
}

/** Told by Node where it answers by itself; the same streams may be answered in different seconds. */
const DATE = /^Date: .*\r\n/gm;

/** A connection whose pieces arrive as they were sent. */
function connect({ server }: Watched): { readonly socket: Duplex; readonly heard: () => string } {
  const [socket, far] = duplexPair();
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  far.on('error', () => undefined);
  server.emit('connection', far);
  return { socket, heard: () => text.replace(DATE, '') };
}

const open: Duplex[] = [];
afterEach(() => open.splice(0).forEach((socket) => socket.destroy()));

const busy = 'POST /busy HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}';
const free = 'POST /free HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}';
const SETTLED = 12;

async function tell(watched: Watched, pieces: readonly string[]) {
  const { socket, heard } = connect(watched);
  open.push(socket);
  const before = watched.count;
  for (const piece of pieces) {
    if (socket.writable) socket.write(piece);
    for (let count = 0; count < SETTLED; count++) await turn();
  }
  return { heard: heard(), onSocket: watched.count - before };
}

describe('on a connection', () => {
  it.each<[string, string[], number]>([
    ['the third in a row', [busy, busy, busy], 1],
    ['many', [busy, busy, busy, busy, busy], 3],
    ['after one who was served', [busy, free, busy], 1],
    [
      'not before the parser was seen to be done',
      [busy, 'GET /free HTTP/1.1\r\nhost: x\r\n', '\r\n', busy],
      0,
    ],
    ['not where two come at once', [busy, busy, busy + busy], 0],
    ['not where a part comes', [busy, busy, busy.slice(0, -1), '}'], 0],
    ['not HEAD', [busy, busy, 'HEAD /busy HTTP/1.1\r\nhost: x\r\n\r\n'], 0],
    ['not whoever ends the connection', [busy, busy, busy.replace('host', 'connection: close\r\nhost')], 0],
    ['again after a piece that was not plain', [busy, busy, busy + busy, busy, busy], 1],
  ])('%s', async (_, pieces, onSocket) => {
    const [watched, alone] = [newServer(true), newServer(false)];
    const told = await tell(watched, pieces);
    expect(told.onSocket).toBe(onSocket);
    expect(told.heard).toBe((await tell(alone, pieces)).heard);
  });

  it('does not answer a header that looks like a request', async () => {
    const watched = newServer(true);
    const whole = 'POST /busy HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n';
    const { heard, onSocket } = await tell(watched, [
      busy,
      busy,
      'GET /free HTTP/1.1\r\nhost: y\r\nx: ',
      whole.replace('host: x\r\n', ''),
      whole,
    ]);
    // Two that were refused, the one with the odd header, and the last.
    expect(heard.split('HTTP/1.1 ').map((answer) => answer.slice(0, 3))).toEqual([
      '',
      '503',
      '503',
      '200',
      '503',
    ]);
    expect(onSocket).toBe(0);
  });

  /** The parser reads the head that arrives as the end of a body, and then what looked like a body as a request. */
  it.each([
    ['nothing else', ''],
    ['a request of its own', 'GET /free HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['one with other fields', 'POST /busy HTTP/1.1\r\nhost: y\r\ncontent-length: 0\r\n\r\n'],
    ['one with fewer fields', 'POST /busy HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['one at another address', 'POST /free HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'],
    ['itself again', null],
  ])('does not answer a body that looks like a request, with %s in it', async (_, inner) => {
    const rest = 'GET /free HTTP/1.1\r\nhost: x\r\ny: ';
    const headWith = (length: number) =>
      `POST /busy HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;
    const own = headWith(99);
    const within = (inner ?? own) + rest.padEnd(99 - (inner ?? own).length, 'z');
    expect(within).toHaveLength(99);
    const before = `POST /free HTTP/1.1\r\nhost: x\r\ncontent-length: ${own.length}\r\n\r\n`;
    const pieces = [busy, busy, before, own + within, busy, busy, busy];
    const [watched, alone] = [newServer(true), newServer(false)];
    const told = await tell(watched, pieces);
    expect(told.heard).toBe((await tell(alone, pieces)).heard);
    expect(told.heard).toContain(`POST /free ${own}`);
  });

  it('waits for the answer before its own', async () => {
    let release = (): void => undefined;
    const sockets = createSocketRefusals({ isCalm: () => false, refusalOf: () => 'never' });
    const seen: string[] = [];
    const server = createServer((request, response) => {
      sockets.handedOver(request, response);
      seen.push(request.url ?? '');
      if (request.url === '/slow') release = () => void response.end('slow');
      else response.end('refused', () => undefined);
      if (request.url === '/first') sockets.watch(response);
    });
    const { socket, heard } = connect({ server, count: 0, calm: false });
    open.push(socket);
    for (const url of ['/first', '/slow', '/next']) {
      socket.write(`GET ${url} HTTP/1.1\r\nhost: x\r\n\r\n`);
      for (let count = 0; count < SETTLED; count++) await turn();
    }
    // `/next` came while `/slow` was under way: it went to the parser too, and is not answered out of turn.
    expect([seen, heard()]).toEqual([['/first', '/slow', '/next'], expect.not.stringContaining('never')]);
    release();
    for (let count = 0; count < SETTLED; count++) await turn();
    expect(heard()).toMatch(/refused[^]*slow[^]*refused/);
  });

  it('leaves whoever does not read his answers to the server, which stops reading what he sends', async () => {
    const watched = newServer(true);
    const [socket, far] = duplexPair();
    open.push(socket);
    watched.server.emit('connection', far);
    for (let count = 0; count < 3000; count++) {
      socket.write(busy);
      await turn();
    }
    const answers = far.readableLength + far.writableLength + socket.readableLength;
    expect([watched.count > 0, answers < 500_000, far.isPaused()]).toEqual([true, true, true]);
  });

  it('ends with an answer when it has been calm', async () => {
    const watched = newServer(true);
    const { socket, heard } = connect(watched);
    open.push(socket);
    const send = async (text: string) => {
      socket.write(text);
      for (let count = 0; count < SETTLED; count++) await turn();
    };
    await send(busy);
    await send(free);
    expect(heard()).not.toContain('close');
    watched.calm = true;
    const closed = once(socket, 'end');
    await send(free);
    await closed;
    expect(heard().toLowerCase()).toContain('connection: close\r\n');
  });
});

/** Whatever is sent, in whatever pieces, is answered byte for byte as by the parser alone. */
it('answers every stream as the parser alone would', async () => {
  const [watched, alone] = [newServer(true), newServer(false)];
  let onSocket = 0;
  const part = fc.constantFrom(
    busy,
    busy,
    busy,
    free,
    'GET /busy HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /busy HTTP/1.1\r\n\r\n',
    'POST /busy HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}',
    'POST /busy HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
    'POST /busy HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n',
    'POST /busy HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n',
    '2\r\n{}\r\n0\r\n\r\n',
    '{}',
    'POST /busy HTTP/1.1\r\n',
    'GET /free HTTP/1.1\r\n',
    'host: x\r\n',
    'host: y\r\n',
    'x: ',
    'content-length: 0\r\n',
    'content-length: 56\r\n',
    'content-length : 2\r\n',
    ' folded\r\n',
    '\r\n',
    '\n',
    '\r\n\r\n',
  );
  const piece = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.constant(busy), piece), { maxLength: 7 }), async (pieces) => {
      const all = [busy, busy, ...pieces];
      const told = await tell(watched, all);
      onSocket += told.onSocket;
      expect(told.heard).toBe((await tell(alone, all)).heard);
    }),
    { numRuns: 400 },
  );
  expect(onSocket).toBeGreaterThan(0);
}, 60_000);
