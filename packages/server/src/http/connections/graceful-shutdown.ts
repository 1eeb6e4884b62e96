import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onResponseClosed } from './response-end.ts';

const QUIET_MS = 50;

/**
 * Registers a graceful shutdown: requests that arrived before the shutdown still get their response. Returns a function
 * that says whether the server is shutting down, so that responses must close their connection.
 *
 * Some requests haven't been read yet: they are in kernel buffers, on a connection that looks idle or isn't even
 * accepted. So for a moment the server continues, but responds with `Connection: close`. Then it stops accepting
 * connections and closes idle ones.
 *
 * Node treats a connection that has sent nothing as busy and waits until it times out, and clients open such
 * connections in advance. So this module counts requests, and closes all connections once every request has its
 * response and no new one has arrived for a moment. It counts on Node's `request` event, because hooks don't run for
 * requests that the router or an earlier hook handles.
 */
export function createGracefulShutdown(app: FastifyInstance): () => boolean {
  let isShuttingDown = false;
  let pending = 0;
  let received = 0;
  let timer: NodeJS.Timeout | undefined;
  const onClosed = (): void => void pending--;
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    pending++;
    received++;
    onResponseClosed(request, response, onClosed);
  });

  function closeWhenIdle(): void {
    const receivedBefore = received;
    timer = setTimeout(() => {
      afterPendingReads(() => {
        if (pending === 0 && received === receivedBefore) app.server.closeAllConnections();
        if (timer) closeWhenIdle();
      });
    }, QUIET_MS);
  }

  app.addHook('preClose', (done) => {
    isShuttingDown = true;
    if (!app.server.listening) return done();
    setTimeout(() => {
      afterPendingReads(() => {
        closeWhenIdle();
        done();
      });
    }, QUIET_MS);
  });
  app.addHook('onClose', async () => {
    clearTimeout(timer);
    timer = undefined;
  });
  return () => isShuttingDown;
}

/**
 * Runs `work` after all data that has arrived is read. Two `setImmediate`, because the event loop may call the first
 * one before it reads.
 */
const afterPendingReads = (work: () => void): void => void setImmediate(() => setImmediate(work));
