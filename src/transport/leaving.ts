import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { whenEnded } from './ended.ts';

/**
 * How the server leaves. What arrived before it was told to has to be answered, and of that not everything is read yet: a
 * request may lie in the kernel on a connection that looks idle, or on one that is not even accepted. So for a moment it
 * goes on as before, but tells whoever is answered that his connection ends; then it takes no more connections and
 * closes those that are idle.
 *
 * Node takes a connection that has sent nothing yet for a busy one, and waits for it until its time-out; clients open
 * such ones ahead of need. So requests are counted, and once each is answered and no further one has come for a moment,
 * what is still open is closed. They are counted where Node hands them over: a hook does not see those that an earlier
 * one, or the router, answers.
 */
const MOMENT_MS = 50;

/** Answers whether the server is leaving, and so whoever is answered should know that his connection ends. */
export function createLeaving(app: FastifyInstance): () => boolean {
  let leaving = false;
  let underWay = 0;
  let begun = 0;
  let timer: NodeJS.Timeout | undefined;
  const ended = (): void => void underWay--;
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    underWay++;
    begun++;
    whenEnded(request, response, ended);
  });

  function closeWhenQuiet(): void {
    const seen = begun;
    timer = setTimeout(() => {
      onceRead(() => {
        if (underWay === 0 && begun === seen) app.server.closeAllConnections();
        if (timer) closeWhenQuiet();
      });
    }, MOMENT_MS);
  }

  app.addHook('preClose', (done) => {
    leaving = true;
    if (!app.server.listening) return done();
    setTimeout(() => {
      onceRead(() => {
        closeWhenQuiet();
        done();
      });
    }, MOMENT_MS);
  });
  app.addHook('onClose', async () => {
    clearTimeout(timer);
    timer = undefined;
  });
  return () => leaving;
}

/** When what has arrived by now is read: each turn of the loop does so before it comes here, the first one perhaps not. */
const onceRead = (work: () => void): void => void setImmediate(() => setImmediate(work));
