import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { whenEnded } from './ended.ts';

/**
 * How the server leaves. Node takes a connection that has sent nothing yet for a busy one, and waits for it until its
 * time-out; clients open such ones ahead of need. So requests are counted, and once each is answered and no further one
 * has come for a moment, what is still open is closed. They are counted where Node hands them over: a hook does not see
 * those that an earlier one, or the router, answers.
 */
const MOMENT_MS = 50;

/** Answers whether the server is leaving, and so whoever is answered should know that his connection ends. */
export function createLeaving(app: FastifyInstance): () => boolean {
  let underWay = 0;
  let begun = 0;
  let timer: NodeJS.Timeout | undefined;
  const ended = (): void => void underWay--;
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    underWay++;
    begun++;
    whenEnded(request, response, ended);
  });
  app.addHook('preClose', (done) => {
    let seen = begun;
    timer = setInterval(() => {
      if (underWay === 0 && begun === seen) app.server.closeAllConnections();
      seen = begun;
    }, MOMENT_MS);
    done();
  });
  app.addHook('onClose', async () => clearInterval(timer));
  return () => timer !== undefined;
}
