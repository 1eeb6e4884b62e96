import type { Run } from '../services.ts';

/**
 * Sends the queued mails after commit. The response does not wait for them, so its duration does not reveal whether a
 * mail was sent.
 */
export const flushMails = (ctx: Run): void => ctx.afterCommit(() => void ctx.services.mail.flush());
