import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../../../../scripts/service.ts';
import type { Fetch } from '../../../src/contracts/types.ts';

/** The way of a client to the service, which tests break: questions then end at another address. */
export interface FaultyNetwork {
  readonly fetch: Fetch;
  /** Questions get no connection. */
  readonly refuse: () => Promise<void>;
  /** Questions are answered by this. */
  readonly answer: (listener: RequestListener) => void;
  readonly repair: () => void;
  /** Connections on which a question has arrived, and which its client has closed since. */
  readonly closedByClient: () => number;
  readonly close: () => Promise<void>;
}

export async function faultyNetwork(): Promise<FaultyNetwork> {
  let target: string | null = null;
  let listener: RequestListener = () => undefined;
  let closedByClient = 0;
  const server: Server = createServer((request, response) => {
    request.resume();
    response.once('close', () => {
      if (!response.writableFinished) closedByClient += 1;
    });
    listener(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;

  return {
    fetch: (input, init) => fetch(target === null ? input : input.replace(/^http:\/\/[^/]+/, target), init),
    refuse: async () => void (target = `http://127.0.0.1:${await freePort()}`),
    answer(next) {
      listener = next;
      target = `http://127.0.0.1:${port}`;
    },
    repair: () => void (target = null),
    closedByClient: () => closedByClient,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
