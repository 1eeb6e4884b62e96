import type { Principal } from '../contracts/types.ts';

/**
 * The principal of a request behind a guard.
 *
 * @throws Error without a guard before the route, or if its `who` named a user and no token
 */
export function principalOf(request: { readonly principal?: Principal }): Principal {
  if (!request.principal) throw new Error('No guard of this route has verified a token.');
  return request.principal;
}
