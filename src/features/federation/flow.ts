import { and, eq, gt } from 'drizzle-orm';
import { index, pgTable, text as textColumn } from 'drizzle-orm/pg-core';
import { SealError } from '../../crypto/kek.ts';
import { hashOneTimeToken, newOneTimeToken } from '../../crypto/one-time-token.ts';
import { time } from '../../db/columns.ts';
import { fail } from '../../errors.ts';
import type { Call, Services } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { Run } from '../identity/sign-in.ts';

/**
 * A sign-in on its way through another site. The browser that began it holds the flow cookie, the other site hands back
 * the state; only both together end it, once. So nobody can be led into the end of somebody else's sign-in. What is to
 * happen at the end is sealed in the row: it is decided at the beginning, by nothing that comes back.
 */
export const signInFlows = pgTable(
  'sign_in_flows',
  {
    /** Of the state. */
    hash: textColumn('hash').primaryKey(),
    /** Of the flow cookie. */
    browserHash: textColumn('browser_hash').notNull(),
    sealed: textColumn('sealed').notNull(),
    expiresAt: time('expires_at').notNull(),
    createdAt: time('created_at').notNull().defaultNow(),
  },
  (table) => [index('sign_in_flows_expiry').on(table.expiresAt)],
);

export interface Flow {
  /** PKCE (RFC 7636): without it a code that got lost on the way is of no use to whoever finds it. */
  readonly verifier: string;
  readonly accountType: 'personal' | 'organization';
  /** The session to whose user the account is to be linked; null: somebody signs in. */
  readonly connecting: string | null;
  /** Where the browser goes at the end; null: the default page. */
  readonly redirect: string | null;
}

export const FLOW_SECONDS = 600;

/** Stores the flow under a fresh state and binds it to this browser. Older flows of the browser end there. */
export async function beginFlow(ctx: Run, flow: Flow): Promise<string> {
  const { tx, services, call } = ctx;
  const [state, browser] = [newOneTimeToken(), newOneTimeToken()];
  const hash = hashOneTimeToken(state);
  await tx.insert(signInFlows).values({
    hash,
    browserHash: hashOneTimeToken(browser),
    sealed: services.kek.seal(JSON.stringify(flow), placeOf(hash)),
    expiresAt: new Date(services.clock.now().getTime() + FLOW_SECONDS * 1000),
  });
  ctx.afterCommit(() => {
    call.effects.flowCookie = { value: browser, maxAgeSeconds: FLOW_SECONDS };
  });
  return state;
}

/** Uses up the flow of this state, if it is this browser's. @throws INVALID_TOKEN */
export async function takeFlow(db: Executor, services: Services, call: Call, state: string): Promise<Flow> {
  const hash = hashOneTimeToken(state);
  const taken =
    call.flowCookie === null
      ? []
      : await db
          .delete(signInFlows)
          .where(
            and(
              eq(signInFlows.hash, hash),
              eq(signInFlows.browserHash, hashOneTimeToken(call.flowCookie)),
              gt(signInFlows.expiresAt, services.clock.now()),
            ),
          )
          .returning();
  const flow = taken[0] && opened(services, hash, taken[0].sealed);
  if (!flow) throw fail('INVALID_TOKEN', { fix: 'Start the sign-in again, in this browser.' });
  return flow;
}

const placeOf = (hash: string): string => `sign_in_flows:${hash}`;

/** Undefined when the key it was sealed under is gone: the user starts again. */
function opened({ kek }: Services, hash: string, sealed: string): Flow | undefined {
  try {
    return JSON.parse(kek.open(sealed, placeOf(hash)).toString()) as Flow;
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
