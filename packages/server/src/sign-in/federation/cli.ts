import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { Config } from '../../config/config.ts';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { equalHashes } from '../../crypto/tokens/secrets.ts';
import { fail } from '../../errors.ts';
import type { Services, Run } from '../../services.ts';
import { refuse } from '../../kernel/output/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { approveDevice, denyDevice } from '../devices/decide-device.ts';
import { acrOf } from '../../people/acr.ts';
import { canSignIn } from '../../sessions/password-sign-in.ts';
import { newSession, openSession, type NewSession } from '../../sessions/sign-in.ts';
import { type UserRow, users } from '../../schema/people/user.ts';
import { endSessions } from '../../sessions/live-sessions.ts';
import { nodeOfUser, systemActor, userAsActor } from '../../people/user-node.ts';
import { lockUser } from '../../people/lock-user.ts';
import { sessions } from '../../schema/sign-in/session.ts';
import { cliCodes } from '../../schema/oauth/cli-code.ts';
import { invalidRedirect, isLoopback, withQuery } from './destination.ts';
import { beginFlow, clearFlowCookie, findFlowByCookie, consumeFlow } from '../flow/flow.ts';
import type { CliRequest, WaitingDevice } from '../../apps/access/app-request.ts';
import type { FlowData } from '../flow/flow-data.ts';

/*
 * Sign-in from a command line (identity §9). The command line listens on a loopback port and opens the browser, which
 * signs in with GitHub or on the pages of this service, and sends a code to the port. The command line exchanges the
 * code, with the verifier of its PKCE challenge, for a session. The user must consent before a code is issued, because
 * any program can open a browser, and any user of a shared computer can listen on its loopback ports. A command line
 * without a browser waits as a device instead (`device-sign-in`), and its user gets the same question.
 */

const CODE_SECONDS = 60;

export interface CliParameters {
  readonly redirect?: string | undefined;
  readonly action: 'login' | 'register' | 'connect';
  readonly state?: string | undefined;
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: 'S256' | undefined;
}

/**
 * Reads the parameters of a command line; null if the request comes from a browser.
 *
 * @throws VALIDATION_ERROR, INVALID_REDIRECT_URI
 */
export function parseCliRequest({ security }: Config, parameters: CliParameters): CliRequest | null {
  const { redirect, state, code_challenge: challenge, code_challenge_method: method } = parameters;
  const parts = Object.entries({ redirect, state, code_challenge: challenge, code_challenge_method: method });
  const hasCliParameters = parts.some(([name, part]) => name !== 'redirect' && part !== undefined);
  const isOwn = redirect !== undefined && security.origins.includes(originOf(redirect));
  if (!hasCliParameters && (redirect === undefined || isOwn || !isLoopback(redirect))) return null;
  const missing = parts.filter(([, part]) => part === undefined).map(([path]) => path);
  if (state === undefined || challenge === undefined || redirect === undefined || missing.length > 0) {
    throw fail('VALIDATION_ERROR', { details: missing.map((path) => ({ path, code: 'required' })) });
  }
  if (parameters.action === 'connect') {
    throw fail('VALIDATION_ERROR', { details: [{ path: 'action', code: 'excluded' }] });
  }
  if (!isLoopback(redirect)) throw invalidRedirect();
  return { state, challenge };
}

const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : '');

/** Starts the consent step after the user has signed in, and returns the address of its page. */
export async function requestCliConsent(ctx: Run, waiting: FlowData['cli'], user: UserRow): Promise<string> {
  await beginFlow(ctx, 'cli', waiting);
  ctx.record({
    actor: userAsActor(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(ctx.tx, user.id),
  });
  return `${ctx.services.config.appUrl}/hosted/cli-sign-in`;
}

/** The content of the consent page. */
export interface CliQuestion {
  readonly name: string;
  readonly address: string;
  readonly formToken: string;
  readonly redirect: string;
  /** The device, if the user entered a code for one; null if a command line on this computer opened the page. */
  readonly device: WaitingDevice | null;
}

/** The pending question for the user of this browser; null if there is none. */
export async function loadCliQuestion(
  db: Executor,
  services: Services,
  flowCookie: string,
): Promise<CliQuestion | null> {
  const flow = await findFlowByCookie(db, services, 'cli', flowCookie);
  const [user] = flow ? await db.select().from(users).where(eq(users.id, flow.userId)) : [];
  if (!flow || !user || !canSignIn(user)) return null;
  const { handle: formToken, redirect, device = null } = flow;
  return { name: user.name, address: user.email ?? '', formToken, redirect, device };
}

/**
 * Carries out the user's decision, and returns the browser's next address.
 *
 * @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED
 */
export async function decideCliSignIn(
  ctx: Run,
  { decision, formToken }: { readonly decision: 'approve' | 'deny'; readonly formToken: string },
): Promise<string> {
  const { tx, services, call } = ctx;
  if (call.flowCookie !== null && !call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
  // Lock order: users before flows, as in `endProofs`.
  const pendingFlow =
    call.flowCookie === null ? undefined : await findFlowByCookie(tx, services, 'cli', call.flowCookie);
  const lockedUser =
    decision === 'approve' && pendingFlow ? await lockUser(ctx, pendingFlow.userId) : undefined;
  const flow = await consumeFlow(tx, services, call, 'cli', formToken);
  clearFlowCookie(ctx);
  const user = lockedUser?.id === flow.userId ? lockedUser : undefined;
  if (!user || !canSignIn(user)) {
    ctx.unchanged();
    if (flow.device) return denyDevice(ctx, flow.device.hash);
    return withQuery(flow.redirect, { error: 'accessDenied', state: flow.state });
  }
  ctx.record({
    actor: userAsActor(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(tx, user.id),
  });
  if (flow.device) {
    const approval = {
      userId: user.id,
      user: flow,
      // A command line does not use connections, because its session covers everything that the user can access.
      boundTo: null,
      acr: acrOf(flow.amr),
      scopes: null,
      organizationId: null,
    };
    return approveDevice(ctx, flow.device.hash, approval);
  }
  const code = newOneTimeToken();
  await tx.insert(cliCodes).values({
    hash: hashOneTimeToken(code),
    userId: user.id,
    challenge: flow.challenge,
    amr: [...flow.amr],
    authenticatedAt: new Date(flow.authenticatedAt),
    expiresAt: new Date(services.clock.now().getTime() + CODE_SECONDS * 1000),
  });
  return withQuery(flow.redirect, { code, state: flow.state });
}

/** Everything that the exchange needs, prepared before its transaction opens. */
interface PreparedCliExchange {
  readonly userId: string;
  /** Null if no session will be opened, because the code was used or the user may not sign in. */
  readonly session: NewSession | null;
}

const invalidCode = () =>
  fail('INVALID_TOKEN', { fix: 'Begin the sign-in again: a code works once, within 60 seconds.' });

/**
 * Prepares the session for the code.
 *
 * @throws INVALID_TOKEN
 */
export async function prepareCliExchange(
  db: Executor,
  services: Services,
  code: string,
): Promise<PreparedCliExchange> {
  const [row] = await db
    .select({
      user: users,
      usedBy: cliCodes.sessionId,
      amr: cliCodes.amr,
      authenticatedAt: cliCodes.authenticatedAt,
    })
    .from(cliCodes)
    .innerJoin(users, eq(users.id, cliCodes.userId))
    .where(eq(cliCodes.hash, hashOneTimeToken(code)));
  if (!row) throw invalidCode();
  const { user, usedBy, amr, authenticatedAt } = row;
  if (usedBy !== null || !canSignIn(user)) return { userId: user.id, session: null };
  const options = { kind: 'cli', amr, acr: acrOf(amr), authenticatedAt } as const;
  return { userId: user.id, session: await newSession(services, user, options) };
}

/**
 * Consumes the code and opens the session. A second use ends the session that the first use opened: if two clients have
 * a code and its verifier, the service cannot tell which of them is the thief (RFC 6749 §4.1.2). A used code without
 * the verifier ends nothing, because codes appear in browser histories and logs. The lock on the user's row serializes
 * concurrent uses. Refusals are recorded.
 *
 * @throws INVALID_TOKEN
 */
export async function redeemCliCode(
  ctx: Run,
  { userId, session }: PreparedCliExchange,
  sent: { readonly code: string; readonly codeVerifier: string },
) {
  const { tx, services } = ctx;
  const user = await lockUser(ctx, userId);
  const isCode = eq(cliCodes.hash, hashOneTimeToken(sent.code));
  const [code] = await tx.select().from(cliCodes).where(isCode).for('update');
  if (!code) throw invalidCode();
  const node = await nodeOfUser(tx, userId);
  const refused = (target: { readonly type: string; readonly id: string }) =>
    ctx.record({ outcome: 'failed', code: 'INVALID_TOKEN', target, node });
  const isVerifier = equalHashes(Buffer.from(challengeOf(sent.codeVerifier)), Buffer.from(code.challenge));
  if (code.sessionId !== null) {
    refused({ type: 'Session', id: code.sessionId });
    if (isVerifier) await endSessions(ctx, userId, eq(sessions.id, code.sessionId), systemActor);
    return refuse(invalidCode());
  }
  if (code.expiresAt <= services.clock.now() || !isVerifier || !user || !session || !canSignIn(user)) {
    await tx.delete(cliCodes).where(isCode);
    refused({ type: 'User', id: userId });
    return refuse(invalidCode());
  }
  const signIn = await openSession(ctx, session, user);
  // The code is stored as long as the session, so that a second use is detected at any time.
  await tx.update(cliCodes).set({ sessionId: session.id, expiresAt: session.expiresAt }).where(isCode);
  return signIn;
}

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
