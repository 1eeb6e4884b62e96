import { and, eq, sql } from 'drizzle-orm';
import { keysTopic } from '../../crypto/keys/keyring.ts';
import { lockKeys, rotateKeys } from '../../crypto/keys/rotation.ts';
import { signingKeys } from '../../schema/machines/signing-key.ts';
import { SYSTEM_NODE } from '../../schema/nodes.ts';
import type { ActAsSystem } from '../../events/system-act.ts';
import type { Services } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';

/**
 * Rotates the key of session tokens if that is due (identity §10, `JWT_SYSTEM_KEY_ROTATION_DAYS`; 0 = never). If
 * several processes call it at the same time, one rotates; the others wait for its lock and check again.
 *
 * @returns whether this call rotated the key; never rejects
 */
export const rotateSystemKeyIfDue = (
  services: Rotating,
  pool: Executor,
  actAsSystem: ActAsSystem,
  log: (error: unknown, message: string) => void,
): Promise<boolean> =>
  rotateIfDue(services, pool, actAsSystem).catch((error: unknown) => {
    log(error, 'the key of session tokens could not be rotated');
    return false;
  });

type Rotating = Pick<Services, 'config' | 'clock' | 'kek' | 'ids' | 'keyPairs'>;

async function rotateIfDue(services: Rotating, pool: Executor, actAsSystem: ActAsSystem): Promise<boolean> {
  const { config, clock } = services;
  const days = config.tokens.systemKeyRotationDays;
  if (days === 0) return false;
  const isDue = async (db: Executor): Promise<boolean> => {
    const before = new Date(clock.now().getTime() - days * 86_400_000);
    const due = await db
      .select({ id: signingKeys.id })
      .from(signingKeys)
      .where(
        and(
          eq(signingKeys.tenantId, SYSTEM_NODE),
          eq(signingKeys.status, 'active'),
          sql`${signingKeys.activatedAt} <= ${before.toISOString()}::timestamptz`,
        ),
      );
    return due.length > 0;
  };
  if (!(await isDue(pool))) return false;
  const pair = await services.keyPairs.take();
  return actAsSystem('rotateSystemKey', async (act) => {
    const { tx } = act;
    await lockKeys(tx, SYSTEM_NODE);
    if (!(await isDue(tx))) return false;
    const tokenMinutes = config.tokens.accessTokenMinutes;
    const id = await rotateKeys(tx, services, {
      tenantId: SYSTEM_NODE,
      pair,
      tokenMinutes,
      revokeOld: false,
    });
    const [active] = await tx.select().from(signingKeys).where(eq(signingKeys.id, id));
    act.invalidate(keysTopic(SYSTEM_NODE));
    act.record({
      node: { id: SYSTEM_NODE, scope: { tenant: 'installation', id: SYSTEM_NODE } },
      event: 'signing_key.rotated',
      data: { ...active, isActive: true, oldRevoked: false },
      target: { type: 'SigningKey', id },
    });
    return true;
  });
}
