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

/** A client of one service and, usually, of one project. Created by `createDoorward`. */
export interface Doorward {
  /** Decides one question. A refusal is returned; an error means that nothing was decided. */
  check(who: Who, permission: Permission, context?: Context, options?: QuestionOptions): Promise<Decision>;
  /** Decides any number of questions, and returns the decisions in the same order. */
  checkMany(
    who: Who,
    questions: readonly Question[],
    options?: QuestionOptions,
  ): Promise<readonly BatchDecision[]>;
  /** Decides a question and explains the decision. Needs `Authorization:Explain`. */
  explain(
    who: Who,
    permission: Permission,
    context?: Context,
    options?: QuestionOptions,
  ): Promise<ExplainedDecision>;
  can(who: Who, permission: Permission, context?: Context, options?: QuestionOptions): Promise<boolean>;
  /**
   * Decides a question like `check`, and throws unless it is allowed.
   *
   * @throws ForbiddenError with the reason
   */
  assertCan(who: Who, permission: Permission, context?: Context, options?: QuestionOptions): Promise<void>;
  /**
   * Decides synchronously, in this process. Use it in loops over rows and in code that can't await. Returns
   * undefined if only `check` can decide: without `local`, while the policy is loading or stale, for a token before its
   * first `check`, for the client's own credential, or whenever the question has to go to the service.
   *
   * @example
   * const decision = doorward.decideLocally(who, 'order:read') ?? (await doorward.check(who, 'order:read'));
   *
   * @throws TokenError if the token is no longer valid
   */
  decideLocally(
    who: Who,
    permission: Permission,
    context?: Context,
    options?: QuestionOptions,
  ): Decision | undefined;
  /** All effective permissions of a token, or of the client's own credential, in the scope. */
  permissions(who?: string | Principal, options?: QuestionOptions): Promise<HeldPermissions>;
  /**
   * Iterates over every user who has the permission in the scope now, ordered by id, reading page by page. Needs
   * `Authorization:Check` and `User:Query`. The service always decides, with the client's own credential.
   */
  whoCan(
    permission: Permission,
    context?: Context,
    options?: Omit<QuestionOptions, 'address'>,
  ): AsyncIterableIterator<AllowedSubject>;
  /**
   * Returns the bearer of a token. Doesn't check the caller's address against an API key's networks
   * (`allowedCidrs`). Only questions do, if the client has `local` and you pass the `address` option.
   *
   * @throws TokenError unless the token is valid
   */
  verifyToken(token: string, options?: VerifyOptions): Promise<Principal>;

  /** Every operation of the service, by name. */
  readonly api: Api;
  /** The service's paths as an openapi-fetch client. Errors are returned, not thrown. */
  readonly http: Http;

  /**
   * `X-Doorward-Revision` of the last change by this client. Other processes send it as `minRevision` to see the
   * change.
   */
  readonly revision: string | null;
  /** The scope of calls that don't name a scope. */
  readonly scope: Scope | null;
  /** `url` of the service, without a slash at the end. */
  readonly url: string;

  /**
   * Resolves when the first snapshot is loaded; immediately without `local`.
   *
   * @throws DoorwardError if it cannot be loaded
   */
  ready(): Promise<void>;
  /** State of the local policy; null without `local`. */
  readonly local: LocalState | null;

  /** Adds hooks. Call the returned function to remove them. */
  observe(hooks: Hooks): () => void;
  /** Stops polling and background work. Later calls throw. */
  close(): void;
}
