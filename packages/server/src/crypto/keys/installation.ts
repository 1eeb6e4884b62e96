import { eq } from 'drizzle-orm';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { Ids } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { canaryOpens, makeCanary, type Kek } from './kek.ts';
import { establishKeys } from './keyring.ts';
import type { KeyPairStock } from './rsa.ts';
import { installation, signingKeys } from '../../schema/machines/signing-key.ts';

/** Thrown if the configured key cannot open the sealed data of this database, so that nothing is written with it. */
export class WrongEncryptionKey extends Error {
  override readonly name = 'WrongEncryptionKey';
}

/**
 * At the first start, creates the id of the installation, the keys that sign session tokens (one active, one published
 * ahead), and a canary that reveals a wrong key-encryption key. Runs under the preparation lock.
 *
 * @returns the id of the installation, which separates installations that share a Redis
 * @throws WrongEncryptionKey before anything is written
 */
export async function establishInstallation(
  db: Executor,
  options: {
    readonly kek: Kek;
    readonly keyPairs: Pick<KeyPairStock, 'take'>;
    readonly ids: Ids;
    readonly issuer: string;
  },
): Promise<string> {
  const { kek, keyPairs, ids, issuer } = options;
  const [canary] = await db.select().from(installation).where(eq(installation.name, 'canary'));
  if (canary && !canaryOpens(kek, canary.value)) {
    throw new WrongEncryptionKey(
      'ENCRYPTION_KEY cannot open the data of this database. Set the key that it was created with, ' +
        'or name that one in ENCRYPTION_KEYS_OLD beside the new one.',
    );
  }
  if (!canary) await db.insert(installation).values({ name: 'canary', value: makeCanary(kek) });
  const [identity] = await db.select().from(installation).where(eq(installation.name, 'id'));
  const id = identity?.value ?? ids.random();
  if (!identity) await db.insert(installation).values({ name: 'id', value: id });
  const systemKeys = await db
    .select({ id: signingKeys.id })
    .from(signingKeys)
    .where(eq(signingKeys.tenantId, SYSTEM_NODE));
  if (systemKeys.length > 0) return id;
  const pairs = [await keyPairs.take(), await keyPairs.take()];
  await db.transaction((tx) => establishKeys(tx, { kek, ids }, { tenantId: SYSTEM_NODE, issuer }, pairs));
  return id;
}
