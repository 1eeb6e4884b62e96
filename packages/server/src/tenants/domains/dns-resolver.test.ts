import { createSocket, type Socket } from 'node:dgram';
import { afterEach, expect, it } from 'vitest';
import { createDnsResolver } from './dns-resolver.ts';

/** The resolver against a name server on this machine, which answers as each test says. */
const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.close()));

const OK = 0;
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

/** Answers each query with this response code and these records, each in parts. */
async function nameServer(code: number, records: readonly (readonly string[])[] = []): Promise<string> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  socket.on('message', (query, { port, address }) => {
    // The question alone: name, type and class, without what the client offers for longer answers.
    const end = query.indexOf(0, 12) + 5;
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    const answers = records.map((parts) => {
      const texts = Buffer.concat(parts.map((text) => Buffer.from([text.length, ...Buffer.from(text)])));
      const fixed = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, texts.length >> 8, texts.length & 255]);
      return Buffer.concat([fixed, texts]);
    });
    socket.send(Buffer.concat([head, ...answers]), port, address);
  });
  await new Promise<void>((ready) => socket.bind(0, '127.0.0.1', ready));
  return `127.0.0.1:${socket.address().port}`;
}

const name = '_doorward.example.test';

it('reads every record with the name, a long one from its parts', async () => {
  const resolvers = [await nameServer(OK, [['v=spf1 -all'], ['doorward-', 'domain=x']])];
  expect(await createDnsResolver({ resolvers }).texts(name)).toEqual(['v=spf1 -all', 'doorward-domain=x']);
});

it('reads none where there is no such name, and no such record', async () => {
  for (const code of [OK, NO_SUCH_NAME]) {
    expect(await createDnsResolver({ resolvers: [await nameServer(code)] }).texts(name)).toEqual([]);
  }
});

it('says so when the name server cannot answer', async () => {
  const resolvers = [await nameServer(SERVER_FAILURE)];
  await expect(createDnsResolver({ resolvers }).texts(name)).rejects.toThrow();
});
