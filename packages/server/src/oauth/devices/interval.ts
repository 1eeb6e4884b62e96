import { eq } from 'drizzle-orm';
import type { Run } from '../../services.ts';
import { deviceAuthorizations } from '../../schema/oauth/device-authorization.ts';

/** Tolerance for a device whose clock runs a little fast. */
const TOLERANCE_MS = 500;
const LONGER_SECONDS = 5;

/**
 * Records the device's poll, and returns whether it came too early. If so, the device must wait longer from now on (RFC
 * 8628 §3.5). The caller has locked the row.
 */
export async function isTooEarly(
  { tx, services }: Pick<Run, 'tx' | 'services'>,
  { hash, polledAt, intervalSeconds }: typeof deviceAuthorizations.$inferSelect,
): Promise<boolean> {
  const now = services.clock.now();
  const isEarly =
    polledAt !== null && now.getTime() - polledAt.getTime() < intervalSeconds * 1000 - TOLERANCE_MS;
  await tx
    .update(deviceAuthorizations)
    .set({ polledAt: now, ...(isEarly && { intervalSeconds: intervalSeconds + LONGER_SECONDS }) })
    .where(eq(deviceAuthorizations.hash, hash));
  return isEarly;
}
