/* Requests and responses of the Fetch standard, which Hono and Next.js use. */

import type { Doorward } from '../client/doorward.ts';
import type { Principal } from '../contracts/types.ts';
import type { Answer } from './answer.ts';
import type { Call } from './admit.ts';

export function webCall<Request>(
  request: Request,
  { headers, signal }: { readonly headers: Headers; readonly signal?: AbortSignal | undefined },
  address: string | undefined,
  signIn: (principal: Principal) => void,
): Call<Request> {
  return { request, header: (name) => headers.get(name), address, signal, signIn };
}

export const responseOf = ({ status, headers, body }: Answer): Response =>
  Response.json(body, { status, headers });

/** Returns a function that returns the client's revision if a change was made since, else null. */
export function revisionSince(doorward: Doorward): () => string | null {
  const before = doorward.revision;
  return () => (doorward.revision === before ? null : doorward.revision);
}
