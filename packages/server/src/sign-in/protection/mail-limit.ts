import { DoorwardError } from '../../errors.ts';
import type { RateClass } from '../../kernel/operation.ts';
import { SERVICE_APP_ID } from '../../apps/access/service-itself.ts';
import type { Services } from '../../services.ts';

/**
 * The purpose of a mail. Each purpose has its own bucket per address, so that requests for mails of one kind cannot
 * block mails of another: the mail that resets a password is sent even if all other buckets are empty.
 */
export type MailPurpose = 'verification' | 'reset' | 'signIn' | 'invitation' | 'notification';

/**
 * Takes one mail of this purpose from the quota of the address. Returns false if the quota is used up; then respond as
 * if the mail had been sent (conventions §10). Call it right before the mail is queued: a call that is refused, or that
 * mails nothing, must not use the quota.
 */
export const consumeMailQuota = (
  services: Services,
  purpose: MailPurpose,
  address: string,
): Promise<boolean> => tryConsume(services, 'mail', `${purpose} ${address}`);

/**
 * How many points one mail to a stranger takes from the bucket of its app: with the default limits, 20 mails a minute.
 */
const WEIGHT = 50;

/**
 * Whether an app may send one more mail to an address without a user. The maker of an app chooses its name, and anyone
 * can request its mails. Without these buckets, of the network and of the app, the service would deliver the maker's
 * messages to strangers. The app's bucket refills within a minute, so a user who signs up during a rush only has to
 * request the mail again. This service itself has no such bucket, because no caller chooses its name.
 */
export const consumeStrangerMailQuota = async (
  services: Services,
  { appId, network }: { readonly appId: string; readonly network: string },
): Promise<boolean> =>
  (await tryConsume(services, 'auth', `mailToStranger ${network}`)) &&
  (appId === SERVICE_APP_ID || (await tryConsume(services, 'general', `mailToStranger ${appId}`, WEIGHT)));

/** Takes the points from the bucket; returns false if too few are left. */
export async function tryConsume(
  { limiter }: Services,
  cls: RateClass,
  key: string,
  points?: number,
): Promise<boolean> {
  try {
    await limiter.consume(cls, key, points);
    return true;
  } catch (error) {
    if (error instanceof DoorwardError && error.code === 'RATE_LIMITED') return false;
    throw error;
  }
}
