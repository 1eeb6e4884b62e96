import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { Config } from '../../config.ts';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/one-time-token.ts';
import { equalHashes } from '../../crypto/secrets.ts';
import { fail } from '../../errors.ts';
import type { Services } from '../../kernel/context.ts';
import { refuse } from '../../kernel/reply.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import { mayExist } from '../identity/password-sign-in.ts';
import {
  endSessions,
  newSession,
  openSession,
  type NewSession,
  type Run,
  type UserRow,
} from '../identity/sign-in.ts';
import { nodeOfUser, systemActor, userAsActor } from '../identity/user-node.ts';
import { lockUser } from '../identity/verification.ts';
import { sessions } from '../me/session.ts';
import { users } from '../users/user.ts';
import { cliCodes } from './cli-code.ts';
import { invalidRedirect, isLoopback, withQuery } from './destination.ts';
import { beginFlow, forgetFlow, seeFlow, takeFlow, type WaitingCli } from './flow.ts';

/**
 * Signing in from a command line (identity §9). It listens on this computer, opens the browser, and gets a code there;
 * the code and the secret behind its challenge are exchanged for a session. Before there is a code the user is asked,
 * for anybody can have a browser opened, and on a computer with several users anybody can listen.
 */
const CODE_SECONDS = 60;

export interface AskedByCli {
  readonly redirect?: string | undefined;
  readonly action: 'login' | 'register' | 'connect';
  readonly state?: string | undefined;
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: 'S256' | undefined;
}

/** What a command line asks for; null for a browser. @throws VALIDATION_ERROR, INVALID_REDIRECT_URI */
export function waitingCli({ security }: Config, asked: AskedByCli): WaitingCli | null {
  const { redirect, state, code_challenge: challenge, code_challenge_method: method } = asked;
  const parts = Object.entries({ redirect, state, code_challenge: challenge, code_challenge_method: method });
  const asksAsCli = parts.some(([name, part]) => name !== 'redirect' && part !== undefined);
  const isOwn = redirect !== undefined && security.origins.includes(originOf(redirect));
  if (!asksAsCli && (redirect === undefined || isOwn || !isLoopback(redirect))) return null;
  const missing = parts.filter(([, part]) => part === undefined).map(([path]) => path);
  if (state === undefined || challenge === undefined || redirect === undefined || missing.length > 0) {
    throw fail('VALIDATION_ERROR', { details: missing.map((path) => ({ path, code: 'required' })) });
  }
  if (asked.action === 'connect') {
    throw fail('VALIDATION_ERROR', { details: [{ path: 'action', code: 'excluded' }] });
  }
  if (!isLoopback(redirect)) throw invalidRedirect();
  return { state, challenge };
}

const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : '');

/** GitHub has told who it is: the user is asked next, on a page of ours. */
export async function askUser(
  ctx: Run,
  user: UserRow,
  waiting: WaitingCli & { readonly redirect: string },
): Promise<string> {
  await beginFlow(ctx, 'cli', { ...waiting, userId: user.id });
  ctx.record({
    actor: userAsActor(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(ctx.tx, user.id),
  });
  return `${ctx.services.config.appUrl}/hosted/cli-sign-in`;
}

/** What the page asks; null when this browser has nothing to decide. */
export interface Question {
  readonly name: string;
  readonly address: string;
  readonly formToken: string;
  readonly redirect: string;
}

export async function questionFor(
  db: Executor,
  services: Services,
  flowCookie: string,
): Promise<Question | null> {
  const flow = await seeFlow(db, services, 'cli', flowCookie);
  const [user] = flow ? await db.select().from(users).where(eq(users.id, flow.userId)) : [];
  if (!flow || !user || !mayExist(user)) return null;
  return { name: user.name, address: user.email ?? '', formToken: flow.handle, redirect: flow.redirect };
}

/** The user's answer, and so the next address of the browser. @throws INVALID_TOKEN, ORIGIN_NOT_ALLOWED */
export async function decide(
  ctx: Run,
  { decision, formToken }: { readonly decision: 'approve' | 'deny'; readonly formToken: string },
): Promise<string> {
  const { tx, services, call } = ctx;
  if (call.flowCookie !== null && !call.originAllowed) throw fail('ORIGIN_NOT_ALLOWED');
  // Users are locked before flows, as whoever ends their flows does it.
  const known = call.flowCookie === null ? undefined : await seeFlow(tx, services, 'cli', call.flowCookie);
  const holder = decision === 'approve' && known ? await lockUser(ctx, known.userId) : undefined;
  const flow = await takeFlow(tx, services, call, 'cli', formToken);
  forgetFlow(ctx);
  const user = holder?.id === flow.userId ? holder : undefined;
  if (!user || !mayExist(user)) {
    ctx.unchanged();
    return withQuery(flow.redirect, { error: 'accessDenied', state: flow.state });
  }
  const code = newOneTimeToken();
  await tx.insert(cliCodes).values({
    hash: hashOneTimeToken(code),
    userId: user.id,
    challenge: flow.challenge,
    expiresAt: new Date(services.clock.now().getTime() + CODE_SECONDS * 1000),
  });
  ctx.record({
    actor: userAsActor(user),
    target: { type: 'User', id: user.id },
    node: await nodeOfUser(tx, user.id),
  });
  return withQuery(flow.redirect, { code, state: flow.state });
}

/** What the exchange needs, made before its transaction opens. */
export interface PreparedExchange {
  readonly userId: string;
  /** Null where there will be none: the code was used, or the user may not sign in. */
  readonly session: NewSession | null;
}

const invalidCode = () =>
  fail('INVALID_TOKEN', { fix: 'Begin the sign-in again: a code works once, within 60 seconds.' });

/** @throws INVALID_TOKEN */
export async function prepareExchange(
  db: Executor,
  services: Services,
  code: string,
): Promise<PreparedExchange> {
  const [found] = await db
    .select({ user: users, usedBy: cliCodes.sessionId })
    .from(cliCodes)
    .innerJoin(users, eq(users.id, cliCodes.userId))
    .where(eq(cliCodes.hash, hashOneTimeToken(code)));
  if (!found) throw invalidCode();
  const { user, usedBy } = found;
  const opens = usedBy === null && mayExist(user);
  const session = opens ? await newSession(services, user, { kind: 'cli', amr: ['fed'] }) : null;
  return { userId: user.id, session };
}

/**
 * Uses the code up and opens the session. A second use ends the session that the first opened: when two clients hold
 * one code and its verifier, nobody knows which of them is the thief (RFC 6749 §4.1.2). A used code without the
 * verifier ends nothing, because codes stand in browser histories and logs. The lock on the user's row orders
 * concurrent uses; refusals are recorded.
 * @throws INVALID_TOKEN
 */
export async function exchange(
  ctx: Run,
  { userId, session }: PreparedExchange,
  sent: { readonly code: string; readonly codeVerifier: string },
) {
  const { tx, services } = ctx;
  const user = await lockUser(ctx, userId);
  const isIt = eq(cliCodes.hash, hashOneTimeToken(sent.code));
  const [code] = await tx.select().from(cliCodes).where(isIt).for('update');
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
  if (code.expiresAt <= services.clock.now() || !isVerifier || !user || !session || !mayExist(user)) {
    await tx.delete(cliCodes).where(isIt);
    refused({ type: 'User', id: userId });
    return refuse(invalidCode());
  }
  const signIn = await openSession(ctx, session, user);
  // Known as long as the session, so that a second use is seen whenever it comes.
  await tx.update(cliCodes).set({ sessionId: session.id, expiresAt: session.expiresAt }).where(isIt);
  return signIn;
}

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
