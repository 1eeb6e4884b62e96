import { ConnectionError, DoorwardError, ForbiddenError, TokenError } from '../contracts/errors.ts';
import type { DecisionEvent, FallbackReason } from '../contracts/hooks.ts';
import type { HookList } from '../calls/hook-list.ts';
import { createPauses } from '../calls/pauses.ts';
import type { Doorward } from '../client/doorward.ts';
import type {
  BatchDecision,
  Context,
  Decision,
  ExplainedDecision,
  Permission,
  Question,
  QuestionOptions,
  Who,
} from '../contracts/types.ts';
import { prepareQuestion, type PreparedQuestion } from './question.ts';
import type { RemoteQuestions } from './remote-questions.ts';
import { subjectOf, type QuestionSubject } from './subject.ts';

/** Decides questions in this process. */
export interface LocalDecisions {
  /**
   * Returns the decision, or the reason why the service must decide.
   *
   * @throws TokenError if the token is not valid
   */
  decide(
    subject: QuestionSubject,
    question: PreparedQuestion,
    options: QuestionOptions,
  ): Promise<Decision | FallbackReason> | Decision | FallbackReason;
  /**
   * Returns the decision of `decide` if it can be made without waiting; undefined otherwise.
   *
   * @throws TokenError if the token has ended
   */
  decideNow(
    subject: QuestionSubject,
    question: PreparedQuestion,
    options: QuestionOptions,
  ): Decision | undefined;
  /**
   * Called before a question goes to the service, which sees the address of this application instead of the caller's.
   *
   * @throws TokenError for the token of a key whose networks exclude `options.address`
   */
  assertInNetworks(subject: QuestionSubject, options: QuestionOptions): void;
}

interface QuestionSettings {
  readonly remote: RemoteQuestions;
  readonly local: LocalDecisions | null;
  readonly onUnavailable: 'throw' | 'deny';
  readonly hooks: HookList;
  readonly monotonic: () => number;
}

type Questions = Pick<
  Doorward,
  'check' | 'checkMany' | 'explain' | 'can' | 'assertCan' | 'decideLocally' | 'permissions' | 'whoCan'
>;

const unavailable: Decision = Object.freeze({ authorized: false, reason: 'UNAVAILABLE' });

/** Creates the functions of a client that decide questions: locally if possible, else through the service. */
export function createQuestions({
  remote,
  local,
  onUnavailable,
  hooks,
  monotonic,
}: QuestionSettings): Questions {
  const pause = createPauses(monotonic);

  /** With `deny`, an outage (`isOutage`) counts as a refusal. Other error responses and an abort still throw. */
  const whenUnavailable = <D>(error: unknown, refusal: D): D => {
    if (onUnavailable === 'deny' && isOutage(error)) return refusal;
    throw error;
  };

  /** Runs `work` and reports its decision or error to the hooks. */
  async function observed<D>(
    operation: DecisionEvent['operation'],
    work: (event: { local: boolean; fallback?: FallbackReason }) => Promise<D>,
    outcome: (result: D) => Pick<DecisionEvent, 'authorized' | 'reason'>,
  ): Promise<D> {
    const startedAt = monotonic();
    const event: { local: boolean; fallback?: FallbackReason } = { local: false };
    const report = (more: Pick<DecisionEvent, 'authorized' | 'reason' | 'code'>): void =>
      void hooks.emit('onDecision', { operation, durationMs: monotonic() - startedAt, ...event, ...more });
    try {
      const result = await work(event);
      report(outcome(result));
      return result;
    } catch (error) {
      report({ code: error instanceof DoorwardError ? error.code : 'ERROR' });
      throw error;
    }
  }

  async function check(
    who: Who,
    permission: Permission,
    context?: Context,
    options: QuestionOptions = {},
  ): Promise<Decision> {
    const subject = subjectOf(who);
    const question = prepareQuestion({ permission, context });
    if (local) await pause();
    return observed(
      'check',
      async (event) => {
        const decision = await local?.decide(subject, question, options);
        event.local = typeof decision === 'object';
        if (typeof decision === 'object') return decision;
        if (decision) event.fallback = decision;
        local?.assertInNetworks(subject, options);
        return remote
          .decision(subject, question, options)
          .catch((error: unknown) => whenUnavailable(error, unavailable));
      },
      ({ authorized, reason }) => ({ authorized, reason }),
    );
  }

  async function checkMany(
    who: Who,
    questions: readonly Question[],
    options: QuestionOptions = {},
  ): Promise<readonly BatchDecision[]> {
    const subject = subjectOf(who);
    const prepared = questions.map(prepareQuestion);
    if (prepared.length === 0) return [];
    if (local) await pause();
    return observed(
      'checkMany',
      async (event) => {
        if (local) {
          const decisions = await Promise.all(
            prepared.map(async (question) => local.decide(subject, question, options)),
          );
          const fallback = decisions.find((decision) => typeof decision === 'string');
          event.local = fallback === undefined;
          if (fallback === undefined)
            return decisions.map((decision) => withoutCondition(decision as Decision));
          event.fallback = fallback;
          local.assertInNetworks(subject, options);
        }
        return remote.decisions(subject, prepared, options).catch((error: unknown) =>
          whenUnavailable(
            error,
            prepared.map(() => unavailable),
          ),
        );
      },
      () => ({}),
    );
  }

  function decideLocally(
    who: Who,
    permission: Permission,
    context?: Context,
    options: QuestionOptions = {},
  ): Decision | undefined {
    const subject = subjectOf(who);
    const question = prepareQuestion({ permission, context });
    const startedAt = monotonic();
    const decision = local?.decideNow(subject, question, options);
    if (decision) {
      const { authorized, reason } = decision;
      const event = { operation: 'decideLocally', local: true, authorized, reason };
      hooks.emit('onDecision', { ...event, durationMs: monotonic() - startedAt });
    }
    return decision;
  }

  async function explain(
    who: Who,
    permission: Permission,
    context?: Context,
    options: QuestionOptions = {},
  ): Promise<ExplainedDecision> {
    const subject = subjectOf(who);
    const question = prepareQuestion({ permission, context });
    return observed(
      'explain',
      async (event) => {
        if (local) event.fallback = 'explain';
        local?.assertInNetworks(subject, options);
        return remote.decision(subject, question, { ...options, explain: true });
      },
      ({ authorized, reason }) => ({ authorized, reason }),
    );
  }

  return {
    check,
    checkMany,
    explain,
    decideLocally,
    can: async (...question) => (await check(...question)).authorized,
    async assertCan(...question) {
      const { authorized, reason } = await check(...question);
      if (!authorized) throw refused(reason);
    },
    async permissions(who, options = {}) {
      const subject = subjectOf(who);
      if (subject.kind === 'user')
        throw new TypeError(
          "permissions takes a token, a Principal of verifyToken, or undefined for the client's own credential",
        );
      local?.assertInNetworks(subject, options);
      return remote.permissions(subject, options);
    },
    whoCan: (permission, context, options = {}) =>
      remote.whoCan(prepareQuestion({ permission, context }), options),
  };
}

const withoutCondition = ({ authorized, reason, matchedPermission }: Decision): BatchDecision => ({
  authorized,
  reason,
  ...(matchedPermission ? { matchedPermission } : {}),
});

const refused = (reason: string): ForbiddenError =>
  new ForbiddenError('FORBIDDEN', `This is not allowed (${reason}).`, {
    status: 403,
    reason,
    operation: 'isAuthorized',
  });

/**
 * Whether the service did not respond or could not work, so that neither the question nor the credential is at fault.
 */
function isOutage(error: unknown): boolean {
  if (!(error instanceof DoorwardError) || error instanceof TokenError) return false;
  if (error instanceof ConnectionError) return error.code !== 'ABORTED';
  return error.status !== undefined && (error.status === 429 || error.status >= 500);
}
