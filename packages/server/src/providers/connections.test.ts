import { expect, it } from 'vitest';
import { createKek } from '../crypto/keys/kek.ts';
import { createConnectionProviders } from './connections.ts';

/** Organization owners choose these addresses, so the service must not reach its own network through them. */
const at = (allowedPrivateCidrs: readonly string[], issuer: string) =>
  createConnectionProviders(
    { appUrl: 'https://access.example', connections: { allowedPrivateCidrs } },
    {
      resolve: () => Promise.resolve(['10.1.2.3']),
      clock: { now: () => new Date() },
      kek: createKek({ current: Buffer.alloc(32, 7), old: [] }),
    },
  ).test({ issuer, clientId: 'c' });

it.each(['http://127.0.0.1:65431', 'https://inside.example', 'https://169.254.169.254'])(
  'a connection does not reach a private network: %s',
  async (issuer) => {
    expect(await at([], issuer)).toMatchObject({
      ok: false,
      message: expect.stringContaining('does not connect') as string,
    });
  },
);

it('a connection reaches a network that the operator allows', async () => {
  const { ok, message } = await at(['127.0.0.0/8'], 'http://127.0.0.1:65431');
  expect([ok, message]).toEqual([false, expect.stringContaining('did not answer')]);
});
