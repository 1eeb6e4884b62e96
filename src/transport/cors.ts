import fastifyCors, { type FastifyCorsOptions } from '@fastify/cors';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';

/**
 * Which scripts of other origins may ask, and how (conventions §12). An OPTIONS that is no preflight is a method that no
 * address has; a preflight is answered here, so it gets the headers of every answer here too.
 *
 * Who names no origin is no page of another site: he is told nothing of what pages may do, and the library, which would
 * look at the route of each request, does not see him. So `Vary: Origin` has to be among the headers of every answer.
 */
export async function registerCors(
  app: FastifyInstance,
  origins: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const options: FastifyCorsOptions = {
    origin: (_origin, decide) => decide(null, [...origins]),
    credentials: true,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders:
      'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Language, Idempotency-Replayed, X-Doorward-Revision',
  };
  const addHook = (name: 'onRequest', hook: onRequestHookHandler): FastifyInstance =>
    app.addHook(name, function (request, reply, done) {
      const { origin, 'access-control-request-method': method } = request.headers;
      const isOptions = request.method === 'OPTIONS';
      if (isOptions) reply.header('x-request-id', request.id).headers(headers);
      if (isOptions && !(origin && method)) reply.callNotFound();
      else if (origin === undefined) done();
      else hook.call(this, request, reply, done);
    });
  await new Promise<void>((registered, failed) => {
    fastifyCors(Object.create(app, { addHook: { value: addHook } }) as FastifyInstance, options, (error) =>
      error ? failed(error) : registered(),
    );
  });
}
