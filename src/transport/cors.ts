import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/**
 * Which scripts of other origins may call, and how (conventions §12). An OPTIONS that is no preflight is a method that no
 * address has; a preflight is answered here, so it gets the headers of every answer here too.
 */
export async function registerCors(
  app: FastifyInstance,
  origins: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.method !== 'OPTIONS') return done();
    const { origin, 'access-control-request-method': method } = request.headers;
    reply.header('x-request-id', request.id).headers(headers);
    if (origin && method) done();
    else reply.callNotFound();
  });
  await app.register(fastifyCors, {
    origin: [...origins],
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders:
      'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Language, Idempotency-Replayed, X-Doorward-Revision',
  });
}
