import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Ids } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Kek } from './kek.ts';
import { storeKey } from './keyring.ts';
import type { SigningKeyPair } from './rsa.ts';
import { signingKeys, signingKeySecrets } from '../../schema/machines/signing-key.ts';

/** How much longer other verifiers may accept an expired token, because of clock skew and caches. */
const CLOCK_SKEW_SECONDS = 300;

interface Rotation {
  readonly tenantId: string;
  /** The new key pair. It is published immediately and signs after the next rotation. */
  readonly pair: SigningKeyPair;
  /** Maximum lifetime of the tokens that the old key may have signed. */
  readonly tokenMinutes: number;
  /** Whether to revoke the old keys: they are then removed from the JWKS, and their tokens are rejected. */
  readonly revokeOld: boolean;
}

/**
 * Serializes rotations of one issuer until commit. Row locks alone are not enough: a rotation that waited for a row
 * finds it retired, does not see the rows that replaced it, and so holds no lock. The rows are locked as well, because
 * during an upgrade a process of the previous version locks only the rows.
 */
export async function lockKeys(tx: Executor, tenantId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`signing keys of ${tenantId}`}, 0))`);
  await tx
    .select({ id: signingKeys.id })
    .from(signingKeys)
    .where(and(eq(signingKeys.tenantId, tenantId), inArray(signingKeys.status, ['active', 'next'])))
    .for('update');
}

/**
 * Rotates the keys of an issuer (identity §10): next → active, active → retired, `pair` → next. Retired keys stay
 * published as long as their tokens may be valid. Rotations of one issuer are serialized. The caller must invalidate
 * `keysTopic`.
 *
 * @returns the id of the new active key
 */
export async function rotateKeys(
  tx: Executor,
  { kek, ids }: { readonly kek: Kek; readonly ids: Ids },
  { tenantId, pair, tokenMinutes, revokeOld }: Rotation,
): Promise<string> {
  const hasIssuer = eq(signingKeys.tenantId, tenantId);
  const inState = (...states: (typeof signingKeys.status.enumValues)[number][]) =>
    and(hasIssuer, inArray(signingKeys.status, states));
  await lockKeys(tx, tenantId);
  const old = await tx
    .update(signingKeys)
    .set({
      status: revokeOld ? 'revoked' : 'retired',
      retiredAt: sql`coalesce(${signingKeys.retiredAt}, now())`,
      publishedUntil: revokeOld
        ? sql`now()`
        : sql`now() + make_interval(secs => ${tokenMinutes * 60 + CLOCK_SKEW_SECONDS})`,
    })
    .where(revokeOld ? inState('active', 'retired') : inState('active'))
    .returning({ id: signingKeys.id, issuer: signingKeys.issuer });
  const [active] = await tx
    .update(signingKeys)
    .set({ status: 'active', activatedAt: sql`now()` })
    .where(inState('next'))
    .returning({ id: signingKeys.id, issuer: signingKeys.issuer });
  if (!active) throw new Error(`no next signing key for ${tenantId}`);
  // Old keys never sign again, so their private keys are deleted.
  const keyIds = old.map(({ id }) => id);
  await tx.delete(signingKeySecrets).where(inArray(signingKeySecrets.keyId, keyIds));
  await storeKey(tx, { kek, ids }, { tenantId, issuer: active.issuer }, pair, { status: 'next' });
  return active.id;
}
