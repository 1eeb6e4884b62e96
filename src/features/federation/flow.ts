import { and, eq, gt } from 'drizzle-orm';
import { SealError } from '../../crypto/kek.ts';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Run } from '../identity/sign-in.ts';
import type { Identity } from './github.ts';
import { signInFlows } from './sign-in-flow.ts';

/** What a sign-in stores between its steps, and how it is found again. The table is in `sign-in-flow.ts`. */

/** A command line that waits for its code at a loopback address (identity §9). */
export interface WaitingCli {
  readonly state: string;
  /** PKCE challenge of the code: only who began can exchange it. */
  readonly challenge: string;
}

/** What an app asked for at the beginning of a project sign-in (identity §12). */
export interface AskedByApp {
  readonly appId: string;
  /** As it came, which is one of the app's. */
  readonly redirectUri: string;
  readonly challenge: string;
  /** Null: none was sent. */
  readonly state: string | null;
  /** Null: everything that the app may ask for. */
  readonly scopes: readonly string[] | null;
}

/** How somebody has shown who he is: by a mail that he opened, or by a provider that vouches for him. */
export type Proof =
  | { readonly provider: 'email'; readonly address: string }
  | { readonly provider: 'github'; readonly identity: Identity };

/** Somebody who has shown who he is. Nothing is written of it before he consents. */
export interface SignedInToApp {
  readonly proof: Proof;
  /** Null: nobody yet, whom the app's sign-up lets in. */
  readonly userId: string | null;
  readonly authenticatedAt: string;
  readonly amr: readonly string[];
}

/** What a person is told at the step that he is led back to. */
export type Notice =
  'mailed' | 'wrongCode' | 'providerFailed' | 'providerRefused' | 'addressInvalid' | 'emailNotVerified';

/** The newest link that was mailed, with the address that it proves. A mail that was not queued does not change it. */
export interface MailedLink {
  readonly address: string;
  readonly expiresAt: string;
}

/** A project sign-in at the step that it has reached. */
export interface ProjectSignIn {
  readonly asked: AskedByApp;
  /** PKCE towards GitHub, should the user go that way. */
  readonly verifier: string;
  readonly step:
    | {
        readonly name: 'signIn';
        /** The address as the page shows it, whether a mail was sent or not. */
        readonly mailedTo?: string;
        readonly link?: MailedLink;
        readonly notice?: Notice;
      }
    | { readonly name: 'secondFactor'; readonly user: SignedInToApp; readonly notice?: Notice }
    /** `shown`: what the app is to be allowed; null: it is not restricted. */
    | { readonly name: 'consent'; readonly user: SignedInToApp; readonly shown: readonly string[] | null };
}

/** What each kind of flow keeps. A state of one kind does not end the other. */
interface Kinds {
  readonly github: {
    /** PKCE (RFC 7636): without it a code that got lost on the way is of no use to whoever finds it. */
    readonly verifier: string;
    readonly accountType: 'personal' | 'organization';
    /** The session to whose user the account is to be linked; null: somebody signs in. */
    readonly connecting: string | null;
    /** Where the browser goes at the end; null: the default page. */
    readonly redirect: string | null;
    readonly cli: WaitingCli | null;
  };
  /** The user is known and has yet to say yes. */
  readonly cli: WaitingCli & { readonly userId: string; readonly redirect: string };
  /** A provider's account that is connected if the user of the session says yes. */
  readonly connect: {
    readonly identity: Identity;
    readonly sessionId: string;
    readonly redirect: string;
  };
  readonly project: ProjectSignIn;
}
/** `handle`: the state it is under. */
export type Flow<K extends keyof Kinds> = Kinds[K] & { readonly handle: string };

export const FLOW_SECONDS = 600;

/** The user who has shown in this flow who they are. */
function provedIn(kept: Kinds[keyof Kinds]): string | null {
  if ('step' in kept) return 'user' in kept.step ? kept.step.user.userId : null;
  return 'userId' in kept ? kept.userId : null;
}

/** Stores the flow under a fresh state and binds it to this browser, whose older flow ends there. */
export async function beginFlow<K extends keyof Kinds>(ctx: Run, kind: K, kept: Kinds[K]): Promise<string> {
  const { tx, services, call } = ctx;
  const [state, browser] = [newOneTimeToken(), newOneTimeToken()];
  const hash = hashOneTimeToken(state);
  await tx.insert(signInFlows).values({
    hash,
    browserHash: hashOneTimeToken(browser),
    sealed: services.kek.seal(JSON.stringify([state, kept]), placeOf(kind, hash)),
    userId: provedIn(kept),
    expiresAt: new Date(services.clock.now().getTime() + FLOW_SECONDS * 1000),
  });
  ctx.afterCommit(() => {
    call.effects.flowCookie = { value: browser, maxAgeSeconds: FLOW_SECONDS };
  });
  return state;
}

export const startAgain = () => fail('INVALID_TOKEN', { fix: 'Start the sign-in again, in this browser.' });

const isOfBrowser = ({ clock }: Services, cookie: string) =>
  and(eq(signInFlows.browserHash, hashOneTimeToken(cookie)), gt(signInFlows.expiresAt, clock.now()));

/** Uses up the flow of this state, if it is this browser's. @throws INVALID_TOKEN */
export async function takeFlow<K extends keyof Kinds>(
  db: Executor,
  services: Services,
  { flowCookie }: Call,
  kind: K,
  state: string,
): Promise<Flow<K>> {
  const isIt = flowCookie !== null && eq(signInFlows.hash, hashOneTimeToken(state));
  const [row] = isIt
    ? await db
        .delete(signInFlows)
        .where(and(isIt, isOfBrowser(services, flowCookie)))
        .returning()
    : [];
  const flow = row && opened(services, kind, row);
  if (!flow) throw startAgain();
  return flow;
}

/**
 * Takes the flow on to what `kept` says, under a fresh state; the browser and its time stay. The former state has had its
 * one use. @throws INVALID_TOKEN when it had it before
 */
export async function advanceFlow<K extends keyof Kinds>(
  ctx: Run,
  kind: K,
  former: string,
  kept: Kinds[K],
): Promise<string> {
  const { tx, services } = ctx;
  const state = newOneTimeToken();
  const hash = hashOneTimeToken(state);
  const advanced = await tx
    .update(signInFlows)
    .set({
      hash,
      sealed: services.kek.seal(JSON.stringify([state, kept]), placeOf(kind, hash)),
      userId: provedIn(kept),
      mailedHash: null,
    })
    .where(eq(signInFlows.hash, hashOneTimeToken(former)))
    .returning({ hash: signInFlows.hash });
  if (advanced.length === 0) throw startAgain();
  return state;
}

/**
 * Stores new data at the same step. `lasts`: flow and cookie start their lifetime anew; `mailed`: the token of a link
 * that replaces the former one. @throws INVALID_TOKEN when the flow has moved on meanwhile
 */
export async function amendFlow<K extends keyof Kinds>(
  ctx: Run,
  kind: K,
  {
    handle,
    kept,
    lasts = false,
    mailed,
  }: {
    readonly handle: string;
    readonly kept: Kinds[K];
    readonly lasts?: boolean;
    readonly mailed?: string | undefined;
  },
): Promise<void> {
  const { tx, services, call } = ctx;
  const hash = hashOneTimeToken(handle);
  const expiresAt = new Date(services.clock.now().getTime() + FLOW_SECONDS * 1000);
  const amended = await tx
    .update(signInFlows)
    .set({
      sealed: services.kek.seal(JSON.stringify([handle, kept]), placeOf(kind, hash)),
      ...(mailed === undefined ? {} : { mailedHash: hashOneTimeToken(mailed) }),
      ...(lasts ? { expiresAt } : {}),
    })
    .where(eq(signInFlows.hash, hash))
    .returning({ hash: signInFlows.hash });
  if (amended.length === 0) throw startAgain();
  const browser = call.flowCookie;
  if (!lasts || browser === null) return;
  ctx.afterCommit(() => {
    call.effects.flowCookie = { value: browser, maxAgeSeconds: FLOW_SECONDS };
  });
}

/** The flow whose newest mail has this token, and whether this is the browser that began it. The token stays as it is. */
export async function flowOfMail<K extends keyof Kinds>(
  db: Executor,
  services: Services,
  kind: K,
  { token, cookie }: { readonly token: string; readonly cookie: string | null },
): Promise<{ readonly flow: Flow<K>; readonly isHere: boolean } | undefined> {
  const isIt = and(
    eq(signInFlows.mailedHash, hashOneTimeToken(token)),
    gt(signInFlows.expiresAt, services.clock.now()),
  );
  const [row] = await db.select().from(signInFlows).where(isIt);
  const flow = row && opened(services, kind, row);
  return flow && { flow, isHere: cookie !== null && row.browserHash === hashOneTimeToken(cookie) };
}

/** The flow of this state, whosever browser asks, without using it up. */
export async function flowUnder<K extends keyof Kinds>(
  db: Executor,
  services: Services,
  kind: K,
  state: string,
): Promise<Flow<K> | undefined> {
  const isIt = and(
    eq(signInFlows.hash, hashOneTimeToken(state)),
    gt(signInFlows.expiresAt, services.clock.now()),
  );
  const [row] = await db.select().from(signInFlows).where(isIt);
  return row && opened(services, kind, row);
}

/** The flow of the browser that holds this cookie, without using it up. */
export async function seeFlow<K extends keyof Kinds>(
  db: Executor,
  services: Services,
  kind: K,
  cookie: string,
): Promise<Flow<K> | undefined> {
  const [row] = await db.select().from(signInFlows).where(isOfBrowser(services, cookie));
  return row && opened(services, kind, row);
}

const placeOf = (kind: keyof Kinds, hash: string): string => `sign_in_flows:${kind}:${hash}`;

/** Undefined for a flow of another kind, and when the key it was sealed under is gone: the user starts again. */
function opened<K extends keyof Kinds>(
  { kek }: Services,
  kind: K,
  { hash, sealed }: typeof signInFlows.$inferSelect,
): Flow<K> | undefined {
  try {
    const [handle, kept] = JSON.parse(kek.open(sealed, placeOf(kind, hash)).toString()) as [string, Kinds[K]];
    return { ...kept, handle };
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/** The browser is done with its flow. */
export function forgetFlow(ctx: Run): void {
  ctx.afterCommit(() => {
    ctx.call.effects.flowCookie = 'clear';
  });
}
