import { DoorwardError } from '../../errors.ts';
import type { RateClass } from '../../kernel/operation.ts';
import type { Services } from '../../kernel/context.ts';

/**
 * The purpose of a mail. Each purpose has its own bucket for each address, so that requests for mails of one kind
 * cannot block mails of another: the mail that resets a password is sent even if all other buckets are empty.
 */
export type MailPurpose = 'verification' | 'reset' | 'signIn' | 'invitation' | 'notification';

/**
 * Whether one more mail of this purpose may go to the address; when not, answer as if it was sent (conventions §10).
 * Ask right before the mail is queued: a call that is refused, or that mails nothing, must not use up the bucket.
 */
export const mayMail = (services: Services, purpose: MailPurpose, address: string): Promise<boolean> =>
  isLeft(services, 'mail', `${purpose} ${address}`);

/**
 * The number of calls that one mail to a stranger counts as in the bucket of its app: with the default limits, 20 mails
 * a minute.
 */
const WEIGHT = 50;

/**
 * Whether an app may have one more mail sent to an address that no user has. Whoever makes an app chooses its name, and
 * anybody can ask for its mails: without these buckets, of the network and of the app, the service would carry messages
 * of the maker to strangers. The bucket of the app is full again within a minute, so a user who signs up during a rush
 * only has to ask again.
 */
export const mayMailStranger = async (
  services: Services,
  { appId, network }: { readonly appId: string; readonly network: string },
): Promise<boolean> =>
  (await isLeft(services, 'auth', `mailToStranger ${network}`)) &&
  (await isLeft(services, 'general', `mailToStranger ${appId}`, WEIGHT));

/** Takes the points from the bucket; false when too few are left. */
export async function isLeft(
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
