import { DemoRefused, sendOrThrow, type SendDemoRequest } from './internal-client.ts';
import type { DemoKey } from './stored-credentials.ts';

/* The example request: it exchanges the key for a token and asks for a decision. It runs once before it is printed. */

const EXCHANGE = '/auth/token';
const QUESTION = '/auth/is-authorized';

export const RESOURCE = { slug: 'invoice', action: 'read' } as const;
const question = { permission: { resource: RESOURCE.slug, action: RESOURCE.action } };

/** Returns the reason of the decision, or undefined when the key is not valid. @throws DemoRefused */
export async function checkReason(send: SendDemoRequest, key: DemoKey): Promise<string | undefined> {
  const exchange = { method: 'POST', path: EXCHANGE, body: key } as const;
  const exchanged = await send(exchange);
  if (exchanged.code === 'UNAUTHENTICATED') return undefined;
  if (exchanged.status >= 400) throw new DemoRefused(exchange, exchanged);
  const token = exchanged.data['accessToken'] as string;
  return (await sendOrThrow(send, { method: 'POST', path: QUESTION, token, body: question }))[
    'reason'
  ] as string;
}

/** The request for any POSIX shell. Each run exchanges the key again, so it works as long as the key is valid. */
export function curlCommand(base: string, key: DemoKey): string {
  const post = (path: string): string => `curl -s '${base}/api${path}' -H 'content-type: application/json'`;
  const token = `$(${post(EXCHANGE)} \\\n  -d '${JSON.stringify(key)}' | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`;
  return `${post(QUESTION)} \\\n  -d '${JSON.stringify(question)}' -H "authorization: Bearer ${token}"`;
}
