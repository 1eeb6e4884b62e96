import type { z } from 'zod';
import type { AnswerBudget } from './answer-budget.ts';
import type { AnyEntity, RowOf } from './entity.ts';
import type { Recording } from './event.ts';
import type { InputOf } from './operation.ts';
import type { ResolvedScope, ScopeRef } from './scope.ts';
import type { Executor, ScopedDb } from './scoped-db.ts';

/** Who calls: a verified token whose session or key, user and project are alive. */
export interface Principal {
  readonly type: 'session' | 'ApiKey' | 'projectApp';
  /** The token's `sub`. */
  readonly userId: string;
  /** The token's `jti`: session id or API key id. */
  readonly credentialId: string;
  readonly name: string | null;
  readonly emailVerified: boolean;
  /** End of the time in which an unverified address is tolerated; null when verified or not applicable. */
  readonly verificationDeadline: Date | null;
  readonly acr: 'aal1' | 'aal2';
  /** A session whose user has a second factor that it has not given: it may do next to nothing (identity §7). */
  readonly mfaPending: boolean;
  /** Sign-in time of a session; null for keys. */
  readonly authenticatedAt: Date | null;
  /** The only project that a key or app token may touch, as camelCase scope; null for sessions. */
  readonly pinned: ScopeRef | null;
  /** Consented scopes of a restricted app token. */
  readonly consented: ReadonlySet<string> | null;
  /** Whose pages may read what is answered to an app token; none for sessions and keys. */
  readonly origins: readonly string[];
}

/** Outcome of reading the `Authorization` header; asked for by operations that are not public. */
export type Authentication =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly reason: 'missing' | 'invalid' | 'expired' };

/** What a transport knows of a request, in no transport's terms. */
export interface Call {
  readonly transport: 'rest' | 'graphql';
  readonly requestId: string;
  readonly authentication: Authentication;
  /** Reads the same header again, by what is known of its session or key now. */
  readonly authenticate: () => Promise<Authentication> | Authentication;
  /** Socket or proxied address, and the network that anonymous limits count. */
  readonly address: string;
  readonly network: string;
  readonly userAgent: string | null;
  /** As sent, whatever its form; operations that take none do not look at it. */
  readonly idempotencyKey: string | null;
  /** Best match of `Accept-Language`; for mails, the user's own locale comes first. */
  readonly language: 'en' | 'de' | 'es' | 'fr';
  readonly refreshCookie: string | null;
  /** Binds a sign-in that leads through other sites to the browser that began it. */
  readonly flowCookie: string | null;
  /** Parameters of an authorization request that were sent more than once, and so are left out. */
  readonly repeated: readonly string[];
  /** Whether the request's origin may use the cookie (conventions §5.5). */
  readonly originAllowed: boolean;
  readonly effects: Effects;
  readonly slot: RequestSlot;
  /** What the answer to the request may still hold. */
  readonly budget: AnswerBudget;
}

/** Permission to work with what is scarce. */
export interface Slot {
  /** Whether the request waited for it, so that what was known of its caller may have changed. */
  readonly waited: boolean;
  readonly release: () => void;
}

/** A queue in front of something scarce, as it is now; `refused` since the start. */
export interface QueueState {
  readonly name: string;
  readonly waiting: number;
  readonly running: number;
  readonly refused: number;
}

/** The slot of one request: the first of its operations that needs one takes it, and it is given back with the answer. */
export interface RequestSlot {
  taken: Slot | Promise<Slot> | null;
  /** Characters that the request keeps in memory while it waits. */
  readonly bodyLength: number;
  /** Calls back when the client went away; answers how to stop listening. */
  readonly onGone: (listener: () => void) => () => void;
}

export type CookieEffect = { readonly value: string; readonly maxAgeSeconds: number } | 'clear';

/** Headers that the answer must carry, whatever the transport; applied after commit. */
export interface Effects {
  refreshCookie?: CookieEffect;
  flowCookie?: CookieEffect;
  readonly headers: Record<string, string>;
}

/**
 * What the layers above the kernel offer to runs; each layer adds its own members by declaration merging,
 * so that the kernel stays free of them and a run still sees one typed object.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface Services {}

type Scoped<I, Yes, No = undefined> = I extends { scope: unknown } ? Yes : No;

/** What the caller holds in the resolved scope, for rules that compare rights. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface CallerRights {}

export interface Context<
  I extends z.ZodRawShape = z.ZodRawShape,
  P = unknown,
  T extends AnyEntity | undefined = AnyEntity | undefined,
> {
  readonly input: InputOf<I>;
  readonly call: Call;
  /** The caller; on public operations null unless a valid token was sent. */
  readonly principal: Principal | null;
  readonly scope: Scoped<I, ResolvedScope>;
  /** Bound to the scope: every statement carries its tenant. */
  readonly db: Scoped<I, ScopedDb>;
  /** The caller's rights in the scope. */
  readonly rights: Scoped<I, CallerRights>;
  readonly target: T extends AnyEntity ? RowOf<T> : undefined;
  readonly prepared: P;
  readonly services: Services;
  /** The open transaction. Where none is open: the pool without a scope, and nothing in one, where `read` reads. */
  readonly tx: Executor;
  /** Reads in the scope, apart from that transaction: before it, after it, or in place of one. */
  readonly read: <T>(work: (tx: Executor) => Promise<T>) => Promise<T>;
  /** First call: the mutation's audit entry (and event); later ones: further events. */
  readonly record: (recording: Recording) => void;
  /** Says that this mutation turned out to change nothing: no audit entry, no event. */
  readonly unchanged: () => void;
  /** Topics whose cached state is stale once this mutation is committed, e.g. `session:<id>`; many of them one by one. */
  readonly touch: (...topics: string[]) => void;
  /** Runs after commit and before the answer; a failure here is logged and does not undo the commit. */
  readonly afterCommit: (work: () => void | Promise<void>) => void;
}

/** The caller of an operation that is not public. */
export function callerOf(ctx: { readonly principal: Principal | null }): Principal {
  if (!ctx.principal) throw new Error('a guarded operation ran without a principal');
  return ctx.principal;
}
