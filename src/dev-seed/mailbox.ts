import { EventEmitter, once } from 'node:events';
import type { Mailer } from '../kernel/ports.ts';

/** Reserved: nobody else can be reached there, and in production nobody at all. */
export const DEMO_ADDRESS = 'demo@localhost';

/** Longer than the request for the mail may be repeated. */
const PATIENCE_MS = 120_000;

export interface DemoMailbox {
  /** Hands on what is not for the mailbox. */
  readonly mailer: Mailer;
  /** The token of the next verification mail; rejects when none comes in two minutes. */
  readonly nextToken: () => Promise<string>;
}

/**
 * Where the demo user reads his verification mail, so that his address is verified as everybody's is. While nobody waits
 * for a token his mails go the way of all mails.
 */
export function createDemoMailbox(next: Mailer): DemoMailbox {
  const tokens = new EventEmitter();
  return {
    mailer: {
      async send(mail) {
        const token = /\/verify-email\?token=([\w-]+)/.exec(mail.text)?.[1];
        if (mail.to !== DEMO_ADDRESS || !token || !tokens.emit('token', token)) await next.send(mail);
      },
    },
    async nextToken() {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const [token] = (await once(tokens, 'token', { signal }).catch(() => {
        throw new Error(`no verification mail to ${DEMO_ADDRESS} came by this process within two minutes`);
      })) as [string];
      return token;
    },
  };
}
