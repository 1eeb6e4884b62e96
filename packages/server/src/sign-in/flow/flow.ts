import { and, eq, gt } from 'drizzle-orm';
import { SealError } from '../../crypto/keys/kek.ts';
import { newFlowSecret, newFlowToken } from '../../crypto/tokens/flow-secret.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { fail } from '../../errors.ts';
import type { Call } from '../../kernel/context.ts';
import type { Services, Run } from '../../services.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { FlowData } from './flow-data.ts';
import { hintOf } from './flow-hint.ts';
import { signInFlows } from '../../schema/sign-in/sign-in-flow.ts';

/** State of a sign-in between its steps. The table is in `sign-in-flow.ts`. */

/** A stored flow. `handle` is its current state token. */
export type Flow<K extends keyof FlowData> = FlowData[K] & { readonly handle: string };

export const FLOW_SECONDS = 600;

/** The user who has proved their identity in this flow, if any. */
function provenUserId(data: FlowData[keyof FlowData]): string | null {
  if ('step' in data) return 'user' in data.step ? data.step.user.userId : null;
  return 'userId' in data ? data.userId : null;
}

/**
 * Stores the flow under a new state token, and binds it to this browser by a separate cookie. Other flows of the
 * browser continue.
 */
export async function beginFlow<K extends keyof FlowData>(
  ctx: Run,
  kind: K,
  data: FlowData[K],
): Promise<string> {
  const { tx, services } = ctx;
  const browser = newFlowSecret();
  const state = newFlowToken(browser);
  const hash = hashOneTimeToken(state);
  await tx.insert(signInFlows).values({
    hash,
    browserHash: hashOneTimeToken(browser),
    sealed: sealFlow(services, kind, { handle: state, hash, data }),
    userId: provenUserId(data),
    expiresAt: new Date(services.clock.now().getTime() + FLOW_SECONDS * 1000),
  });
  ctx.setCookies({ flowCookie: { value: browser, maxAgeSeconds: FLOW_SECONDS, hint: hintOf(data) } });
  return state;
}

export const startAgainError = () =>
  fail('INVALID_TOKEN', { fix: 'Start the sign-in again, in this browser.' });

const isOfBrowser = ({ clock }: Services, cookie: string) =>
  and(eq(signInFlows.browserHash, hashOneTimeToken(cookie)), gt(signInFlows.expiresAt, clock.now()));

/**
 * Consumes the flow with this state token, if it belongs to this browser.
 *
 * @throws INVALID_TOKEN
 */
export async function consumeFlow<K extends keyof FlowData>(
  db: Executor,
  services: Services,
  { flowCookie }: Call,
  kind: K,
  state: string,
): Promise<Flow<K>> {
  const isState = flowCookie !== null && eq(signInFlows.hash, hashOneTimeToken(state));
  const [row] = isState
    ? await db
        .delete(signInFlows)
        .where(and(isState, isOfBrowser(services, flowCookie)))
        .returning()
    : [];
  const flow = row && decryptFlow(services, kind, row);
  if (!flow) throw startAgainError();
  return flow;
}

/**
 * Moves the flow to its next step, under a new state token. Browser and expiry stay the same.
 *
 * @throws INVALID_TOKEN if the former state token was already used
 */
export async function advanceFlow<K extends keyof FlowData>(
  ctx: Run,
  kind: K,
  formerState: string,
  data: FlowData[K],
): Promise<string> {
  const { tx, services } = ctx;
  const state = newFlowToken(formerState);
  const hash = hashOneTimeToken(state);
  const advanced = await tx
    .update(signInFlows)
    .set({
      hash,
      sealed: sealFlow(services, kind, { handle: state, hash, data }),
      userId: provenUserId(data),
      mailedHash: null,
    })
    .where(eq(signInFlows.hash, hashOneTimeToken(formerState)))
    .returning({ hash: signInFlows.hash });
  if (advanced.length === 0) throw startAgainError();
  return state;
}

/**
 * Stores new data at the same step. `extend`: restart the lifetime of flow and cookie. `mailed`: the token of a link
 * that replaces the former one; null to end the former link without a new one.
 *
 * @throws INVALID_TOKEN if the flow has reached another step in the meantime
 */
export async function updateFlow<K extends keyof FlowData>(
  ctx: Run,
  kind: K,
  {
    handle,
    data,
    extend = false,
    mailed,
  }: {
    readonly handle: string;
    readonly data: FlowData[K];
    readonly extend?: boolean;
    readonly mailed?: string | null | undefined;
  },
): Promise<void> {
  const { tx, services, call } = ctx;
  const hash = hashOneTimeToken(handle);
  const expiresAt = new Date(services.clock.now().getTime() + FLOW_SECONDS * 1000);
  const updated = await tx
    .update(signInFlows)
    .set({
      sealed: sealFlow(services, kind, { handle, hash, data }),
      ...(mailed === undefined ? {} : { mailedHash: mailed && hashOneTimeToken(mailed) }),
      ...(extend ? { expiresAt } : {}),
    })
    .where(eq(signInFlows.hash, hash))
    .returning({ hash: signInFlows.hash });
  if (updated.length === 0) throw startAgainError();
  const browser = call.flowCookie;
  if (!extend || browser === null) return;
  ctx.setCookies({ flowCookie: { value: browser, maxAgeSeconds: FLOW_SECONDS } });
}

/** The flow whose newest mailed link has this token, and whether this browser began it. The token is not consumed. */
export async function findFlowByMailedToken<K extends keyof FlowData>(
  db: Executor,
  services: Services,
  kind: K,
  { token, cookie }: { readonly token: string; readonly cookie: string | null },
): Promise<{ readonly flow: Flow<K>; readonly isSameBrowser: boolean } | undefined> {
  const isMailed = and(
    eq(signInFlows.mailedHash, hashOneTimeToken(token)),
    gt(signInFlows.expiresAt, services.clock.now()),
  );
  const [row] = await db.select().from(signInFlows).where(isMailed);
  const flow = row && decryptFlow(services, kind, row);
  return flow && { flow, isSameBrowser: cookie !== null && row.browserHash === hashOneTimeToken(cookie) };
}

/** The flow with this state token, for any browser; it is not consumed. */
export async function findFlowByState<K extends keyof FlowData>(
  db: Executor,
  services: Services,
  kind: K,
  state: string,
): Promise<Flow<K> | undefined> {
  const isState = and(
    eq(signInFlows.hash, hashOneTimeToken(state)),
    gt(signInFlows.expiresAt, services.clock.now()),
  );
  const [row] = await db.select().from(signInFlows).where(isState);
  return row && decryptFlow(services, kind, row);
}

/** The flow of the browser with this cookie; it is not consumed. */
export async function findFlowByCookie<K extends keyof FlowData>(
  db: Executor,
  services: Services,
  kind: K,
  cookie: string,
): Promise<Flow<K> | undefined> {
  const [row] = await db.select().from(signInFlows).where(isOfBrowser(services, cookie));
  return row && decryptFlow(services, kind, row);
}

/**
 * Locks the flow until commit and reads it again; undefined if it has ended or reached another step in the meantime.
 */
export async function lockFlow<K extends keyof FlowData>(
  db: Executor,
  services: Services,
  kind: K,
  handle: string,
): Promise<Flow<K> | undefined> {
  const isFlow = eq(signInFlows.hash, hashOneTimeToken(handle));
  const [row] = await db.select().from(signInFlows).where(isFlow).for('update');
  return row && decryptFlow(services, kind, row);
}

/**
 * `provider` keeps its former name here, so that two versions that run at the same time can read each other's flows.
 */
const sealContext = (kind: keyof FlowData, hash: string): string =>
  `sign_in_flows:${kind === 'provider' ? 'github' : kind}:${hash}`;

/** Members that the previous version does not know. It would ignore them, and so misread the flow. */
const newMembers = /"(?:providerKey|oidc|passkey|passkeyAmr|asksFactor|enrolment|toService|ofAccountPages)"/;

/**
 * Seals a flow. A flow that the previous version would misread gets a different context, so that version asks the user
 * to start again.
 */
function sealFlow<K extends keyof FlowData>(
  { kek }: Pick<Services, 'kek'>,
  kind: K,
  { handle, hash, data }: { readonly handle: string; readonly hash: string; readonly data: FlowData[K] },
): string {
  const text = JSON.stringify([handle, data]);
  const context = sealContext(kind, hash);
  return kek.seal(text, newMembers.test(text) ? `${context}:2` : context);
}

/**
 * Decrypts a flow. Undefined for a flow of another kind, and if its encryption key was removed; the user then starts
 * again.
 */
function decryptFlow<K extends keyof FlowData>(
  { kek }: Services,
  kind: K,
  { hash, sealed }: typeof signInFlows.$inferSelect,
): Flow<K> | undefined {
  const context = sealContext(kind, hash);
  for (const each of [context, `${context}:2`]) {
    try {
      const [handle, data] = JSON.parse(kek.open(sealed, each).toString()) as [string, FlowData[K]];
      return { ...data, handle };
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
    }
  }
  return undefined;
}

/** After the commit this flow is no longer the browser's newest one. */
export const clearFlowCookie = (ctx: Run): void => ctx.setCookies({ flowCookie: 'clear' });
