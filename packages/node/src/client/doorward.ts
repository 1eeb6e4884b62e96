import type { Hooks } from '../contracts/hooks.ts';
import type {
  AllowedSubject,
  BatchDecision,
  Context,
  Decision,
  ExplainedDecision,
  HeldPermissions,
  LocalState,
  Permission,
  Principal,
  Question,
  QuestionOptions,
  Scope,
  VerifyOptions,
  Who,
} from '../contracts/types.ts';
import type { Api } from './generated/api.ts';
import type { Http } from './http.ts';

/** A client of one service and, usually, of one project. `createDoorward` makes it. */
export interface Doorward {
  /** The decision about a question. A refusal is returned; an error means that nothing was decided. */
  check(who: Who, permission: Permission, context?: Context, options?: QuestionOptions): Promise<Decision>;
  /** Decisions in the order of the questions, any number of them. */
  checkMany(
    who: Who,
    questions: readonly Question[],
    options?: QuestionOptions,
  ): Promise<readonly BatchDecision[]>;
  /** The decision with an explanation; needs `Authorization:Explain`. */
  explain(
    who: Who,
    permission: Permission,
    context?: Context,
    options?: QuestionOptions,
  ): Promise<ExplainedDecision>;
  can(who: Who, permission: Permission, context?: Context, options?: QuestionOptions): Promise<boolean>;
  /** @throws ForbiddenError with the reason, unless the answer is yes */
  assertCan(who: Who, permission: Permission, context?: Context, options?: QuestionOptions): Promise<void>;
  /** Everything that a token, or the client's own credential, holds in the scope. */
  permissions(who?: string | Principal, options?: QuestionOptions): Promise<HeldPermissions>;
  /**
   * Every user who may do it in the scope now, by id, read page by page. Needs `Authorization:Check` and `User:Query`; always
   * the service decides, with the client's own credential.
   */
  whoCan(
    permission: Permission,
    context?: Context,
    options?: Omit<QuestionOptions, 'address'>,
  ): AsyncIterableIterator<AllowedSubject>;
  /**
   * The bearer of a token. The networks of a key (`allowedCidrs`) are not compared: that is part of a question, with
   * its option `address`.
   * @throws TokenError unless the token is valid
   */
  verifyToken(token: string, options?: VerifyOptions): Promise<Principal>;

  /** Every operation of the service by its name. */
  readonly api: Api;
  /** The paths of the service, with openapi-fetch: errors are returned. */
  readonly http: Http;

  /** `X-Doorward-Revision` of the last change of this client; send it as `minRevision` from other processes. */
  readonly revision: string | null;
  /** The scope that calls without one use. */
  readonly scope: Scope | null;
  /** `url` of the service, without a slash at the end. */
  readonly url: string;

  /**
   * Resolves when the first snapshot is loaded, at once without `local`.
   * @throws DoorwardError if it cannot be loaded
   */
  ready(): Promise<void>;
  /** State of the local policy; null without `local`. */
  readonly local: LocalState | null;

  /** Adds hooks until the returned function is called. */
  observe(hooks: Hooks): () => void;
  /** Ends polls and background work; later calls throw. */
  close(): void;
}
