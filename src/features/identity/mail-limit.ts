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
