import { Hono } from 'hono';
import { guard } from '../../../src/hono.ts';
import { contextOf } from './orders.ts';
import { listen, type StartServer } from './servers.ts';
import { webListener } from './web-listener.ts';

export const honoServer: StartServer = async (doorward, change) => {
  const ran: string[] = [];
  const errors: unknown[] = [];
  const { requirePermission, requireSignedIn } = guard(doorward);
  const app = new Hono();
  app.onError((error, c) => {
    errors.push(error);
    return c.json({ failed: true }, 500);
  });
  const read = requirePermission('order:read', { context: (c) => contextOf(c.req.param('id')) });
  app.get('/orders/:id', read, (c) => {
    ran.push(c.req.path);
    return c.json({ id: c.req.param('id'), userId: c.get('principal').userId });
  });
  app.post('/orders/:id/approve', requirePermission('order:approve'), (c) => {
    ran.push(c.req.path);
    return c.json({});
  });
  app.get('/me', requireSignedIn(), (c) => {
    ran.push(c.req.path);
    return c.json({ userId: c.get('principal').userId });
  });
  app.get('/session', requireSignedIn({ types: ['session'] }), (c) => {
    ran.push(c.req.path);
    return c.json({ type: c.get('principal').type });
  });
  const byUser = requirePermission('order:read', {
    who: (c) => ({ userId: c.req.header('x-user') ?? '' }),
  });
  app.get('/user', byUser, (c) => {
    ran.push(c.req.path);
    return c.json({});
  });
  app.post('/tags', requireSignedIn(), async (c) => {
    ran.push(c.req.path);
    await change();
    return c.json({});
  });
  return listen(
    webListener(async (request, env) => app.fetch(request, env)),
    { ran, errors },
  );
};
