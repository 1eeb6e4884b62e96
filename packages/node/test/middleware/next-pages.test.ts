import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { guard, RefusedError } from '../../src/next.ts';
import { clientOf } from './support/client.ts';
import { contextOf } from './support/orders.ts';
import { openShop, type Shop } from './support/shop.ts';

/** Server components and server actions, with the two functions of Next.js that they need in place of Next.js. */

const next = vi.hoisted(() => ({
  headers: new Headers(),
  NotFound: class NotFound extends Error {},
}));
vi.mock('next/headers', () => ({ headers: async () => next.headers }));
vi.mock('next/navigation', () => ({
  notFound: () => {
    throw new next.NotFound();
  },
}));

let shop: Shop;
beforeAll(async () => void (shop = await openShop()));
afterAll(() => shop.close());

const pages = () => guard(clientOf(shop), { token: ({ headers }) => headers.get('x-session') });
const signIn = (token: keyof Shop['tokens'] | null): void => {
  next.headers = new Headers(token === null ? {} : { 'x-session': shop.tokens[token] });
};

it('a page has a principal, or null', async () => {
  signIn('clerk');
  expect(await pages().principal()).toMatchObject({ type: 'apiKey', userId: shop.owner.userId });
  for (const token of [null, 'expired', 'forged'] as const) {
    signIn(token);
    expect(await pages().principal()).toBeNull();
  }
});

it('a page throws where a route would refuse', async () => {
  signIn('clerk');
  const { requirePermission, requireSignedIn } = pages();
  const context = () => contextOf('1');
  expect(await requirePermission('order:read', { context })).toMatchObject({ userId: shop.owner.userId });
  const refusal = await requirePermission('order:approve').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RefusedError);
  expect(refusal).toMatchObject({ status: 403, body: { code: 'FORBIDDEN', reason: 'NO_PERMISSION' } });
  await expect(requirePermission('order:read', { context: () => null })).rejects.toBeInstanceOf(
    next.NotFound,
  );
  signIn(null);
  await expect(requireSignedIn()).rejects.toMatchObject({ status: 401 });
});

it('a page leaves by `refused`, and never goes on after it', async () => {
  signIn(null);
  const refused = (refusal: RefusedError): never => {
    throw new Error(`to the sign-in: ${refusal.status}`);
  };
  await expect(pages().requireSignedIn({ refused })).rejects.toThrow('to the sign-in: 401');
  const forgetful = (() => undefined) as unknown as () => never;
  await expect(pages().requireSignedIn({ refused: forgetful })).rejects.toBeInstanceOf(RefusedError);
});
