import type { z } from 'zod';
import type { AnswerBudget } from './output/answer-budget.ts';
import type { CallerRights } from './call/caller-rights.ts';
import type { AnyEntity, RowOf } from './entity.ts';
import type { Recording } from './event.ts';
import type { InputOf } from './operation.ts';
import type { RequestWork } from './request-work.ts';
import type { ResolvedScope, ScopeRef } from './scope.ts';
import type { Executor, ScopedDb } from './scoped-db.ts';
import type { Language } from '../languages.ts';

/** The authenticated caller: a verified token whose session or key, user and project are active. */
export interface Principal {
  readonly type: 'session' | 'ApiKey' | 'projectApp';
  /** The `sub` of the token. */
  readonly userId: string;
  /** The `jti` of the token: a session id or an API key id. */
  readonly credentialId: string;
  readonly name: string | null;
  readonly emailVerified: boolean;
  /** The end of the period in which an unverified address is tolerated; null if verified or not applicable. */
  readonly verificationDeadline: Date | null;
  readonly acr: 'aal1' | 'aal2';
  /** Whether the session's second factor is pending. Almost every operation then refuses it (identity §7). */
  readonly mfaPending: boolean;
  /** Sign-in time of a session; null for keys. */
  readonly authenticatedAt: Date | null;
  /**
   * The only project that a key or app token may use, as a camelCase scope; null for unbound sessions. For a management
   * key it is the organization or account, whose projects the key may use too; for a bound session the organization.
   */
  readonly pinned: ScopeRef | null;
  /** The operator of the installation who acts for the user; absent if the user acts. */
  readonly impersonator?: Impersonator | null;
  /** Consented scopes of a restricted app token; null if not restricted. */
  readonly consented: ReadonlySet<string> | null;
  /** Origins whose pages may read responses to an app token; empty for sessions and keys. */
  readonly origins: readonly string[];
}

/** An operator of the installation, as records show them: by id, not by the person's name. */
export interface Impersonator {
  readonly id: string;
  readonly name: string;
}

/**
 * Whether the session is bound to an organization, because that organization's provider vouched for the user. A bound
 * session acts only in this organization. It cannot act for the person themselves, because their account, factors and
 * other organizations are none of the provider's business.
 */
export const isBound = ({ type, pinned }: Principal): boolean => type === 'session' && pinned !== null;

/** Whether the caller is a key of an organization or account, which acts with its service user's current role. */
export const isManagementKey = ({ type, pinned }: Principal): boolean =>
  type === 'ApiKey' && (pinned?.tenant === 'organization' || pinned?.tenant === 'account');

/** The result of reading the `Authorization` header. Operations that are not public require a principal. */
export type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: 'missing' | 'invalid' | 'expired' };

/** A request, independent of the transport. */
export interface Call {
  readonly transport: 'rest' | 'graphql';
  readonly requestId: string;
  readonly authentication: Authentication;
  /** Reads the same header again, with the current state of its session or key. */
  readonly authenticate: () => Promise<Authentication> | Authentication;
  /**
   * The client's address, from the socket or a trusted proxy, and its network, by which anonymous calls are limited.
   */
  readonly address: string;
  readonly network: string;
  readonly userAgent: string | null;
  /** As sent, not validated. Operations that take no key ignore it. */
  readonly idempotencyKey: string | null;
  /** As sent: the ETags of responses that the client already has, for operations with expensive output. */
  readonly ifNoneMatch: string | null;
  /** The best match for `Accept-Language`. Mails prefer the user's locale. */
  readonly language: Language;
  /** The text after `Bearer`, as sent, for credentials that do not identify a caller (RFC 7592). */
  readonly bearer: string | null;
  readonly refreshCookie: string | null;
  /**
   * Binds a sign-in to the browser that started it. If the browser has several sign-ins, this cookie is for the sign-in
   * that the request names, else for the newest.
   */
  readonly flowCookie: string | null;
  /** The browser sign-ins of this browser at the issuers of projects. */
  readonly ssoCookie: string | null;
  /** Identifies this browser on the page where a user enters the user code of a device (RFC 8628). */
  readonly deviceCookie: string | null;
  /** The session of the account pages, if they make the call; absent in any other call. */
  readonly accountSessionId?: string | null;
  /** Parameters of an authorization request that were sent more than once; they are not in the input. */
  readonly repeated: readonly string[];
  /** Whether the request's origin may use the cookie (conventions §5.5). */
  readonly originAllowed: boolean;
  readonly effects: Effects;
  readonly slot: RequestSlot;
  /** Limits the size of the response to the request. */
  readonly budget: AnswerBudget;
  /** Limits the work of the request's decisions. */
  readonly work: RequestWork;
}

/** Permission to use a scarce resource, such as a database connection. */
export interface Slot {
  /** Whether the request had to wait for the slot, so that the state of its caller may have changed meanwhile. */
  readonly waited: boolean;
  readonly release: () => void;
}

/** The current state of a queue for a scarce resource. `refused` counts since the process started. */
export interface QueueState {
  readonly name: string;
  readonly waiting: number;
  readonly running: number;
  readonly refused: number;
}

/** The slot of one request. The first operation that needs a slot takes it, and sending the response releases it. */
export interface RequestSlot {
  taken: Slot | Promise<Slot> | null;
  /** The request's last read; the next read waits for it (src/kernel/call/turns.ts). */
  reading: Promise<unknown> | null;
  /** Length of the request body, which stays in memory while the request waits. */
  readonly bodyLength: number;
  /** Calls the listener when the client disconnects; returns a function that removes the listener. */
  readonly onGone: (listener: () => void) => () => void;
}

export type CookieEffect = { readonly value: string; readonly maxAgeSeconds: number } | 'clear';

/** `hint`: where the browser can continue after the flow. Without it, the cookie keeps the hint of its flow. */
export type FlowCookieEffect = (Exclude<CookieEffect, 'clear'> & { readonly hint?: string }) | 'clear';

/** The cookies of a response. */
export interface CookieEffects {
  refreshCookie?: CookieEffect;
  flowCookie?: FlowCookieEffect;
  ssoCookie?: CookieEffect;
  accountCookie?: CookieEffect;
}

/** Cookies and headers of the response, for every transport. Applied after the commit. */
export interface Effects extends CookieEffects {
  readonly headers: Record<string, string>;
}

type Scoped<I, Yes, No = undefined> = I extends { scope: unknown } ? Yes : No;

/** The argument of `run` and `prepare`. `S` is the type of the services, which the kernel only passes on. */
export interface Context<
  S = unknown,
  I extends z.ZodRawShape = z.ZodRawShape,
  P = unknown,
  T extends AnyEntity | undefined = AnyEntity | undefined,
> {
  readonly input: InputOf<I>;
  readonly call: Call;
  /** The caller; null on public operations without a valid token. */
  readonly principal: Principal | null;
  readonly scope: Scoped<I, ResolvedScope>;
  /** Bound to the scope: every statement is filtered by its tenant. */
  readonly db: Scoped<I, ScopedDb>;
  /** The caller's rights in the scope. */
  readonly rights: Scoped<I, CallerRights>;
  readonly target: T extends AnyEntity ? RowOf<T> : undefined;
  readonly prepared: P;
  readonly services: S;
  /**
   * The open transaction. If none is open: the pool for an operation without a scope, else undefined; use `read` then.
   */
  readonly tx: Executor;
  /** Reads in the scope outside the operation's transaction: before it, after it, or if there is none. */
  readonly read: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;
  /** Records the audit entry of the mutation (and its event) at the first call, and further events at later calls. */
  readonly record: (recording: Recording) => void;
  /** Marks the mutation as having changed nothing, so that it leaves no audit entry and no event. */
  readonly unchanged: () => void;
  /** Declares topics whose cached state is stale after the commit of this mutation, for example `session:<id>`. */
  readonly invalidate: (...topics: string[]) => void;
  /** For an operation that waits: checks the caller again. @throws the error that a new call would get now */
  readonly assertStillPermitted: () => Promise<void>;
  /** Sets cookies in the response, if the transaction commits. */
  readonly setCookies: (cookies: CookieEffects) => void;
  /** Runs work after the commit and before the response. A failure is logged and does not undo the commit. */
  readonly afterCommit: (work: () => void | Promise<void>) => void;
}

/** Returns the caller of an operation that is not public. @throws Error in a public operation without a token */
export function callerOf(ctx: { readonly principal: Principal | null }): Principal {
  if (!ctx.principal) throw new Error('a guarded operation ran without a principal');
  return ctx.principal;
}
