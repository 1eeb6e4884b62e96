import { createHmac, randomBytes } from 'node:crypto';
import { usageFault } from '../fault.ts';
import { visible } from '../output/text.ts';

const TIMEOUT_MS = 15_000;

/** Sends events to a program on this computer. */
interface Forwarding {
  /** The signing secret, created for this run and valid for nothing else. */
  readonly secret: string;
  /** Sends an event, and returns the outcome in one line. Rejects only if the run is interrupted. */
  readonly send: (event: { readonly id: string; readonly type: string }) => Promise<string>;
}

/**
 * Forwards events as the service sends webhooks: signed according to the Standard Webhooks specification.
 * @throws Fault for URLs of other computers, because events contain names and email addresses of people
 */
export function forwardTo(address: string, signal: AbortSignal): Forwarding {
  const url = loopbackUrl(address);
  const key = randomBytes(32);
  return {
    secret: `whsec_${key.toString('base64')}`,
    async send(event) {
      const body = JSON.stringify(event);
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', key).update(`${event.id}.${timestamp}.${body}`).digest('base64');
      const outcome = await fetch(url, {
        method: 'POST',
        // A redirect could lead to another computer.
        redirect: 'manual',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Doorward-Webhooks/1',
          'webhook-id': event.id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${signature}`,
        },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      }).then(
        async (response) => {
          await response.body?.cancel();
          return String(response.status);
        },
        (error: unknown) => {
          signal.throwIfAborted();
          const { name, cause } = error as Error & { readonly cause?: { readonly code?: string } };
          return name === 'TimeoutError' ? 'no answer in time' : `not sent (${cause?.code ?? name})`;
        },
      );
      return `${outcome}  ${visible(event.type)}  ${visible(event.id)}`;
    },
  };
}

function loopbackUrl(address: string): URL {
  const wrong = (what: string) =>
    usageFault(`--forward ${what}.`, 'for example http://127.0.0.1:3000/webhooks');
  if (!URL.canParse(address)) throw wrong('takes a URL');
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong('takes an http or https address');
  if (url.username !== '' || url.password !== '') throw wrong('takes no user name and no password');
  if (!/^(localhost|\[::1\]|127(\.\d+){3})$/.test(url.hostname))
    throw wrong('sends to this computer only: localhost, 127.0.0.1 or [::1]');
  return url;
}
