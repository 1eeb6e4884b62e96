import type { Principal } from '../contracts/types.ts';

/**
 * Returns the principal of a request behind a guard.
 *
 * @throws Error if the route has no guard, or its `who` returned a user instead of a token
 */
export function principalOf(request: { readonly principal?: Principal }): Principal {
  if (!request.principal) throw new Error('No guard of this route has verified a token.');
  return request.principal;
}
