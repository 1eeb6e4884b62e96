import express, { type ErrorRequestHandler } from 'express';
import { guard, principalOf } from '../../../src/express.ts';
import { contextOf } from './orders.ts';
import { listen, type StartServer } from './servers.ts';

export const expressServer: StartServer = async (doorward, change) => {
  const ran: string[] = [];
  const errors: unknown[] = [];
  const { requirePermission, requireSignedIn } = guard(doorward);
  const app = express();
  const context = ({ params }: express.Request<{ id: string }>) => contextOf(params.id);
  app.get('/orders/:id', requirePermission('order:read', { context }), (request, response) => {
    ran.push(request.path);
    response.json({ id: request.params.id, userId: principalOf(request).userId });
  });
  app.post('/orders/:id/approve', requirePermission('order:approve'), (request, response) => {
    ran.push(request.path);
    response.json({});
  });
  app.get('/me', requireSignedIn(), (request, response) => {
    ran.push(request.path);
    response.json({ userId: request.principal?.userId });
  });
  app.get('/session', requireSignedIn({ types: ['session'] }), (request, response) => {
    ran.push(request.path);
    response.json({ type: request.principal?.type });
  });
  const byUser = requirePermission('order:read', {
    who: (request) => ({ userId: request.get('x-user') ?? '' }),
  });
  app.get('/user', byUser, (request, response) => {
    ran.push(request.path);
    response.json({});
  });
  app.post('/tags', requireSignedIn(), async (request, response) => {
    ran.push(request.path);
    await change();
    response.json({});
  });
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    errors.push(error);
    response.status(500).json({ failed: true });
  };
  app.use(onError);
  return listen(app, { ran, errors });
};
