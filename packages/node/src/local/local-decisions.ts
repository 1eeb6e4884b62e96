import { covers, decide, type Policy, type Subject } from '@doorward/decision';
import { TokenError } from '../contracts/errors.ts';
import type { FallbackReason } from '../contracts/hooks.ts';
import type { LocalDecisions } from '../questions/create-questions.ts';
import type { PreparedQuestion } from '../questions/question.ts';
import type { QuestionSubject } from '../questions/subject.ts';
import { tokenError, type VerifiedToken } from '../tokens/verify-token.ts';
import type { Decision, QuestionOptions, Scope } from '../contracts/types.ts';
import { resourceAsJson } from './context.ts';
import type { HeldPolicy } from './held-policy.ts';
import { isExcluded } from './key-networks.ts';
import type { ProvenTokens } from './proven-tokens.ts';
import type { Synchronization } from './synchronization.ts';
import { subjectOfToken } from './token-subject.ts';

/** The dependencies and settings of local decisions. */
interface LocalSources {
  readonly held: HeldPolicy;
  readonly synchronization: Synchronization;
  readonly tokens: ProvenTokens;
  readonly scope: Scope;
  readonly maxStalenessMs: number;
  readonly onStale: 'remote' | 'deny';
  /** Returns the client's own token. */
  readonly ownToken: () => Promise<string>;
  /** The revision of this client's change that decisions must take into account, if any. */
  readonly ownRevision: () => string | undefined;
  readonly isClosed: () => boolean;
}

/**
 * Rethrows the error if the token is certainly malformed, forged or expired. Otherwise returns null: a token of another
 * issuer or type may be valid for the service, so the service decides.
 */
function judge(error: unknown): null {
  const isCertain = error instanceof TokenError && /(?:MALFORMED|SIGNATURE|EXPIRED)$/.test(error.code);
  if (isCertain) throw error;
  return null;
}

/**
 * The maximum age of a snapshot whose key networks still exclude callers: the lifetime of its document. Such a snapshot
 * may be too old for decisions.
 */
const LIFE_MS = 86_400_000;

const stale: Decision = Object.freeze({ authorized: false, reason: 'STALE' });

/**
 * Creates the functions for local decisions. `decide` decides in this process if the service would certainly decide the
 * same; otherwise it returns the reason why the service must decide (packages §8.3).
 */
export function createLocalDecisions(sources: LocalSources): LocalDecisions {
  const { held, tokens, scope, maxStalenessMs, onStale, ownToken } = sources;

  /** Returns the policy if it can be used for a question now, else the reason why not. */
  function usable(options: QuestionOptions): Policy | FallbackReason {
    const { policy } = held;
    if (sources.isClosed()) return 'closed';
    if (sources.synchronization.isOff) return 'off';
    if (!policy) return 'loading';
    if (options.scope && (options.scope.tenant !== scope.tenant || options.scope.id !== scope.id))
      return 'scope';
    // Checks both, because an earlier revision in the request must not hide a later change of this client.
    for (const revision of [options.minRevision, sources.ownRevision()])
      if (revision !== undefined && !sources.synchronization.covers(revision)) return 'ownWrite';
    return held.ageMs > maxStalenessMs ? 'stale' : policy;
  }

  return {
    decide: (subject, question, options) =>
      decideWithoutProof(subject, question, options) ?? proveFirst(subject, question, options),

    decideNow(subject, question, options) {
      const decision = decideWithoutProof(subject, question, options);
      return typeof decision === 'object' && decision !== null ? decision : undefined;
    },

    assertInNetworks(subject, { address }) {
      const { policy, ageMs } = held;
      if (subject.kind !== 'token' || address === undefined || !policy || ageMs > LIFE_MS) return;
      if (isExcluded(policy, subject.token, address)) throw tokenError('TOKEN_REVOKED');
    },
  };

  /** Decides if no token must be verified first; returns null otherwise. */
  function decideWithoutProof(
    subject: QuestionSubject,
    question: PreparedQuestion,
    options: QuestionOptions,
  ): Decision | FallbackReason | null {
    const policy = usable(options);
    if (policy === 'stale' && onStale === 'deny') return stale;
    if (typeof policy === 'string') return policy;
    if (subject.kind === 'user') return answer(policy, { userId: subject.userId }, question);
    const proof = subject.kind === 'token' ? tokens.get(subject.token) : undefined;
    return proof ? ofToken(policy, proof, question, options) : null;
  }

  /** Verifies the token of the subject first; users have none. */
  async function proveFirst(
    subject: QuestionSubject,
    question: PreparedQuestion,
    options: QuestionOptions,
  ): Promise<Decision | FallbackReason> {
    const token = subject.kind === 'token' ? subject.token : await ownToken().catch(() => null);
    if (token === null) return 'token';
    const proof = tokens.get(token) ?? (await tokens.prove(token, held.serviceNow).catch(judge));
    if (!proof) return 'token';
    const policy = usable(options);
    if (policy === 'stale' && onStale === 'deny') return stale;
    if (typeof policy === 'string') return policy;
    try {
      return ofToken(policy, proof, question, options);
    } catch (error) {
      // The client's own token has ended. The service decides, and the call to it may get a new token.
      if (subject.kind === 'own') return 'token';
      throw error;
    }
  }

  function ofToken(
    policy: Policy,
    proof: VerifiedToken,
    question: PreparedQuestion,
    { address }: QuestionOptions,
  ): Decision | FallbackReason {
    const subject = subjectOfToken(policy, proof, { now: held.serviceNow, address, scope });
    if (subject === 'ended') throw tokenError('TOKEN_REVOKED');
    if (subject === 'expired') throw tokenError('TOKEN_EXPIRED');
    if (typeof subject === 'string') return subject;
    const decision = answer(policy, subject, question);
    // The service may refuse such a token altogether, so it must decide.
    return typeof decision === 'object' && decision.reason === 'SUBJECT_INACTIVE' ? 'token' : decision;
  }

  function answer(policy: Policy, subject: Subject, question: PreparedQuestion): Decision | FallbackReason {
    if (!covers(policy, subject)) return 'user';
    const given = question.context?.resource;
    const resource = given ? resourceAsJson(given) : given;
    if (given && !resource) return 'context';
    const { permission } = question;
    return decide(policy, { subject, permission, context: { resource }, now: held.serviceNow }) as Decision;
  }
}
