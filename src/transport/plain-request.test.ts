import fc from 'fast-check';
import { createServer, type IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readPlainRequest } from './plain-request.ts';

const read = (text: string) => readPlainRequest(Buffer.from(text, 'latin1'));
const request = (fields: string, body = '', line = 'POST /api/roles?x=1 HTTP/1.1') =>
  `${line}\r\n${fields}\r\n${body}`;

it('reads what almost every client sends', () => {
  const fields = 'Host: x:1\r\nX-Request-Id:  abc \r\naccept-language:de\r\nContent-Length: 2\r\nA: b\tc\r\n';
  expect(read(request(fields, '{}'))).toEqual({
    method: 'POST',
    url: '/api/roles?x=1',
    rawHeaders: 'Host,x:1,X-Request-Id,abc,accept-language,de,Content-Length,2,A,b\tc'.split(','),
    headers: { host: 'x:1', 'x-request-id': 'abc', 'accept-language': 'de', 'content-length': '2' },
  });
  expect(read(request('host: x\r\nconnection: Keep-Alive\r\n'))?.method).toBe('POST');
});

it.each([
  ['nothing', ''],
  ['a head that goes on', 'POST /a HTTP/1.1\r\nhost: x\r\n'],
  ['a body that goes on', request('host: x\r\ncontent-length: 3\r\n', '{}')],
  ['two of them', request('host: x\r\ncontent-length: 2\r\n', '{}').repeat(2)],
  ['a body of no length', request('host: x\r\n', '{}')],
  ['two lengths', request('host: x\r\ncontent-length: 2\r\ncontent-length: 2\r\n', '{}')],
  ['a length that is none', request('host: x\r\ncontent-length: +2\r\n', '{}')],
  ['a length in hexadecimal', request('host: x\r\ncontent-length: 0x2\r\n', '{}')],
  ['a list of lengths', request('host: x\r\ncontent-length: 2, 2\r\n', '{}')],
  ['chunks', request('host: x\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n')],
  ['length and chunks', request('host: x\r\ncontent-length: 2\r\nTransfer-Encoding: chunked\r\n', '{}')],
  ['who expects to be asked', request('host: x\r\nexpect: 100-continue\r\n')],
  ['another protocol', request('host: x\r\nupgrade: websocket\r\n')],
  ['who goes away', request('host: x\r\nconnection: close\r\n')],
  ['who tells a proxy to', request('host: x\r\nproxy-connection: close\r\n')],
  ['no host', request('a: b\r\n')],
  ['two hosts', request('host: x\r\nhost: x\r\n')],
  ['two ids', request('host: x\r\nx-request-id: a\r\nX-Request-ID: b\r\n')],
  ['a folded line', request('host: x\r\na: b\r\n c\r\n')],
  ['a space before the colon', request('host : x\r\n')],
  ['no colon', request('host: x\r\na\r\n')],
  ['a line without its return', request('host: x\na: b\r\n')],
  ['a return within', request('host: x\r\na: b\rc: d\r\n')],
  ['a zero byte', request('host: x\r\na: b\0\r\n')],
  ['a byte beyond ASCII', request('host: x\r\na: \xe9\r\n')],
  ['an older version', request('host: x\r\n', '', 'GET / HTTP/1.0')],
  ['a newer version', request('host: x\r\n', '', 'PRI * HTTP/2.0')],
  ['a whole address', request('host: x\r\n', '', 'GET http://x/ HTTP/1.1')],
  ['a method in lower case', request('host: x\r\n', '', 'get / HTTP/1.1')],
  ['two spaces', request('host: x\r\n', '', 'GET  / HTTP/1.1')],
  ['a line before it', `\r\n${request('host: x\r\n')}`],
  ['a long head', request(`host: x\r\na: ${'b'.repeat(9000)}\r\n`)],
])('leaves %s to the parser', (_, text) => {
  expect(read(text)).toBeNull();
});

/** What Node's own parser makes of it. */
async function parsed(text: string): Promise<IncomingMessage[]> {
  const requests: IncomingMessage[] = [];
  const server = createServer((one, response) => {
    requests.push(one);
    response.end();
  });
  const [socket, far] = duplexPair();
  socket.on('error', () => undefined);
  far.on('error', () => undefined);
  server.emit('connection', far);
  socket.write(text, 'latin1');
  for (let count = 0; count < 4; count++) await turn();
  socket.destroy();
  return requests;
}

it('reads nothing otherwise than the parser does', async () => {
  let same = 0;
  const name = fc.constantFrom(
    'host',
    'Host',
    'content-length',
    'x-request-id',
    'a',
    'connection',
    'te',
    'b ',
    '',
  );
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('x', '0', '2', '02', 'keep-alive', ' 2', '2 ', '\t2', '') },
    fc.string({ maxLength: 4 }),
  );
  const odd = fc.tuple(
    name,
    fc.constantFrom(':', ': ', ' :', ''),
    value,
    fc.constantFrom('\r\n', '\r\n', '\n'),
  );
  const usual = fc.constantFrom('accept: */*\r\n', 'a:b \r\n', 'connection: keep-alive\r\n', 'B: \t c\r\n');
  const line = fc.oneof(
    odd.map((parts) => parts.join('')),
    { weight: 6, arbitrary: usual },
  );
  const often = <T>(usual: T, ...others: T[]) => fc.constantFrom(usual, usual, usual, ...others);
  const text = fc
    .tuple(
      often('POST', 'GET', 'PUT', 'DELETE', 'FETCH', 'post'),
      fc.webPath().map((path) => path || '/'),
      often(' HTTP/1.1\r\n', ' HTTP/1.1\n', ' HTTP/1.0\r\n'),
      fc.array(line, { maxLength: 4 }),
      often('host: x\r\ncontent-length: 2\r\n', 'host: x\r\n', ''),
      often('{}', '', '{}\r\n', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
    )
    .map(
      ([method, url, version, lines, own, body]) =>
        `${method} ${url}${version}${lines.join('')}${own}\r\n${body}`,
    );
  await fc.assert(
    fc.asyncProperty(text, async (sent) => {
      const ours = read(sent);
      if (!ours) return;
      const theirs = await parsed(sent);
      // It may find more to refuse than we do: then it hands nothing over, and there is nothing to mistake.
      if (theirs.length === 0) return;
      same++;
      expect(
        theirs.map(({ method, url, rawHeaders, complete }) => ({ method, url, rawHeaders, complete })),
      ).toEqual([{ method: ours.method, url: ours.url, rawHeaders: ours.rawHeaders, complete: true }]);
    }),
    { numRuns: 2000 },
  );
  expect(same).toBeGreaterThan(100);
});
