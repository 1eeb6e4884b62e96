import { and, eq, gt, isNotNull, sql } from 'drizzle-orm';
import { createHmac } from 'node:crypto';
import { SealError, type Kek } from '../../crypto/keys/kek.ts';
import { flowIdOf } from '../../crypto/tokens/flow-secret.ts';
import { hashOneTimeToken } from '../../crypto/tokens/one-time-token.ts';
import { DoorwardError } from '../../errors.ts';
import type { Call, CookieEffects } from '../../kernel/context.ts';
import type { NamedOperation } from '../../kernel/operation.ts';
import { canonicalJson } from '../../kernel/output/canonical-json.ts';
import { bare, BareReply, Refusal } from '../../kernel/output/reply.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Executor } from '../../kernel/scoped-db.ts';
import type { RunOnce, Stages } from '../../kernel/stages.ts';
import { projectCodes } from '../../schema/oauth/project-code.ts';
import { cliCodes } from '../../schema/oauth/cli-code.ts';
import { startAgainError } from './flow.ts';
import { stepOutcomes } from '../../schema/sign-in/step-outcome.ts';

const REPEAT_SECONDS = 30;

interface RepeatedStepsOptions {
  readonly pool: Executor;
  readonly transaction: Stages['transaction'];
  readonly clock: Clock;
  readonly kek: Pick<Kek, 'seal' | 'open'>;
}

/** Identifies a step, and the browser that sent it. */
interface Step {
  readonly browserHash: string;
  readonly requestHash: string;
}

/** A request for a step, with the function that performs it. */
interface Attempt {
  readonly call: Call;
  readonly perform: Parameters<RunOnce>[2];
  readonly notes: Parameters<RunOnce>[3];
}

type Answer =
  | { readonly kind: 'output'; readonly output: unknown }
  | { readonly kind: 'reply'; readonly headers: Readonly<Record<string, string>>; readonly status?: number };

interface Outcome {
  readonly answer: Answer;
  readonly cookies: CookieEffects;
}

/** Thrown if a concurrent request has performed the step; the transaction then ends without doing any work. */
class AlreadyDone extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('already done');
    this.outcome = outcome;
  }
}

/** The names of the input members that contain the token that a step consumes. */
const tokens = ['form_token', 'formToken', 'consent_token', 'token', 'state'] as const;

/**
 * Whether the operation can be a step: a form of a page, or the return from a provider. Responses to scripts, such as a
 * challenge, must be new each time.
 */
const mayBeStep = ({ kind, forBrowsers, takesForm, method }: NamedOperation): boolean =>
  kind === 'mutation' && forBrowsers === true && (takesForm !== undefined || method === 'GET');

/**
 * Creates the stage that runs a step once; null for operations that aren't steps, and without the cookie of a flow.
 *
 * If the same browser sends a step of a sign-in twice, because of a double click or a page from its history, the step
 * runs once: for half a minute a repeated request gets the outcome of the first (identity §12). That requires the
 * cookie of the flow, the token of the page and the same input, so no other browser gets the outcome. As with refresh
 * tokens, the window is for responses that were lost on the way. Only concurrent requests share a refusal: a wrong
 * password that is sent again is another attempt.
 */
export function createRepeatedSteps(options: RepeatedStepsOptions): Stages['runOnce'] {
  const { pool, transaction, clock, kek } = options;
  /**
   * The steps that run in this process, so that a repeated request does not ask a provider or hash a password again in
   * the meantime.
   */
  const running = new Map<string, Promise<unknown>>();

  async function find(db: Executor, step: Step): Promise<Outcome | undefined> {
    const isStep = and(
      eq(stepOutcomes.browserHash, step.browserHash),
      eq(stepOutcomes.requestHash, step.requestHash),
      gt(stepOutcomes.expiresAt, clock.now()),
    );
    const [row] = await db.select().from(stepOutcomes).where(isStep);
    if (!row) return undefined;
    try {
      return JSON.parse(kek.open(row.sealed, contextOf(step)).toString()) as Outcome;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  /** Waits for a request in another process that performs a step of this flow. */
  async function lock(tx: Executor, step: Step): Promise<void> {
    await tx.execute(
      sql`select pg_advisory_xact_lock(hashtextextended(${`step ${step.browserHash}`}, 0)) as taken`,
    );
    const outcome = await find(tx, step);
    if (outcome) throw new AlreadyDone(outcome);
  }

  async function store(tx: Executor, step: Step, outcome: Outcome): Promise<void> {
    const row = {
      requestHash: step.requestHash,
      sealed: kek.seal(JSON.stringify(outcome), contextOf(step)),
      expiresAt: new Date(clock.now().getTime() + REPEAT_SECONDS * 1000),
    };
    await tx
      .insert(stepOutcomes)
      .values({ browserHash: step.browserHash, ...row })
      .onConflictDoUpdate({ target: stepOutcomes.browserHash, set: row });
  }

  async function repeat({ answer, cookies }: Outcome, call: Call): Promise<unknown> {
    const next = locationOf(answer);
    // A second exchange of a code would end the session of the first.
    if (next !== undefined && (await hasUsedCode(pool, next))) throw startAgainError();
    Object.assign(call.effects, cookies);
    return answer.kind === 'reply' ? bare(null, answer.headers, answer.status) : answer.output;
  }

  return (op, call) => {
    const secret = call.flowCookie;
    if (secret === null || !mayBeStep(op)) return null;
    return async (input, _by, perform, notes) => {
      const token = tokens.map((name) => input[name]).find((value) => typeof value === 'string');
      if (token === undefined || flowIdOf(token) !== flowIdOf(secret)) return perform(transaction);
      const step = stepOf(secret, op.name, input);
      const earlier = running.get(step.requestHash);
      const own = runAfter(earlier, step, { call, perform, notes });
      // Set before anything is awaited, so that simultaneous requests see each other.
      running.set(step.requestHash, own);
      try {
        return await own;
      } finally {
        if (running.get(step.requestHash) === own) running.delete(step.requestHash);
      }
    };
  };

  async function runAfter(
    earlier: Promise<unknown> | undefined,
    step: Step,
    { call, perform, notes }: Attempt,
  ): Promise<unknown> {
    await earlier;
    const done = await find(pool, step);
    if (done) return repeat(done, call);
    try {
      return await perform((work) =>
        transaction(async (tx) => {
          await lock(tx, step);
          const out = await work(tx);
          const answer = answerToStore(out);
          if (answer) await store(tx, step, { answer, cookies: notes.cookies });
          return out;
        }),
      );
    } catch (error) {
      const outcome = await outcomeAfter(error, step);
      if (outcome) return repeat(outcome, call);
      throw error;
    }
  }

  /**
   * If the error means that the token was used in the meantime, perhaps by the request that this one repeats, returns
   * the stored outcome of that request, if there is one.
   */
  async function outcomeAfter(error: unknown, step: Step): Promise<Outcome | undefined> {
    if (error instanceof AlreadyDone) return error.outcome;
    return error instanceof DoorwardError && error.code === 'INVALID_TOKEN' ? find(pool, step) : undefined;
  }
}

const contextOf = ({ browserHash, requestHash }: Step): string =>
  `step_outcomes:${browserHash}:${requestHash}`;

const stepOf = (secret: string, operation: string, input: object): Step => ({
  browserHash: hashOneTimeToken(secret),
  requestHash: createHmac('sha256', secret)
    .update(`${operation} ${canonicalJson(input)}`)
    .digest('base64url'),
});

function answerToStore(out: unknown): Answer | null {
  if (out instanceof Refusal) return null;
  if (!(out instanceof BareReply)) return { kind: 'output', output: out ?? null };
  const { body, headers, status } = out;
  return body === null ? { kind: 'reply', headers, ...(status !== undefined && { status }) } : null;
}

/** Returns the address that this response sends the browser to; undefined if it has none. */
const locationOf = (answer: Answer): string | undefined =>
  answer.kind === 'reply'
    ? answer.headers['location']
    : (answer.output as { readonly redirectUrl?: string } | null)?.redirectUrl;

/** Whether the address contains a code that the app or command line has exchanged. */
async function hasUsedCode(db: Executor, address: string): Promise<boolean> {
  const code = URL.canParse(address) ? new URL(address).searchParams.get('code') : null;
  if (code === null) return false;
  const hash = hashOneTimeToken(code);
  for (const table of [projectCodes, cliCodes]) {
    const isUsed = and(eq(table.hash, hash), isNotNull(table.sessionId));
    if ((await db.select({ hash: table.hash }).from(table).where(isUsed)).length > 0) return true;
  }
  return false;
}
