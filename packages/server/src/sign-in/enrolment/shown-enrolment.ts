import { eq } from 'drizzle-orm';
import type { Config } from '../../config/config.ts';
import { base32, otpauthUrl } from '../../crypto/tokens/totp.ts';
import type { EnrolmentStep } from '../flow/flow-data.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { users } from '../../schema/people/user.ts';

/** The content of the page. Only the browser that adds the second factor sees it. */
export type ShownEnrolment =
  { readonly secret: string; readonly otpauthUrl: string } | { readonly recoveryCodes: readonly string[] };

export async function shownEnrolment(
  db: Executor,
  { auth }: Pick<Config, 'auth'>,
  { user: { userId }, secret, recoveryCodes = [] }: EnrolmentStep,
): Promise<ShownEnrolment | null> {
  if (secret === null) return { recoveryCodes };
  if (userId === null) return null;
  const [user] = await db
    .select({ email: users.email, name: users.name })
    .from(users)
    .where(eq(users.id, userId));
  const shown = base32(Buffer.from(secret, 'base64url'));
  const account = user?.email ?? user?.name ?? '';
  return { secret: shown, otpauthUrl: otpauthUrl(auth.mfaIssuer, account, shown) };
}
