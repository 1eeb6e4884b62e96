import { readHeader, verifyJwt } from '../../crypto/jwt.ts';
import { isAuthentic, parseRefreshToken } from '../../crypto/refresh-token.ts';
import type { DoorwardError } from '../../errors.ts';
import { fail } from '../../errors.ts';
import { refuse } from '../../kernel/reply.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { isOverdue } from '../sign-in-protection/overdue.ts';
import { userAsActor } from '../identity/user-node.ts';
import {
  canRefresh,
  familyOf,
  reuseDetected,
  rotate,
  shownToken,
  type Family,
  type Shown,
} from '../sessions/rotation.ts';
import {
  accessTokenSeconds,
  refreshKeys,
  setCookie,
  signAccessToken,
  type Run,
} from '../identity/sign-in.ts';

/** The door at which browsers and command lines show their refresh tokens; how these rotate stands in `sessions`. */

export interface Presented {
  readonly accessToken: string | null;
  readonly refreshToken: string;
}

interface Tokens {
  readonly accessToken?: string | undefined;
  readonly refreshToken?: string | undefined;
}

/** The tokens that identify the session: those of the body, else the cookie, for which the origin must be allowed. */
export function presentedBy(input: Tokens, call: Call): Presented {
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
  const inBody = parseRefreshToken(refreshToken)?.sessionId;
  const inCookie = call.refreshCookie === null ? undefined : parseRefreshToken(call.refreshCookie)?.sessionId;
  if (inBody !== undefined && inCookie !== undefined && inBody !== inCookie) {
    throw fail('VALIDATION_ERROR', {
      details: [{ path: 'refreshToken', code: 'excluded' }],
      fix: 'The cookie belongs to another session: send either the tokens or the cookie.',
    });
  }
  return { accessToken, refreshToken };
}

/**
 * What an attempt counts against: the session of a token of ours, else the network. A session id stands in events and
 * tokens, so whoever merely names one must not be able to use up its limit.
 */
export function refreshBucket(
  services: Services,
  { refreshCookie, network }: Call,
  inBody: string | undefined,
): string | null {
  const token = inBody ?? refreshCookie;
  if (token === null) return null;
  const sessionId = parseRefreshToken(token)?.sessionId;
  return sessionId !== undefined && isAuthentic(refreshKeys(services), token) ? sessionId : network;
}

/** What the run needs, made before its transaction opens. */
export interface PreparedRefresh {
  readonly shown: Shown;
  /** Null for a token that is neither the newest nor the one just replaced: it gets nothing. */
  readonly accessToken: string | null;
}

/** @throws UNAUTHENTICATED, EMAIL_VERIFICATION_REQUIRED */
export async function prepareRefresh(
  db: Executor,
  services: Services,
  call: Call,
  presented: Presented,
): Promise<PreparedRefresh> {
  const token = parseRefreshToken(presented.refreshToken);
  const trusted =
    token !== null &&
    (presented.accessToken === null || (await names(services, presented.accessToken, token.sessionId)));
  const shown = trusted ? await shownToken(db, services, presented.refreshToken) : undefined;
  if (!shown || !belongsHere(shown)) throw await unauthenticated(db, services, call);
  const { session, user, isKnown } = shown;
  if (isKnown && isOverdue(user, services)) throw verificationRequired();
  const facts = { ...session, emailVerified: user.emailVerified };
  return { shown, accessToken: isKnown ? await signAccessToken(services, facts) : null };
}

/** App sessions are refreshed at the token endpoint of the project sign-in, under the app's own rules. */
const belongsHere = ({ session }: Family): boolean => session.kind !== 'projectApp';

export const verificationRequired = (): DoorwardError =>
  fail('EMAIL_VERIFICATION_REQUIRED', {
    fix: 'Open the link in the verification mail, or ask for a new one at POST /api/auth/resend-verification.',
  });

/** Replaces the token, answers a retry with the same successor, or ends a family whose token was copied. */
export async function refresh(ctx: Run, { shown, accessToken }: PreparedRefresh) {
  const { tx, services, call } = ctx;
  const rotated = await rotate(ctx, shown);
  if (rotated === 'copied') {
    ctx.record(reuseDetected(shown, 'UNAUTHENTICATED'));
    // From now on neither the thief's nor the user's copy works.
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

/** Whether an access token, expired or not, was signed by us for this session. */
async function names(
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

/** The 401 of a refresh. It takes the cookie away only when the cookie's own session is dead. */
async function unauthenticated(db: Executor, services: Services, call: Call): Promise<DoorwardError> {
  if (call.refreshCookie !== null) {
    const inCookie = parseRefreshToken(call.refreshCookie);
    const family = inCookie ? await familyOf(db, inCookie.sessionId) : undefined;
    const lives = family && belongsHere(family) && canRefresh(services, family);
    if (!lives) call.effects.refreshCookie = 'clear';
  }
  return fail('UNAUTHENTICATED');
}
