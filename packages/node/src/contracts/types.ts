import type { DecisionReason } from '@doorward/decision';
import type { Hooks } from './hooks.ts';

/** The public types of `@doorward/node`, except those of the client and its operations (src/client). */

export type Tenant =
  'account' | 'organization' | 'accountProject' | 'organizationProject' | 'projectUser' | 'installation';

/** Where a call happens. The id of a project is `<owner>:<project>`. */
export interface Scope {
  readonly tenant: Tenant;
  readonly id: string;
}

export type TokenType = 'session' | 'ApiKey' | 'projectApp';

/**
 * The bearer of a verified token. Only `verifyToken` makes one: questions refuse a copy, because a copy could claim
 * anything.
 */
export interface Principal {
  readonly type: 'user' | 'apiKey' | 'projectApp';
  /** The user; for an API key the user who it acts for. */
  readonly userId: string;
  /** Of a session or an app token. */
  readonly sessionId?: string;
  readonly apiKeyId?: string;
  /** Of an app token. */
  readonly clientId?: string;
  /** The project of the token; null for a session. */
  readonly scope: Scope | null;
  /** Consented scopes of an app token; absent: not restricted. */
  readonly scopes?: readonly string[];
  /** How its revocation was checked: not at all, against the list of the local snapshot, or by the service. */
  readonly liveness: 'none' | 'list' | 'service';
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * Whose rights are in question. A token or a `Principal`: those of the token, limited as the token is. `{ userId }`: those
 * of a user, which needs the permission `Authorization:Check`. Undefined: those of the client's own credential.
 */
export type Who = string | Principal | { readonly userId: string } | undefined;

/** `'order:read'`, or the two parts. */
export type Permission = string | { readonly resource: string; readonly action: string };

/** What conditions read under `resource`. */
export interface Context {
  readonly resource?: object | null | undefined;
}

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Bound of one attempt, in place of the client's. */
  readonly timeoutMs?: number | undefined;
}

/** Options of one question. */
export interface QuestionOptions extends CallOptions {
  /** Default: the scope of the token, else of the client. */
  readonly scope?: Scope | undefined;
  /** An `X-Doorward-Revision`: the decision takes the change of this revision into account. */
  readonly minRevision?: string | undefined;
  /**
   * Network address of the caller, for the token of a key with `allowedCidrs`. Only this process can compare it, so it
   * needs `local`: the service sees and compares the address of this application. Without `local`, without this option,
   * or before the first snapshot, the networks of a key do not limit who calls this application.
   */
  readonly address?: string | undefined;
}

export interface Question {
  readonly permission: Permission;
  readonly context?: Context | undefined;
}

/** Reasons of the service, and two of this package: the service was not reached, or local data is too old. */
export type Reason = DecisionReason | 'UNAVAILABLE' | 'STALE';

export interface MatchedPermission {
  readonly id: string;
  readonly name: string;
  readonly resource: string;
  readonly action: string;
}

/** The answer to a question, as the service gives it (authorization §10.1). */
export interface Decision {
  readonly authorized: boolean;
  readonly reason: Reason;
  readonly matchedPermission?: MatchedPermission;
  readonly matchedCondition?: Readonly<Record<string, unknown>>;
  readonly evaluatedContext?: Readonly<Record<string, unknown>>;
}

/** One of several decisions, which carry no condition. */
export type BatchDecision = Pick<Decision, 'authorized' | 'reason' | 'matchedPermission'>;

/** A decision with the explanation of its reason (authorization §10.1). */
export interface ExplainedDecision extends Decision {
  readonly explanation?: Explanation;
}

export interface Explanation {
  readonly subject: { readonly type: string; readonly id: string };
  readonly scope: { readonly tenant: string; readonly id: string };
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  readonly candidates: readonly {
    readonly permissionId: string;
    readonly roleId: string;
    readonly groupId: string;
    readonly result: 'unconditional' | 'met' | 'notMet';
    readonly failedAt?: {
      readonly operator: string;
      readonly path: string;
      readonly actual?: unknown;
      readonly expected?: unknown;
      readonly outcome: 'false' | 'unknown';
    };
  }[];
  readonly nearest: readonly Readonly<Record<string, unknown>>[];
  readonly unknown?: { readonly part: 'resource' | 'action'; readonly nearest?: string };
}

/** What a subject holds in a scope; `version` changes with any change of it. */
export interface HeldPermissions {
  readonly version: string;
  readonly permissions: readonly {
    readonly resource: string;
    readonly action: string;
    readonly conditional: boolean;
  }[];
}

/** A subject that may do something, and why. */
export interface AllowedSubject {
  readonly subject: { readonly type: 'user'; readonly id: string };
  readonly reason: DecisionReason;
  readonly matchedPermission: MatchedPermission;
}

export interface VerifyOptions extends CallOptions {
  /** Default: `['ApiKey', 'projectApp']`. A session is accepted only if it is named. */
  readonly types?: readonly TokenType[] | undefined;
  /** Default: the `url` of the client. A resource server names its own URI, one of the `resources` of the app. */
  readonly audience?: string | undefined;
  /** True: asks the service whether the key, session and user still exist. */
  readonly live?: boolean | undefined;
  /**
   * The project whose tokens are accepted, as its owner names it. Default: the scope of the client. Tokens of customers to
   * whom it is granted have the same issuer, and are refused with `TOKEN_SCOPE` unless `anyCustomer` is true.
   */
  readonly scope?: Scope | undefined;
  /**
   * True: tokens of all customers to whom the project is granted are accepted too. The application must then take the customer from the principal's `scope`, and use that scope for its checks and data.
   */
  readonly anyCustomer?: boolean | undefined;
}

/** State of the local copy of the policy. */
export interface LocalState {
  readonly status: 'loading' | 'fresh' | 'stale' | 'off';
  readonly version: string | null;
  readonly sequence: number | null;
  /** Since the request of the last verified answer was sent, by the monotonic or the system clock, whichever says more. */
  readonly ageMs: number | null;
  readonly bytes: number;
}

export interface LocalOptions {
  /** Older data decides nothing. Default 5000, 1000..60000. */
  readonly maxStalenessMs?: number | undefined;
  /**
   * What happens to questions while the data is older: the service decides, `'remote'` (default), or they are
   * refused, `'deny'`, with the reason `STALE`.
   */
  readonly onStale?: 'remote' | 'deny' | undefined;
  /** Which users are held: `'all'` (default), `'none'`, or at most 100 ids. */
  readonly users?: 'all' | 'none' | readonly string[] | undefined;
  /** Default 256. A larger policy is not loaded, and all questions go to the service. */
  readonly maxMemoryMb?: number | undefined;
}

/** A `fetch` as the platform has it; the client calls it with a string and plain options. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

/** Options of `createDoorward`; see packages §2. */
export interface DoorwardOptions {
  /** `APP_URL` of the service. Default: `DOORWARD_URL`. */
  readonly url?: string | undefined;
  /** Default: `DOORWARD_CLIENT_ID`. */
  readonly clientId?: string | undefined;
  /** Default: `DOORWARD_CLIENT_SECRET`. */
  readonly clientSecret?: string | undefined;
  /** A token in place of the key, or a function that gives one. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** For calls that name no scope. Default: `DOORWARD_SCOPE`, written `<tenant>:<id>`. */
  readonly scope?: Scope | undefined;
  /** Allows http to other hosts than loopback. Tokens then travel unprotected. */
  readonly allowHttp?: boolean | undefined;
  /** One attempt. Default 5000, 100..120000. */
  readonly timeoutMs?: number | undefined;
  /** All attempts of a call. Default 15000, 100..120000. */
  readonly deadlineMs?: number | undefined;
  /** Repetitions of a call. Default 2, 0..10. */
  readonly retries?: number | undefined;
  /** A longer `Retry-After` is thrown at once. Default 10000, 0..120000. */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * During an outage questions throw, `'throw'` (default), or are refused, `'deny'`, with the reason `UNAVAILABLE`.
   */
  readonly onUnavailable?: 'throw' | 'deny' | undefined;
  /** Default `'ownWrites'`: questions see the changes of this client. */
  readonly consistency?: 'ownWrites' | 'any' | undefined;
  /** Default 5, 0..60. */
  readonly clockToleranceSeconds?: number | undefined;
  /** Decides in this process (packages §8.3). */
  readonly local?: boolean | LocalOptions | undefined;
  readonly hooks?: Hooks | undefined;
  readonly fetch?: Fetch | undefined;
  /** `Accept-Language` of error messages. */
  readonly language?: string | undefined;
}
