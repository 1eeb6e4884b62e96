import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * A proxy to a PostgreSQL server on which the connections of one application can become silent, as when a machine
 * between the two is lost: no connection is closed and no data arrives. A silent connection stays so; `heal` lets new
 * ones through.
 */
export interface SilentPostgres {
  readonly url: string;
  silence(): void;
  heal(): void;
  /** Failed attempts to connect since the silence began. */
  tried(): number;
  close(): Promise<void>;
}

/** `application`: the application_name, which is in the first packet of a connection without TLS. */
export async function silentPostgres(target: string, application: string): Promise<SilentPostgres> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const watched = new Set<{ silent: boolean }>();
  let silent = false;
  let tried = 0;

  const server = createServer((socket) => {
    const link = { silent: false };
    const upstream = connect(Number(port || 5432), hostname);
    let begun = false;
    socket.on('data', (bytes) => {
      if (!begun && bytes.includes(application)) {
        watched.add(link);
        link.silent = silent;
        if (silent) tried += 1;
      }
      begun = true;
      if (!link.silent) upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!link.silent) socket.write(bytes);
    });
    for (const [item, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(item);
      item.on('error', () => undefined);
      item.on('close', () => {
        sockets.delete(item);
        watched.delete(link);
        if (!link.silent) other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    silence() {
      silent = true;
      tried = 0;
      for (const link of watched) link.silent = true;
    },
    heal: () => void (silent = false),
    tried: () => tried,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
