import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Ids } from '../kernel/ports.ts';
import type { Executor } from '../kernel/scoped-db.ts';
import type { Kek } from './kek.ts';
import { storeKey } from './keyring.ts';
import type { SigningKeyPair } from './rsa.ts';
import { signingKeys, signingKeySecrets } from './signing-keys-table.ts';

/** Longest that a token outlives the check of its expiry somewhere else (clocks, caches). */
const SLACK_SECONDS = 300;

interface Rotation {
  readonly tenantId: string;
  /** The key that is published from now on and signs after the next rotation. */
  readonly pair: SigningKeyPair;
  /** Longest life of a token that the old key may have signed. */
  readonly tokenMinutes: number;
  /** The old keys are not to be trusted any more: they leave the JWKS, and their tokens are refused. */
  readonly revokeOld: boolean;
}

/**
 * Until commit, whoever else would rotate the keys of the issuer waits, and then sees what became of them. Their rows
 * alone would not do for a lock: one that waited for a row finds it retired, and whoever holds the new ones is not waited
 * for. They are locked too, since that is all that a process of a former version does.
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
 * Moves the keys of an issuer on (identity §10): next → active, active → retired, `pair` → next. Retired keys stay
 * published while their tokens may live. Rotations of one issuer wait for one another. The caller touches the topic
 * of the keys.
 *
 * @returns the id of the key that is active now
 */
export async function rotateKeys(
  tx: Executor,
  { kek, ids }: { readonly kek: Kek; readonly ids: Ids },
  { tenantId, pair, tokenMinutes, revokeOld }: Rotation,
): Promise<string> {
  const ofIssuer = eq(signingKeys.tenantId, tenantId);
  const inState = (...states: (typeof signingKeys.status.enumValues)[number][]) =>
    and(ofIssuer, inArray(signingKeys.status, states));
  await lockKeys(tx, tenantId);
  const old = await tx
    .update(signingKeys)
    .set({
      status: revokeOld ? 'revoked' : 'retired',
      retiredAt: sql`coalesce(${signingKeys.retiredAt}, now())`,
      publishedUntil: revokeOld
        ? sql`now()`
        : sql`now() + make_interval(secs => ${tokenMinutes * 60 + SLACK_SECONDS})`,
    })
    .where(revokeOld ? inState('active', 'retired') : inState('active'))
    .returning({ id: signingKeys.id, issuer: signingKeys.issuer });
  const [active] = await tx
    .update(signingKeys)
    .set({ status: 'active', activatedAt: sql`now()` })
    .where(inState('next'))
    .returning({ id: signingKeys.id, issuer: signingKeys.issuer });
  if (!active) throw new Error(`no next signing key for ${tenantId}`);
  // Nothing is signed with them again, so nobody needs to be able to.
  const keyIds = old.map(({ id }) => id);
  await tx.delete(signingKeySecrets).where(inArray(signingKeySecrets.keyId, keyIds));
  await storeKey(tx, { kek, ids }, { tenantId, issuer: active.issuer }, pair, { status: 'next' });
  return active.id;
}
