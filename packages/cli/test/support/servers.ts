import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The loopback servers of a test file. */
export class Servers {
  readonly #servers: Server[] = [];

  async listen(answer: RequestListener): Promise<{ readonly server: Server; readonly url: string }> {
    const server = createServer(answer);
    this.#servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }

  readonly close = (): void => {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
  };
}
