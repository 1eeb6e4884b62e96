import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { ordersService } from '../../../../examples/orders/src/orders.ts';
import { setUp, type Environment } from '../../../../examples/orders/src/set-up.ts';
import { createClient } from '../../src/client.ts';
import { createDoorward } from '../../src/node.ts';
import { parseScope } from '../../src/options/scope.ts';
import { serveApp, type ServiceUnderTest } from '../support/service.ts';

/** examples/orders with the real service: what its read-me promises. */
let service: ServiceUnderTest;
let environment: Environment;
let orders: Server;
let url: string;

beforeAll(async () => {
  service = await serveApp();
  const owner = await service.app.person();
  const user = createDoorward({ url: service.url, token: owner.token });
  environment = await setUp(user, owner.account.id, 'https://orders.example.com');
  const { DOORWARD_CLIENT_ID: clientId, DOORWARD_CLIENT_SECRET: clientSecret } = environment;
  const scope = parseScope(environment.DOORWARD_SCOPE);
  const doorward = createDoorward({ url: service.url, clientId, clientSecret, scope });
  orders = ordersService(doorward, environment.WEBHOOK_SECRET, environment.MACHINE_ROLE_ID).listen(
    0,
    '127.0.0.1',
  );
  await once(orders, 'listening');
  url = `http://127.0.0.1:${(orders.address() as AddressInfo).port}`;
});
afterAll(async () => {
  orders.close();
  await service.close();
});

const tokenOf = async (clientId: string, clientSecret: string): Promise<string> => {
  const scope = parseScope(environment.DOORWARD_SCOPE) as never;
  return (await createClient({ url: service.url }).api.exchangeApiKey({ clientId, clientSecret, scope }))
    .accessToken;
};
const send = async (method: string, path: string, token: string) => {
  const response = await fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: await response.json() };
};

it('decides by key, permission and order', async () => {
  const own = await tokenOf(environment.DOORWARD_CLIENT_ID, environment.DOORWARD_CLIENT_SECRET);
  const made = await send('POST', '/machines', own);
  expect(made).toMatchObject({ status: 201 });
  const { clientId, clientSecret } = made.body as { clientId: string; clientSecret: string };
  const machine = await tokenOf(clientId, clientSecret);

  const list = await send('GET', '/orders', machine);
  expect((list.body as { id: string }[]).map(({ id }) => id)).toEqual(['1', '2']);
  expect(await send('GET', '/orders/1', machine)).toMatchObject({ status: 200, body: { id: '1' } });
  expect(await send('GET', '/orders/3', machine)).toMatchObject({
    status: 403,
    body: { code: 'FORBIDDEN', reason: 'CONDITION_NOT_MET' },
  });
  expect(await send('GET', '/orders/4', machine)).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
  expect(await send('POST', '/orders/2/approve', machine)).toMatchObject({ status: 403 });
  expect(await send('POST', '/machines', machine)).toMatchObject({
    status: 403,
    body: { reason: 'NO_PERMISSION' },
  });
  expect(await send('GET', '/orders', 'x')).toMatchObject({ status: 401 });
});

it('reopens what a removed user has approved, after a webhook and not after a forged one', async () => {
  const token = await tokenOf(environment.DOORWARD_CLIENT_ID, environment.DOORWARD_CLIENT_SECRET);
  const approved = await send('POST', '/orders/1/approve', token);
  const { approvedBy: userId } = approved.body as { approvedBy: string };
  expect(userId).toMatch(/^[\da-f-]{36}$/);

  const event = { id: crypto.randomUUID(), type: 'project.user_removed', data: { userId } };
  const deliver = async (secret: string): Promise<number> => {
    const body = JSON.stringify(event);
    const at = new Date();
    const headers = {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(event.id, at, body),
    };
    return (await fetch(`${url}/webhooks`, { method: 'POST', headers, body })).status;
  };
  const approvedBy = async () =>
    ((await send('GET', '/orders/1', token)).body as { approvedBy: string | null }).approvedBy;

  expect(await deliver(`whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(400);
  expect(await approvedBy()).toBe(userId);
  expect(await deliver(environment.WEBHOOK_SECRET)).toBe(200);
  expect(await approvedBy()).toBeNull();
});
