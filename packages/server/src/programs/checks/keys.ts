import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Config } from '../../config/config.ts';
import { canaryOpens, createKek } from '../../crypto/keys/kek.ts';
import { installation, signingKeys } from '../../schema/machines/signing-key.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import { sealedColumns } from '../../crypto/keys/sealed-columns.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { fail, ok, skip, warn, type Check } from './check.ts';

/** Checks that the configured keys decrypt the data, and whether old keys are still needed. */
export async function checkEncryptionKey(
  db: Executor,
  { encryption, dataDir }: Pick<Config, 'encryption' | 'dataDir'>,
): Promise<Check> {
  const name = 'encryption-key';
  const text = encryption.key ?? (await readFile(join(dataDir, 'encryption.key'), 'utf8').catch(() => null));
  const current = text === null ? null : Buffer.from(text.trim(), 'base64');
  const [canary] = await db.select().from(installation).where(eq(installation.name, 'canary'));
  if (!canary) return skip(name, 'nothing is encrypted yet');
  const fix = 'set the ENCRYPTION_KEY that this database was created with, or name it in ENCRYPTION_KEYS_OLD';
  if (current?.length !== 32) return fail(name, 'there is no key for the data of this database', fix);
  const old = encryption.oldKeys.map((key) => Buffer.from(key, 'base64'));
  const kek = createKek({ current, old });
  if (!canaryOpens(kek, canary.value))
    return fail(name, 'the key does not open the data of this database', fix);
  let waiting = 0;
  for (const { table, key, sealed } of sealedColumns) {
    const hasOldKey = sql`not starts_with(${sealed}, ${kek.currentPrefix})`;
    waiting += (await db.select({ id: key }).from(table).where(hasOldKey).limit(1000)).length;
  }
  if (waiting > 0 || !kek.isCurrent(canary.value))
    return warn(
      name,
      'values are still encrypted with an old key',
      'keep ENCRYPTION_KEYS_OLD until the service has encrypted them again',
    );
  return old.length > 0
    ? warn(name, 'no value needs an old key', 'remove ENCRYPTION_KEYS_OLD')
    : ok(name, 'opens the data of this database');
}

/** Returns the ids of the keys that sign session tokens now or next. Only this installation publishes them. */
export async function systemKeyIds(db: Executor): Promise<string[]> {
  const rows = await db
    .select({ kid: signingKeys.kid })
    .from(signingKeys)
    .where(and(eq(signingKeys.tenantId, SYSTEM_NODE), inArray(signingKeys.status, ['active', 'next'])));
  return rows.map(({ kid }) => kid);
}
