import type { Context, Principal, Scope, TokenType } from '../contracts/types.ts';

/* How the callers of a route prove who they are, and what is decided about. `Request` is that of the framework. */

type Maybe<T> = T | null | undefined;
type Later<T> = T | Promise<T>;

/**
 * Options of `requireSignedIn`, which wants a valid token only: it does not compare the networks of a key. All functions
 * may be asynchronous, and what they throw is an error of the route.
 */
export interface SignInOptions<Request> {
  /**
   * The token of a request, or null. Default: the bearer token of the header `Authorization`. A token from a cookie is
   * sent by browsers on their own, so the route then needs its own protection against forged requests (CSRF).
   */
  readonly token?: (request: Request) => Later<Maybe<string>>;
  /**
   * Whose rights are decided, in place of `token`: for applications that have sessions of their own. Null and undefined
   * are answered with 401; they never stand for the application's own credential.
   */
  readonly who?: (request: Request) => Later<Maybe<string | Principal | { readonly userId: string }>>;
  /** Kinds of tokens that are accepted. Default: `['ApiKey', 'projectApp']`. */
  readonly types?: readonly TokenType[];
  /** True: the service says whether the token was revoked. A decision of the service takes that into account anyway. */
  readonly live?: boolean;
  /**
   * The project, if it is not that of the client. A function is for applications that serve several projects: it must
   * answer only projects of the application, because the owner of a project decides what is allowed in it. Null and
   * undefined are answered with 404, unless `token` or `who` gives nothing. A token must be of this project:
   * those of customers who use it by a grant are answered with 401. To serve customers, verify their tokens in `who`, with
   * your own scope and `anyCustomer`.
   */
  readonly scope?: Scope | ((request: Request) => Later<Maybe<Scope>>);
  /**
   * Network address of the caller, for keys that are limited to networks. Default: that of the socket, which is right
   * unless a proxy stands before the application. Only a client with `local` compares it, and only for a permission:
   * `requireSignedIn` does not, and the service compares the address of the application instead.
   */
  readonly address?: (request: Request) => string | undefined;
  /** Bound of one attempt to reach the service. */
  readonly timeoutMs?: number;
}

/** Options of `requirePermission`. */
export interface PermissionOptions<Request> extends SignInOptions<Request> {
  /**
   * What conditions read: `({ params }) => ({ resource: await orders.get(params.id) })`. Null, and a resource that is null
   * or undefined, are answered with 404, so that the route never runs without the thing that was decided about.
   */
  readonly context?: (request: Request, principal: Principal | null) => Later<Maybe<Context>>;
}

/** Options for all routes of a guard. An option of a route replaces the one with the same name. */
export type GuardOptions<Request> = SignInOptions<Request>;
