import { EventEmitter, once } from 'node:events';
import type { Mailer } from '../kernel/ports.ts';

/** An address at a reserved domain, so it belongs to no real mailbox. */
export const DEMO_ADDRESS = 'demo@localhost';

/** Longer than `retryWhenBusy` repeats a request. */
const TOKEN_TIMEOUT_MS = 120_000;

interface DemoMailbox {
  /** Receives the mails for the mailbox and sends all others. */
  readonly mailer: Mailer;
  /** Resolves to the token of the next verification mail; rejects if none arrives within two minutes. */
  readonly nextToken: () => Promise<string>;
}

/**
 * Creates a mailbox that receives the verification mail of the demo user, so that their address is verified in the
 * usual way. While no call of `nextToken` is pending, mails to the demo user are sent as usual.
 */
export function createDemoMailbox(fallback: Mailer): DemoMailbox {
  const tokens = new EventEmitter();
  return {
    mailer: {
      async send(mail) {
        const token = /\/verify-email\?token=([\w-]+)/.exec(mail.text)?.[1];
        if (mail.to !== DEMO_ADDRESS || !token || !tokens.emit('token', token)) await fallback.send(mail);
      },
    },
    async nextToken() {
      const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
      const [token] = (await once(tokens, 'token', { signal }).catch(() => {
        throw new Error(
          `no verification mail to ${DEMO_ADDRESS} was sent by this process within two minutes`,
        );
      })) as [string];
      return token;
    },
  };
}
