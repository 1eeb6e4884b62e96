import fastify, { type FastifyRequest } from 'fastify';
import { guard, principalOf } from '../../../src/fastify.ts';
import { contextOf } from './orders.ts';
import type { StartServer } from './servers.ts';

export const fastifyServer: StartServer = async (doorward, change) => {
  const ran: string[] = [];
  const errors: unknown[] = [];
  const { requirePermission, requireSignedIn } = guard(doorward);
  const app = fastify({ forceCloseConnections: true });
  app.setErrorHandler((error, _request, reply) => {
    errors.push(error);
    return reply.code(500).send({ failed: true });
  });
  const read = requirePermission('order:read', { context: ({ params }) => contextOf(params['id']) });
  app.get<{ Params: { id: string } }>('/orders/:id', { preHandler: read }, async (request) => {
    ran.push(request.url);
    return { id: request.params.id, userId: principalOf(request).userId };
  });
  app.post('/orders/:id/approve', { preHandler: requirePermission('order:approve') }, async (request) => {
    ran.push(request.url);
    return {};
  });
  app.get('/me', { preHandler: requireSignedIn() }, async (request) => {
    ran.push(request.url);
    return { userId: request.principal?.userId };
  });
  app.get('/session', { preHandler: requireSignedIn({ types: ['session'] }) }, async (request) => {
    ran.push(request.url);
    return { type: request.principal?.type };
  });
  const who = ({ headers }: FastifyRequest) => ({ userId: String(headers['x-user'] ?? '') });
  app.get('/user', { preHandler: requirePermission('order:read', { who }) }, async (request) => {
    ran.push(request.url);
    return {};
  });
  app.post('/tags', { preHandler: [requireSignedIn()] }, async (request) => {
    ran.push(request.url);
    await change();
    return {};
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, ran, errors, close: () => app.close() };
};
