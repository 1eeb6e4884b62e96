import { DemoRefused, must, type Ask } from './front-door.ts';
import type { DemoKey } from './kept.ts';

/** The ready request: the key for a token, the token for an answer. It is tried before it is printed. */
const EXCHANGE = '/auth/token';
const QUESTION = '/auth/is-authorized';

export const RESOURCE = { slug: 'invoice', action: 'read' } as const;
const question = { permission: { resource: RESOURCE.slug, action: RESOURCE.action } };

/** What the request answers: the reason of the decision, or undefined when the key is none. @throws DemoRefused */
export async function reasonFor(ask: Ask, key: DemoKey): Promise<string | undefined> {
  const exchange = { method: 'POST', path: EXCHANGE, body: key } as const;
  const exchanged = await ask(exchange);
  if (exchanged.code === 'UNAUTHENTICATED') return undefined;
  if (exchanged.status >= 400) throw new DemoRefused(exchange, exchanged);
  const token = exchanged.data['accessToken'] as string;
  return (await must(ask, { method: 'POST', path: QUESTION, token, body: question }))['reason'] as string;
}

/** For any POSIX shell; each run exchanges the key anew, so it works for as long as the key does. */
export function pasteable(base: string, key: DemoKey): string {
  const post = (path: string): string => `curl -s '${base}/api${path}' -H 'content-type: application/json'`;
  const token = `$(${post(EXCHANGE)} \\\n  -d '${JSON.stringify(key)}' | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')`;
  return `${post(QUESTION)} \\\n  -d '${JSON.stringify(question)}' -H "authorization: Bearer ${token}"`;
}
