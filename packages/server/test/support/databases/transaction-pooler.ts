import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A pooler in transaction mode in front of a PostgreSQL server without passwords: two connections to the server serve
 * all clients, each transaction on a free one. Of the protocol it knows where a message ends, and that ReadyForQuery
 * says whether a transaction is open.
 */
interface TransactionPooler {
  readonly url: string;
  close(): Promise<void>;
}

interface Backend {
  readonly socket: Socket;
  client: Client | null;
}
interface Client {
  readonly socket: Socket;
  readonly waiting: Buffer[];
  backend: Backend | null;
}

const READY = 0x5a;
const TERMINATE = 0x58;
const IDLE = 0x49;

export async function transactionPooler(target: string): Promise<TransactionPooler> {
  const { hostname, port } = new URL(target);
  const idle: Backend[] = [];
  const waiting: Client[] = [];
  const sockets = new Set<Socket>();
  let greeting: Promise<Buffer> | null = null;

  /** Sends what the server sends at the start of a session, until it is ready. */
  async function open(startup: Buffer): Promise<Buffer> {
    const socket = track(connect(Number(port || 5432), hostname));
    socket.write(startup);
    const messages = messagesOf(socket);
    const said: Buffer[] = [];
    for (let ready = false; !ready;) {
      const { value } = await messages.next();
      said.push(value as Buffer);
      ready = value?.[0] === READY;
    }
    const backend: Backend = { socket, client: null };
    idle.push(backend);
    void (async () => {
      for await (const message of messages) {
        const { client } = backend;
        client?.socket.write(message);
        if (message[0] !== READY || message[5] !== IDLE || !client) continue;
        client.backend = backend.client = null;
        idle.push(backend);
        serve();
      }
    })().catch(() => undefined);
    return Buffer.concat(said);
  }

  /** Those that have been idle for longest first. */
  function serve(): void {
    while (idle.length > 0) {
      const client = waiting.shift();
      if (!client) return;
      const backend = idle.shift() as Backend;
      backend.client = client;
      client.backend = backend;
      for (const bytes of client.waiting.splice(0)) backend.socket.write(bytes);
    }
  }

  function track(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  }

  const server = createServer((socket) => {
    track(socket);
    const client: Client = { socket, waiting: [], backend: null };
    let begun = false;
    socket.on('data', (bytes) => {
      if (!begun) {
        begun = true;
        greeting ??= open(bytes).then((said) => open(bytes).then(() => said));
        return void greeting.then((said) => socket.write(said));
      }
      if (bytes[0] === TERMINATE) return void socket.end();
      if (client.backend) return void client.backend.socket.write(bytes);
      client.waiting.push(bytes);
      if (!waiting.includes(client)) waiting.push(client);
      serve();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Messages of the server: a letter, a length of four bytes that includes itself, the content. */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = rest.readUInt32BE(1) + 1;
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
  }
  return undefined;
}
