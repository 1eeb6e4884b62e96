import type { Context, Principal, Scope, TokenType } from '../contracts/types.ts';

/* Options of guards. `Request` is the type of the framework's request. */

type Maybe<T> = T | null | undefined;
type Later<T> = T | Promise<T>;

/**
 * Options of `requireSignedIn`, which requires only a valid token and does not check the caller's address against the
 * networks of an API key. If one of the functions throws, the route fails with that error.
 */
export interface SignInOptions<Request> {
  /**
   * Returns the token of a request, or null. Default: the bearer token in the header `Authorization`. Browsers send
   * cookies on their own, so a route that takes the token from a cookie needs protection against cross-site request
   * forgery (CSRF).
   */
  readonly token?: (request: Request) => Later<Maybe<string>>;
  /**
   * Replaces `token` in applications with their own sessions: returns the subject whose rights are decided. Null and
   * undefined are answered with 401; they never mean the application's own credential.
   */
  readonly who?: (request: Request) => Later<Maybe<string | Principal | { readonly userId: string }>>;
  /** The accepted types of tokens. Default: `['ApiKey', 'projectApp']`. */
  readonly types?: readonly TokenType[];
  /** If true, asks the service whether the token was revoked. Decisions by the service check that anyway. */
  readonly live?: boolean;
  /**
   * The project, if it is not the client's. Pass a function if the application serves several projects. It must return
   * only projects of the application, because the owner of a project decides what is allowed in it. Null and undefined
   * are answered with 404, or with 401 if there is no caller. Tokens must be for this project itself: tokens of
   * customers who use it through a grant are answered with 401. To serve customers, verify their tokens in `who`, with
   * your own scope and `anyCustomer`.
   */
  readonly scope?: Scope | ((request: Request) => Later<Maybe<Scope>>);
  /**
   * Network address of the caller, for keys that are limited to networks. Default: the socket's address, which Next.js
   * does not provide, and Hono only with `@hono/node-server`. It is right unless the application is behind a proxy. Only a client with `local` compares it, and only in `requirePermission`;
   * the service sees the address of the application instead.
   */
  readonly address?: (request: Request) => string | undefined;
  /** Time limit of one attempt to reach the service. */
  readonly timeoutMs?: number;
}

/** Options of `requirePermission`. */
export interface PermissionOptions<Request> extends SignInOptions<Request> {
  /**
   * Returns the attributes for conditions: `({ params }) => ({ resource: await orders.get(params.id) })`. Null, and a
   * resource that is null or undefined, are answered with 404, so that the route never runs without the resource that
   * was decided about.
   */
  readonly context?: (request: Request, principal: Principal | null) => Later<Maybe<Context>>;
}

/** Options for all routes of a guard. An option of a route replaces the option with the same name here. */
export type GuardOptions<Request> = SignInOptions<Request>;
