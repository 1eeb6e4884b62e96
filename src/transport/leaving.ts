import type { FastifyInstance } from 'fastify';

/**
 * How the server leaves. Node takes a connection that has sent nothing yet for a busy one, and waits for it until its
 * time-out; clients open such ones ahead of need. So requests are counted, and once each is answered and no further one
 * has come for a moment, what is still open is closed.
 */
const MOMENT_MS = 50;

export interface Leaving {
  /** Whether whoever is answered should know that this connection ends. */
  readonly isLeaving: () => boolean;
  readonly begun: () => void;
  readonly answered: () => void;
}

export function createLeaving(app: FastifyInstance): Leaving {
  let underWay = 0;
  let begun = 0;
  let timer: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    let seen = begun;
    timer = setInterval(() => {
      if (underWay === 0 && begun === seen) app.server.closeAllConnections();
      seen = begun;
    }, MOMENT_MS);
    done();
  });
  app.addHook('onClose', async () => clearInterval(timer));
  return {
    isLeaving: () => timer !== undefined,
    begun() {
      underWay++;
      begun++;
    },
    answered: () => void underWay--,
  };
}
