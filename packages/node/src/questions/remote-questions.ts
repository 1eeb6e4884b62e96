import { decodeJwt } from 'jose';
import { operationTable } from '../client/generated/table.ts';
import { invoke, type Caller, type InvokeOptions } from '../operations/invoke.ts';
import { parseOperation } from '../operations/operation.ts';
import { ApiError, TokenError } from '../contracts/errors.ts';
import { scopeOf } from '../options/scope.ts';
import { tokenError } from '../tokens/verify-token.ts';
import { eachItem } from '../operations/pages.ts';
import type {
  AllowedSubject,
  BatchDecision,
  ExplainedDecision,
  HeldPermissions,
  QuestionOptions,
  Scope,
} from '../contracts/types.ts';
import { allowedSubjectsOf, decisionOf, decisionsOf, permissionsOf } from './answers.ts';
import { PermissionListCache } from './permission-list-cache.ts';
import type { PreparedQuestion } from './question.ts';
import type { QuestionSubject } from './subject.ts';

/** The dependencies of `RemoteQuestions`. */
interface RemoteSettings {
  readonly caller: Caller;
  /** The revision of this client's recent change, which decisions must take into account. */
  readonly recentRevision: () => string | undefined;
}

const isAuthorized = /* @__PURE__ */ parseOperation('isAuthorized', operationTable.isAuthorized);
const isAuthorizedBatch = /* @__PURE__ */ parseOperation(
  'isAuthorizedBatch',
  operationTable.isAuthorizedBatch,
);
const myPermissions = /* @__PURE__ */ parseOperation('myPermissions', operationTable.myPermissions);
const whoCan = /* @__PURE__ */ parseOperation('whoCan', operationTable.whoCan);

const BATCH = 100;
const CONCURRENT = 4;
const MOST_ON_PAGE = 100;

/** Asks the service for decisions and permissions. */
export class RemoteQuestions {
  readonly #settings: RemoteSettings;
  readonly #held = new PermissionListCache();

  constructor(settings: RemoteSettings) {
    this.#settings = settings;
  }

  async decision(
    subject: QuestionSubject,
    question: PreparedQuestion,
    options: QuestionOptions & { readonly explain?: boolean },
  ): Promise<ExplainedDecision> {
    const explain = options.explain ? { explain: true } : {};
    const input = { ...question, ...this.#shared(subject, options), ...explain };
    return decisionOf((await this.#ask(subject, isAuthorized, input, options)).data);
  }

  async decisions(
    subject: QuestionSubject,
    questions: readonly PreparedQuestion[],
    options: QuestionOptions,
  ): Promise<readonly BatchDecision[]> {
    const shared = this.#shared(subject, options);
    const ends = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, ends.signal]) : ends.signal;
    const answers: (readonly BatchDecision[])[] = [];
    const starts = Array.from(
      { length: Math.ceil(questions.length / BATCH) },
      (_, index) => index * BATCH,
    ).values();
    const work = async (): Promise<void> => {
      for (const start of starts) {
        const items = questions.slice(start, start + BATCH);
        const input = { items, ...shared };
        const { data } = await this.#ask(subject, isAuthorizedBatch, input, { ...options, signal });
        answers[start / BATCH] = decisionsOf(data, items.length);
      }
    };
    try {
      await Promise.all(Array.from({ length: CONCURRENT }, work));
    } finally {
      ends.abort();
    }
    return answers.flat();
  }

  /** Requests the list at each call; the service sends it only if it has changed. */
  async permissions(subject: QuestionSubject, options: QuestionOptions): Promise<HeldPermissions> {
    const { scope, minRevision } = this.#shared(subject, options);
    const token = subject.kind === 'token' ? subject.token : '';
    const key = JSON.stringify([token, scope]);
    const held = this.#held.get(key);
    const headers = held ? { 'if-none-match': `"${held.version}"` } : {};
    const { status, data } = await this.#ask(
      subject,
      myPermissions,
      { scope, minRevision },
      { ...options, headers },
    );
    if (held && status === 304) return held;
    const list = permissionsOf(data);
    this.#held.set(key, list);
    return list;
  }

  /** Iterates over the users who have the permission, page by page until the service says that the list is complete. */
  whoCan(question: PreparedQuestion, options: QuestionOptions): AsyncGenerator<AllowedSubject> {
    const own = { kind: 'own' } as const;
    const input = { ...question, ...this.#shared(own, options), limit: MOST_ON_PAGE };
    return eachItem(async (cursor, signal) => {
      const start = cursor === undefined ? {} : { cursor };
      const { data } = await this.#ask(own, whoCan, { ...input, ...start }, { ...options, signal });
      return allowedSubjectsOf(data);
    }, options.signal);
  }

  /** The members that all questions to the service share. */
  #shared(subject: QuestionSubject, options: QuestionOptions) {
    const { caller, recentRevision } = this.#settings;
    if (options.scope !== undefined && !scopeOf(options.scope))
      throw new TypeError('scope must be { tenant, id }, where id is one UUID, or two joined by a colon');
    const minRevision = options.minRevision ?? recentRevision();
    return {
      scope: options.scope ?? defaultScope(subject, caller.scope),
      ...(minRevision === undefined ? {} : { minRevision }),
      ...(subject.kind === 'user' ? { subject: { userId: subject.userId } } : {}),
    };
  }

  async #ask(
    subject: QuestionSubject,
    operation: typeof isAuthorized,
    input: Readonly<Record<string, unknown>>,
    { signal, timeoutMs, headers }: QuestionOptions & Pick<InvokeOptions, 'headers'>,
  ) {
    const token = subject.kind === 'token' ? subject.token : undefined;
    const options = { signal, timeoutMs, token, ...(headers ? { headers } : {}) };
    return invoke(this.#settings.caller, operation, input, options).catch((error: unknown) => {
      throw token === undefined ? error : ofToken(error, token);
    });
  }
}

/**
 * Returns the scope of a question that doesn't name a scope: the client's scope, else that of the principal. With the
 * client's scope, the service refuses a token of another project with the reason `INVALID_SCOPE`.
 */
const defaultScope = (subject: QuestionSubject, scope: Scope | null): Scope | undefined =>
  scope ?? (subject.kind === 'token' ? (subject.principal?.scope ?? undefined) : undefined);

/**
 * Converts the error if the service refuses the token in question: to a `TokenError`, because the token's bearer must
 * sign in again and the client's own credential is not at fault.
 */
function ofToken(error: unknown, token: string): unknown {
  if (!(error instanceof ApiError) || error.code !== 'UNAUTHENTICATED') return error;
  const { code, message } = tokenError(hasExpired(token) ? 'TOKEN_EXPIRED' : 'TOKEN_REVOKED');
  const { status, requestId, operation, attempts } = error;
  return new TokenError(code, message, { status, requestId, operation, attempts });
}

/**
 * Whether the token has expired. Reads `exp` without verification, because it only chooses between two codes of the
 * same refusal.
 */
function hasExpired(token: string): boolean {
  try {
    return (decodeJwt(token).exp ?? Infinity) * 1000 < Date.now();
  } catch {
    return false;
  }
}
