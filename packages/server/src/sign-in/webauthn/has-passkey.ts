import { eq } from 'drizzle-orm';
import type { Executor } from '../../kernel/scoped-db.ts';
import { passkeys } from '../../schema/sign-in/passkey.ts';

/**
 * Whether the user has a passkey. It can be a second factor, but having one does not make a second factor mandatory.
 */
export async function hasPasskey(tx: Executor, userId: string): Promise<boolean> {
  const rows = await tx
    .select({ id: passkeys.id })
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .limit(1);
  return rows.length > 0;
}
