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

/** The caller: a verified token whose session or key, user and project are active. */
export interface Principal {
  readonly type: 'session' | 'ApiKey' | 'projectApp';
  /** The token's `sub`. */
  readonly userId: string;
  /** The token's `jti`: session id or API key id. */
  readonly credentialId: string;
  readonly name: string | null;
  readonly emailVerified: boolean;
  /** Until when an unverified address is tolerated; null if verified or not applicable. */
  readonly verificationDeadline: Date | null;
  readonly acr: 'aal1' | 'aal2';
  /** A session whose second factor is pending: almost every operation refuses it (identity §7). */
  readonly mfaPending: boolean;
  /** Sign-in time of a session; null for keys. */
  readonly authenticatedAt: Date | null;
  /**
   * The only project that a key or app token may use, as camelCase scope; null for sessions. For a management key its
   * organization or account, whose projects it may use too, and for a bound session its organization.
   */
  readonly pinned: ScopeRef | null;
  /** The operator of the installation who acts for the user; absent when the user acts. */
  readonly impersonator?: Impersonator | null;
  /** Consented scopes of a restricted app token. */
  readonly consented: ReadonlySet<string> | null;
  /** The origins whose pages may read answers to an app token; empty for sessions and keys. */
  readonly origins: readonly string[];
}

/** An operator of the installation, as records name them: by their id, and not by the name of a person. */
export interface Impersonator {
  readonly id: string;
  readonly name: string;
}

/**
 * Whether the provider of an organization vouched for the user. Such a session acts in this organization alone, and not for the
 * person themselves: their account, factors and other organizations are none of the provider's business.
 */
export const isBound = ({ type, pinned }: Principal): boolean => type === 'session' && pinned !== null;

/** Whether it is a key of an organization or account, which acts with the present role of its service user. */
export const isManagementKey = ({ type, pinned }: Principal): boolean =>
  type === 'ApiKey' && (pinned?.tenant === 'organization' || pinned?.tenant === 'account');

/** The result of reading the `Authorization` header; operations that are not public require it. */
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
  /** The address of the client, from the socket or a trusted proxy, and the network by which anonymous calls are limited. */
  readonly address: string;
  readonly network: string;
  readonly userAgent: string | null;
  /** As sent, not validated; operations that take no key ignore it. */
  readonly idempotencyKey: string | null;
  /** As sent: the versions of the answer that the client has, for an operation whose answer is costly to make. */
  readonly ifNoneMatch: string | null;
  /** The best match for `Accept-Language`; mails prefer the locale of the user. */
  readonly language: Language;
  /** The text after `Bearer`, as sent: for credentials that are not the token of a caller (RFC 7592). */
  readonly bearer: string | null;
  readonly refreshCookie: string | null;
  /** Binds a sign-in to the browser that started it: of its sign-ins, the one that the request names, or else the newest. */
  readonly flowCookie: string | null;
  /** The sign-ins of this browser at the issuers of projects. */
  readonly ssoCookie: string | null;
  /** Identifies this browser on the page where a user types the code of a device (RFC 8628). */
  readonly deviceCookie: string | null;
  /** The session of the account pages, in a call of theirs; absent in every other. */
  readonly accountSessionId?: string | null;
  /** Parameters of an authorization request that were sent more than once; they are not in the input. */
  readonly repeated: readonly string[];
  /** Whether the request's origin may use the cookie (conventions §5.5). */
  readonly originAllowed: boolean;
  readonly effects: Effects;
  readonly slot: RequestSlot;
  /** Limits the size of the answer to the request. */
  readonly budget: AnswerBudget;
  /** Limits the work of its decisions. */
  readonly work: RequestWork;
}

/** Permission to use a scarce resource, such as a database connection. */
export interface Slot {
  /** Whether the request waited for it; the state of its caller may have changed meanwhile. */
  readonly waited: boolean;
  readonly release: () => void;
}

/** The current state of a queue for a scarce resource; `refused` counts since the start. */
export interface QueueState {
  readonly name: string;
  readonly waiting: number;
  readonly running: number;
  readonly refused: number;
}

/** The slot of one request: its first operation that needs one takes it, and the answer releases it. */
export interface RequestSlot {
  taken: Slot | Promise<Slot> | null;
  /** The last read of the request, for which the next one waits (src/kernel/call/turns.ts). */
  reading: Promise<unknown> | null;
  /** Characters of the body, which stays in memory while the request waits. */
  readonly bodyLength: number;
  /** Calls the listener when the client disconnects; returns a function that removes the listener. */
  readonly onGone: (listener: () => void) => () => void;
}

export type CookieEffect = { readonly value: string; readonly maxAgeSeconds: number } | 'clear';

/** `hint`: where the browser can go on when the flow is over; absent: the cookie of a flow that it has lives longer. */
export type FlowCookieEffect = (Exclude<CookieEffect, 'clear'> & { readonly hint?: string }) | 'clear';

/** The cookies of an answer. */
export interface CookieEffects {
  refreshCookie?: CookieEffect;
  flowCookie?: FlowCookieEffect;
  ssoCookie?: CookieEffect;
  accountCookie?: CookieEffect;
}

/** Cookies and headers of the answer, for every transport; applied after the commit. */
export interface Effects extends CookieEffects {
  readonly headers: Record<string, string>;
}

type Scoped<I, Yes, No = undefined> = I extends { scope: unknown } ? Yes : No;

/** The argument of `run` and `prepare`. `S`: the services, which the kernel only passes on. */
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
  /** Bound to the scope: every statement filters by its tenant. */
  readonly db: Scoped<I, ScopedDb>;
  /** The caller's rights in the scope. */
  readonly rights: Scoped<I, CallerRights>;
  readonly target: T extends AnyEntity ? RowOf<T> : undefined;
  readonly prepared: P;
  readonly services: S;
  /** The open transaction. If none is open: the pool for an operation without scope, else undefined; use `read` then. */
  readonly tx: Executor;
  /** Reads in the scope outside that transaction: before it, after it, or without one. */
  readonly read: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;
  /** The first call records the audit entry of the mutation (and its event); later calls record further events. */
  readonly record: (recording: Recording) => void;
  /** Marks that this mutation changed nothing: no audit entry and no event. */
  readonly unchanged: () => void;
  /** Topics whose cached state is stale after the commit of this mutation, for example `session:<id>`. */
  readonly invalidate: (...topics: string[]) => void;
  /** For an operation that waits: checks the caller again. @throws the error that the call would get now */
  readonly assertStillPermitted: () => Promise<void>;
  /** Sets cookies of the answer, if the transaction commits. */
  readonly setCookies: (cookies: CookieEffects) => void;
  /** Runs after the commit and before the answer; a failure is logged and does not undo the commit. */
  readonly afterCommit: (work: () => void | Promise<void>) => void;
}

/** The caller of an operation that is not public. @throws Error on a public operation without a token */
export function callerOf(ctx: { readonly principal: Principal | null }): Principal {
  if (!ctx.principal) throw new Error('a guarded operation ran without a principal');
  return ctx.principal;
}
