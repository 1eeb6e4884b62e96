import { webhookHandler, type Doorward } from '@doorward/node';
import { guard, principalOf } from '@doorward/node/express';
import express, { type Express, type Request } from 'express';
import { orders, reopenOrdersApprovedBy } from './store.ts';

/** Doorward decides who may do what; this service says what each question is about. */
export function ordersService(doorward: Doorward, webhookSecret: string, machineRoleId: string): Express {
  const { requirePermission, requireSignedIn } = guard(doorward);
  const context = ({ params }: Request<{ id: string }>) => ({ resource: orders.get(params.id) });
  const app = express();

  app.get('/orders', requireSignedIn(), async (request, response) => {
    const all = [...orders.values()];
    const questions = all.map((resource) => ({ permission: 'order:read', context: { resource } }));
    const decisions = await doorward.checkMany(principalOf(request), questions, { address: request.ip });
    response.json(all.filter((_order, index) => decisions[index]?.authorized));
  });

  app.get('/orders/:id', requirePermission('order:read', { context }), (request, response) => {
    response.json(orders.get(request.params.id));
  });

  app.post('/orders/:id/approve', requirePermission('order:approve', { context }), (request, response) => {
    const order = orders.get(request.params.id);
    if (order) order.approvedBy = principalOf(request).userId;
    response.json(order);
  });

  app.post('/machines', requirePermission('order:automate'), async (_request, response) => {
    const key = await doorward.api.createApiKey({ name: 'machine', roleId: machineRoleId });
    response.status(201).json({ clientId: key.clientId, clientSecret: key.clientSecret });
  });

  const webhook = webhookHandler({
    secret: webhookSecret,
    on: { 'project.user_removed': ({ data }) => reopenOrdersApprovedBy(data.userId) },
  });
  app.post('/webhooks', webhook);
  return app;
}
