import { randomUUID } from 'node:crypto';
import { and, count, eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { startApp } from '../../../test/support/app/app.ts';
import { createIds } from '../../runtime/ids.ts';
import { createKek } from './kek.ts';
import { rotateKeys } from './rotation.ts';
import { generateSigningKeyPair } from './rsa.ts';
import { signingKeys } from '../../schema/machines/signing-key.ts';

/** Concurrent rotations, each of which started while other keys were current. */
it(
  'waits for every earlier rotation, even if the keys have changed in the meantime',
  { tags: 'race' },
  async () => {
    const app = await startApp({ DATABASE_POOL_MAX: '8' });
    const owner = await app.person();
    const { id } = await app.must(
      'createProject',
      { scope: owner.account, name: 'P' },
      { token: owner.token },
    );
    const sealing = { kek: createKek({ current: Buffer.alloc(32, 7), old: [] }), ids: createIds(app.clock) };
    const signingKeyPair = await generateSigningKeyPair(2048);
    // Generating another key pair would take longer than this test.
    const rotate = () =>
      app.database.transaction(async (tx) => {
        for (const kid of [randomUUID(), randomUUID()])
          await rotateKeys(tx, sealing, {
            tenantId: id,
            pair: { ...signingKeyPair, kid },
            tokenMinutes: 15,
            revokeOld: false,
          });
      });
    const some = async () => {
      for (let round = 0; round < 10; round++) await rotate();
    };
    await Promise.all(Array.from({ length: 8 }, some));
    const [retired] = await app.database.pool
      .select({ keys: count() })
      .from(signingKeys)
      .where(and(eq(signingKeys.tenantId, id), eq(signingKeys.status, 'retired')));
    expect(retired).toEqual({ keys: 160 });
    await app.close();
  },
);
