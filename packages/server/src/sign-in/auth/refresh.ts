import { readHeader, verifyJwt } from '../../crypto/tokens/jwt.ts';
import { isAuthentic, parseRefreshToken } from '../../crypto/tokens/refresh-token.ts';
import { type DoorwardError, fail } from '../../errors.ts';
import { refuse } from '../../kernel/output/reply.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { isOverdue, verificationRequired } from '../protection/verification-deadline.ts';
import { userAsActor } from '../../people/user-node.ts';
import {
  canRefresh,
  loadFamily,
  reuseDetected,
  rotate,
  findPresentedToken,
  type Family,
  type PresentedToken,
} from '../../sessions/refresh-rotation.ts';
import { accessTokenSeconds, refreshKeys, setCookie, signAccessToken } from '../../sessions/sign-in.ts';

/**
 * The tokens that a browser or command line presents to refresh its session; sessions/refresh-rotation.ts rotates them.
 */
interface PresentedTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string;
}

interface TokenInput {
  readonly accessToken?: string | undefined;
  readonly refreshToken?: string | undefined;
}

/**
 * Returns the tokens that identify the session: those in the body, else the cookie, which requires an allowed origin.
 *
 * @throws UNAUTHENTICATED, ORIGIN_NOT_ALLOWED, VALIDATION_ERROR
 */
export function presentedTokens(input: TokenInput, call: Call): PresentedTokens {
  const { accessToken, refreshToken } = input;
  if (accessToken === undefined && refreshToken === undefined) {
    if (call.refreshCookie === null) throw fail('UNAUTHENTICATED');
    if (!call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
    return { accessToken: null, refreshToken: call.refreshCookie };
  }
  if (accessToken === undefined || refreshToken === undefined) {
    const path = accessToken === undefined ? 'accessToken' : 'refreshToken';
    throw fail('VALIDATION_ERROR', { details: [{ path, code: 'required' }] });
  }
  const bodySessionId = parseRefreshToken(refreshToken)?.sessionId;
  const cookieSessionId =
    call.refreshCookie === null ? undefined : parseRefreshToken(call.refreshCookie)?.sessionId;
  if (bodySessionId !== undefined && cookieSessionId !== undefined && bodySessionId !== cookieSessionId) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'refreshToken', code: 'excluded' }],
      fix: 'The cookie belongs to another session: send either the tokens or the cookie.',
    });
  }
  return { accessToken, refreshToken };
}

/**
 * The rate-limit bucket of an attempt: the session of an authentic token, else the network. Session ids are in events
 * and tokens, so a caller who only knows an id must not be able to use up the session's limit.
 */
export function refreshBucket(
  services: Services,
  { refreshCookie, network }: Call,
  bodyToken: string | undefined,
): string | null {
  const token = bodyToken ?? refreshCookie;
  if (token === null) return null;
  const sessionId = parseRefreshToken(token)?.sessionId;
  return sessionId !== undefined && isAuthentic(refreshKeys(services), token) ? sessionId : network;
}

/** Everything that `refresh` needs, prepared before its transaction opens. */
interface PreparedRefresh {
  readonly shown: PresentedToken;
  /** Null if the token is neither the newest nor its predecessor; its holder then gets no token. */
  readonly accessToken: string | null;
}

/** Checks the presented tokens and signs the next access token. @throws UNAUTHENTICATED, EMAIL_VERIFICATION_REQUIRED */
export async function prepareRefresh(
  db: Executor,
  services: Services,
  call: Call,
  presented: PresentedTokens,
): Promise<PreparedRefresh> {
  const token = parseRefreshToken(presented.refreshToken);
  const isConsistent =
    token !== null &&
    (presented.accessToken === null ||
      (await isTokenOfSession(services, presented.accessToken, token.sessionId)));
  const shown = isConsistent ? await findPresentedToken(db, services, presented.refreshToken) : undefined;
  if (!shown || !isRefreshedHere(shown)) throw await unauthenticated(db, services, call);
  const { session, user, isAccepted } = shown;
  if (isAccepted && isOverdue(user, services)) throw verificationRequired();
  const facts = { ...session, emailVerified: user.emailVerified };
  return { shown, accessToken: isAccepted ? await signAccessToken(services, facts) : null };
}

/**
 * Whether the session is refreshed here. App sessions are refreshed at the token endpoint, under the app's own rules.
 */
const isRefreshedHere = ({ session }: Family): boolean => session.kind !== 'projectApp';

/** Rotates the token, responds to a retry with the same successor, or ends the session if its token was copied. */
export async function refresh(ctx: Run, { shown, accessToken }: PreparedRefresh) {
  const { tx, services, call } = ctx;
  const rotated = await rotate(ctx, shown);
  if (rotated === 'copied') {
    ctx.record(reuseDetected(shown, 'UNAUTHENTICATED'));
    // The session has now ended both for the thief and for the user.
    return refuse(await unauthenticated(tx, services, call));
  }
  if (rotated === null || accessToken === null) throw await unauthenticated(tx, services, call);
  const { session, isNew } = rotated;
  const target = { type: 'Session', id: session.id };
  if (!isNew) ctx.unchanged();
  else ctx.record({ actor: userAsActor(shown.user), target, node: shown.node });
  setCookie(ctx, shown.successor, session.expiresAt);
  return {
    accessToken,
    refreshToken: shown.successor,
    expiresIn: accessTokenSeconds(services),
    mfaRequired: session.acr === 'aal1' && shown.isEnrolled,
  };
}

/** Whether the service signed this access token, expired or not, for this session. */
async function isTokenOfSession(
  { keyring, config, clock }: Services,
  token: string,
  sessionId: string,
): Promise<boolean> {
  const header = readHeader(token);
  const key = header && (await keyring.verification(header.kid));
  if (!key?.types.includes('session')) return false;
  const expected = { issuer: key.issuer, audience: config.appUrl, types: ['session'], now: clock.now() };
  const verified = await verifyJwt(key.publicKey, token, expected);
  if (!verified.ok && verified.reason === 'invalid') return false;
  return verified.claims.jti === sessionId;
}

/** The 401 error of a refresh. Clears the cookie only if the cookie's session has ended. */
async function unauthenticated(db: Executor, services: Services, call: Call): Promise<DoorwardError> {
  if (call.refreshCookie !== null) {
    const cookieToken = parseRefreshToken(call.refreshCookie);
    const family = cookieToken ? await loadFamily(db, cookieToken.sessionId) : undefined;
    const isAlive = family && isRefreshedHere(family) && canRefresh(services, family);
    if (!isAlive) call.effects.refreshCookie = 'clear';
  }
  return fail('UNAUTHENTICATED');
}
