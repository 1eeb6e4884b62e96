import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Doorward } from '../../../src/client/doorward.ts';

/** An application behind the guards of one framework, on a real socket. */
export interface GuardedServer {
  readonly url: string;
  /** Paths for which a route has run. */
  readonly ran: string[];
  /** What the error path of the framework has received. */
  readonly errors: unknown[];
  readonly close: () => Promise<void>;
}

/**
 * Every application has the same routes: `GET /orders/:id` needs `order:read` and answers the principal,
 * `POST /orders/:id/approve` needs `order:approve`, `GET /me` a valid token, `GET /session` a session of the service,
 * `GET /user` names a user by the header `x-user`, `POST /tags` makes a change in the service.
 */
export type StartServer = (doorward: Doorward, change: () => Promise<unknown>) => Promise<GuardedServer>;

export async function listen(
  listener: RequestListener,
  rest: Pick<GuardedServer, 'ran' | 'errors'>,
): Promise<GuardedServer> {
  const server: Server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    ...rest,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
