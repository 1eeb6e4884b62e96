import { TokenError } from '../contracts/errors.ts';
import { isTokenText } from '../credentials/token-text.ts';
import { tokenOfPrincipal } from '../tokens/principal.ts';
import type { Principal, Who } from '../contracts/types.ts';

/** The subject whose rights a question is about. */
export type QuestionSubject =
  | { readonly kind: 'own' }
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'token'; readonly token: string; readonly principal: Principal | null };

/** Reads a `Who`. @throws TypeError if the value is not a `Who`, TokenError if a string is not a token */
export function subjectOf(who: Who): QuestionSubject {
  if (who === undefined) return { kind: 'own' };
  if (typeof who === 'string') {
    if (isTokenText(who)) return { kind: 'token', token: who, principal: null };
    throw new TokenError('TOKEN_MALFORMED', 'This is not a token.');
  }
  const token = tokenOfPrincipal(who);
  if (token !== undefined) return { kind: 'token', token, principal: who as Principal };
  const names = typeof who === 'object' && who !== null ? Object.keys(who) : [];
  const { userId } = (who ?? {}) as { userId?: unknown };
  // A copy of a Principal has more members. If it counted as a user, it would have more rights than its token.
  if (names.length !== 1 || typeof userId !== 'string' || userId === '')
    throw new TypeError(
      "who must be a token, a Principal of verifyToken, { userId }, or undefined for the client's own credential",
    );
  // The service uses ids in lower case.
  return { kind: 'user', userId: userId.toLowerCase() };
}
