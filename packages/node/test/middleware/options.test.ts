import express from 'express';
import fastify from 'fastify';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { guard, principalOf } from '../../src/express.ts';
import { guard as fastifyGuard } from '../../src/fastify.ts';
import { guard as honoGuard } from '../../src/hono.ts';
import { RequirePermission } from '../../src/nest.ts';
import { guard as nextGuard } from '../../src/next.ts';
import type { Doorward } from '../../src/client/doorward.ts';
import type { Permission } from '../../src/contracts/types.ts';
import { clientOf } from './support/client.ts';
import { contextOf } from './support/orders.ts';
import { listen, type GuardedServer } from './support/servers.ts';
import { openShop, type Shop } from './support/shop.ts';

/** The options of a route, and what only one framework has. */

let shop: Shop;
let doorward: Doorward;
const servers: GuardedServer[] = [];

beforeAll(async () => {
  shop = await openShop();
  doorward = clientOf(shop);
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
afterAll(() => shop.close());

const bearer = (token: keyof Shop['tokens']) => ({ authorization: `Bearer ${shop.tokens[token]}` });

/** An application of one route, which answers the principal. */
async function open(guarded: express.RequestHandler): Promise<string> {
  const app = express();
  app.get('/:id', guarded, (request, response) => void response.json(request.principal ?? null));
  const server = await listen(app, { ran: [], errors: [] });
  servers.push(server);
  return server.url;
}
const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(`${url}/1`, { headers })).status;

describe('options', () => {
  it('`token`: from another place, which then is the only one', async () => {
    const token = (request: express.Request) => request.get('x-token') ?? null;
    const url = await open(guard(doorward, { token }).requireSignedIn());
    expect(await statusOf(url, { 'x-token': shop.tokens.clerk })).toBe(200);
    expect(await statusOf(url, bearer('clerk'))).toBe(401);
  });

  it('`who`: a user of the application, or a token', async () => {
    const context = () => contextOf('1');
    const user = guard(doorward).requirePermission('order:read', {
      who: () => ({ userId: shop.owner.userId }),
      context,
    });
    expect(await statusOf(await open(user))).toBe(403);
    const token = guard(doorward).requirePermission('order:read', { who: () => shop.tokens.clerk, context });
    expect(await statusOf(await open(token))).toBe(200);
  });

  it('`who` without a user never is the application itself', async () => {
    for (const who of [() => null, () => undefined, () => ({ userId: '' }), () => ({ userId: undefined })]) {
      const { requireSignedIn, requirePermission } = guard(doorward);
      expect(await statusOf(await open(requireSignedIn({ who: who as never })))).toBe(401);
      expect(await statusOf(await open(requirePermission('Role:Query', { who: who as never })))).toBe(401);
    }
  });

  it('`scope`: without one nothing is decided; the token of another project is not valid in it', async () => {
    const { requireSignedIn } = guard(doorward);
    expect(await statusOf(await open(requireSignedIn({ scope: () => null })), bearer('clerk'))).toBe(404);
    expect(await statusOf(await open(requireSignedIn({ scope: () => null })))).toBe(401);
    const { id } = await shop.app.must(
      'createProject',
      { scope: shop.owner.account, name: 'Other' },
      { token: shop.owner.token },
    );
    const other = { tenant: 'accountProject', id: `${shop.owner.account.id}:${id}` } as const;
    expect(await statusOf(await open(requireSignedIn({ scope: other })), bearer('clerk'))).toBe(401);
    expect(await statusOf(await open(requireSignedIn({ scope: () => shop.scope })), bearer('clerk'))).toBe(
      200,
    );
  });

  it('`live`: the service says whether the token was revoked', async () => {
    const { requireSignedIn } = guard(doorward);
    const { clientId, clientSecret, id } = await shop.app.must(
      'createApiKey',
      { scope: shop.scope, name: 'short' },
      { token: shop.owner.token },
    );
    const credentials = { clientId, clientSecret: clientSecret ?? '', scope: shop.scope };
    const { accessToken } = await doorward.api.exchangeApiKey(credentials);
    await doorward.api.revokeApiKey({ id });
    const headers = { authorization: `Bearer ${accessToken}` };
    expect(await statusOf(await open(requireSignedIn({ live: true })), headers)).toBe(401);
    expect(await statusOf(await open(requireSignedIn()), headers)).toBe(200);
  });

  it('`address`: that of the socket, unless an option says another', async () => {
    const addresses: unknown[] = [];
    const recorder: Doorward = Object.create(doorward, {
      check: {
        value: (...[who, permission, context, options]: Parameters<Doorward['check']>) => {
          addresses.push(options?.address);
          return doorward.check(who, permission, context, options);
        },
      },
    }) as Doorward;
    const context = () => contextOf('1');
    const { requirePermission } = guard(recorder);
    await statusOf(await open(requirePermission('order:read', { context })), bearer('clerk'));
    const address = (request: express.Request) => request.get('x-real-ip');
    const behindProxy = await open(requirePermission('order:read', { context, address: address as never }));
    await statusOf(behindProxy, { ...bearer('clerk'), 'x-real-ip': '203.0.113.7' });
    expect(addresses).toEqual(['127.0.0.1', '203.0.113.7']);
  });

  it('a context that is none is an error of the application', async () => {
    const errors: Error[] = [];
    const app = express();
    const context = () => ({ id: '1' }) as never;
    app.get('/:id', guard(doorward).requirePermission('order:read', { context }), () =>
      errors.push(new Error()),
    );
    app.use(((error: Error, _request, response, _next) => {
      errors.push(error);
      response.sendStatus(500);
    }) as express.ErrorRequestHandler);
    const server = await listen(app, { ran: [], errors });
    servers.push(server);
    expect(await statusOf(server.url, bearer('clerk'))).toBe(500);
    expect(errors.map(({ cause }) => cause)).toEqual([expect.any(TypeError)]);
  });

  const wrong: unknown[] = ['order', 'order:read:all', ':read', 'order:', '', { resource: 'order' }, null];
  it.each(wrong)('a permission %j fails when the route is declared', (permission) => {
    const declare = [
      () => guard(doorward).requirePermission(permission as Permission),
      () => fastifyGuard(doorward).requirePermission(permission as Permission),
      () => honoGuard(doorward).requirePermission(permission as Permission),
      () => RequirePermission(permission as Permission),
      () => nextGuard(doorward).withPermission(permission as Permission, () => new Response()),
    ];
    for (const declaration of declare) expect(declaration).toThrow(TypeError);
  });

  it('`principalOf` without a guard throws', () => {
    expect(() => principalOf({})).toThrow('No guard of this route has verified a token.');
  });
});

describe('Fastify', () => {
  it('answers revisions and refusals to simulated requests too', async () => {
    const app = fastify();
    const { requireSignedIn } = fastifyGuard(doorward);
    app.get('/', { preHandler: requireSignedIn() }, async () => {
      await doorward.api.createTag({ name: `tag ${crypto.randomUUID()}` });
      return {};
    });
    const changed = await app.inject({ url: '/', headers: bearer('clerk') });
    expect(changed.statusCode).toBe(200);
    expect(changed.headers['x-doorward-revision']).toMatch(/^[\w-]{22}$/);
    expect((await app.inject({ url: '/' })).statusCode).toBe(401);
    await app.close();
  });
});

describe('NestJS', () => {
  it('does not start a guarded controller without DoorwardModule', async () => {
    class Orders {
      read() {
        return {};
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'read') as PropertyDescriptor;
    Get()(Orders.prototype, 'read', descriptor);
    RequirePermission('order:read')(Orders.prototype, 'read', descriptor);
    Controller()(Orders);
    class Shop {}
    Module({ controllers: [Orders] })(Shop);
    await expect(NestFactory.create(Shop, { logger: false, abortOnError: false })).rejects.toThrow(
      /resolve dependencies/,
    );
  });
});
