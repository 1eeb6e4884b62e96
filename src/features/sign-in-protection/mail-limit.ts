import { DoorwardError } from '../../errors.ts';
import type { RateClass } from '../../kernel/operation.ts';
import type { Services } from '../../kernel/context.ts';

/**
 * What a mail is for. Each purpose has a bucket of its own for each address, so that nobody who asks for mails of one
 * kind keeps those of another kind from their reader: a password is reset by mail when all else is shut.
 */
export type MailPurpose = 'verification' | 'reset' | 'signIn' | 'invitation' | 'notification';

/**
 * Whether one more mail of this purpose may go to the address; when not, answer as if it was sent (conventions §10).
 * Ask right before the mail is queued: a call that is refused, or that mails nothing, must not use up the bucket.
 */
export const mayMail = (services: Services, purpose: MailPurpose, address: string): Promise<boolean> =>
  isLeft(services, 'mail', `${purpose} ${address}`);

/** So many calls weighs a mail to a stranger in the bucket of its app: at the defaults it sends 20 in a minute. */
const WEIGHT = 50;

/**
 * Whether an app may have one more mail sent to an address that nobody here owns. Whoever makes an app chooses its name,
 * and anybody can ask for its mails: without these buckets, of the asking network and of the app, the service would
 * carry their messages to strangers. That of the app is full again within a minute, so whoever signs up in a rush only
 * has to ask again.
 */
export const mayMailStranger = async (
  services: Services,
  { appId, network }: { readonly appId: string; readonly network: string },
): Promise<boolean> =>
  (await isLeft(services, 'auth', `mailToStranger ${network}`)) &&
  (await isLeft(services, 'general', `mailToStranger ${appId}`, WEIGHT));

/** Whether the bucket had enough left for this, which it now has less. */
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
