import { admit, type Requirement } from './middleware/admit.ts';
import type { Answer, AnswerBody } from './middleware/answer.ts';
import type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';
import { requirementOf } from './middleware/requirement.ts';
import { REVISION_HEADER } from './middleware/revisions.ts';
import { responseOf, revisionSince, webCall } from './middleware/web-call.ts';
import type { Doorward } from './client/doorward.ts';
import type { Permission, Principal } from './contracts/types.ts';

export type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';

/** The argument of option callbacks in pages and server actions. */
export interface PageRequest {
  readonly headers: Headers;
}

/**
 * The argument of option callbacks in a route handler. `params` comes from Next.js and is a promise since version 15.
 */
export interface RouteRequest<Params> extends PageRequest {
  readonly request: Request;
  readonly params: Params;
}

/** A guarded route handler. Despite its type, `principal` is undefined if `who` returned a user instead of a token. */
export type GuardedRoute<Params> = (
  request: Request,
  context: { readonly params: Params; readonly principal: Principal },
) => Response | Promise<Response>;

/** A route handler as Next.js calls it. */
export type Route<Params> = (request: Request, context: { readonly params: Params }) => Promise<Response>;

/** Options for the refusal of a caller by a page or server action. */
export interface PageOptions {
  /**
   * Leaves the page, for example with `redirect('/sign-in')`. Default: `notFound()` for 404, else throws the
   * `RefusedError`.
   */
  readonly refused?: (refusal: RefusedError) => never;
}

/** Thrown if a page or server action refuses the caller. A route would send this `status` and `body`. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;
  readonly body: AnswerBody;

  constructor({ status, body }: Pick<Answer, 'status' | 'body'>) {
    super(`${status} ${body.code}`);
    this.status = status;
    this.body = body;
  }
}

/** The guards of an application. */
export interface NextGuard {
  /**
   * Wraps a route handler. Refuses the request with 401, 403, 404 or 503 unless the caller has the permission; with 400
   * if its `X-Doorward-Revision` is malformed.
   */
  readonly withPermission: <Params = Promise<Record<string, string>>>(
    permission: Permission,
    route: GuardedRoute<Params>,
    options?: PermissionOptions<RouteRequest<Params>>,
  ) => Route<Params>;
  /**
   * Wraps a route handler. Refuses the request with 401 or 503 unless it has a valid token; with 400 if its
   * `X-Doorward-Revision` is malformed. Does not check the caller's address against the networks of an API key
   * (`allowedCidrs`).
   */
  readonly withSignedIn: <Params = Promise<Record<string, string>>>(
    route: GuardedRoute<Params>,
    options?: SignInOptions<RouteRequest<Params>>,
  ) => Route<Params>;
  /** For server components and server actions: returns the principal if the caller has the permission, else refuses. */
  readonly requirePermission: (
    permission: Permission,
    options?: PermissionOptions<PageRequest> & PageOptions,
  ) => Promise<Principal>;
  /**
   * For server components and server actions: returns the principal of a valid token. Does not check the caller's
   * address against the networks of an API key (`allowedCidrs`).
   */
  readonly requireSignedIn: (options?: SignInOptions<PageRequest> & PageOptions) => Promise<Principal>;
  /**
   * For server components: returns the principal, or null without a valid token.
   *
   * @throws RefusedError for a refusal other than 401, for example while the service cannot be reached
   */
  readonly principal: (options?: SignInOptions<PageRequest>) => Promise<Principal | null>;
}

/**
 * Creates guards for the App Router of Next.js. Create them once per application, and pass `token`, because pages do
 * not get an `Authorization` header.
 *
 * @example
 * const token = async () => (await cookies()).get('token')?.value;
 * export const { withPermission, requirePermission, principal } = guard(doorward, { token });
 */
export function guard(doorward: Doorward, defaults: GuardOptions<PageRequest> = {}): NextGuard {
  const routeOf =
    <Params>(requirement: Requirement<RouteRequest<Params>>, route: GuardedRoute<Params>): Route<Params> =>
    async (request, { params }) => {
      const box: { principal?: Principal } = {};
      const facts = { request, params, headers: request.headers };
      const call = webCall(facts, request, undefined, (principal) => (box.principal = principal));
      const answer = await admit(doorward, requirement, call);
      if (answer) return responseOf(answer);
      const newRevision = revisionSince(doorward);
      const response = await route(request, { params, principal: box.principal as Principal });
      const revision = newRevision();
      return revision === null ? response : withHeader(response, REVISION_HEADER, revision);
    };

  const enter = async (requirement: Requirement<PageRequest>): Promise<Principal | RefusedError> => {
    const { headers } = await nextHeaders();
    const request = { headers: await headers() };
    const box: { principal?: Principal } = {};
    const call = webCall(request, request, undefined, (principal) => (box.principal = principal));
    const answer = await admit(doorward, requirement, call);
    return answer ? new RefusedError(answer) : (box.principal as Principal);
  };
  const enterOrLeave = async (requirement: Requirement<PageRequest>, { refused }: PageOptions) => {
    const principal = await enter(requirement);
    return principal instanceof RefusedError ? leave(principal, refused) : principal;
  };

  return {
    withPermission: (permission, route, options = {}) =>
      routeOf(requirementOf(permission, defaults, options), route),
    withSignedIn: (route, options = {}) => routeOf(requirementOf(undefined, defaults, options), route),
    requirePermission: (permission, options = {}) =>
      enterOrLeave(requirementOf(permission, defaults, options), options),
    requireSignedIn: (options = {}) => enterOrLeave(requirementOf(undefined, defaults, options), options),
    async principal(options = {}) {
      const principal = await enter(requirementOf(undefined, defaults, options));
      if (!(principal instanceof RefusedError)) return principal;
      if (principal.status !== 401) throw principal;
      return null;
    },
  };
}

/**
 * The parts of Next.js that are used here, declared because Next.js is not installed where this package is built. The
 * modules are imported on demand, by literal names that bundlers can see.
 */
interface NextHeaders {
  readonly headers: () => Headers | Promise<Headers>;
}
interface NextNavigation {
  readonly notFound: () => never;
}

const nextHeaders = async () =>
  // oxlint-disable-next-line typescript/ban-ts-comment
  // @ts-ignore
  (await import('next/headers')) as NextHeaders;
const nextNavigation = async () =>
  // oxlint-disable-next-line typescript/ban-ts-comment
  // @ts-ignore
  (await import('next/navigation')) as NextNavigation;

/** Never returns. Throws even if `refused` returns, so that the page does not continue. */
async function leave(refusal: RefusedError, refused: PageOptions['refused']): Promise<never> {
  refused?.(refusal);
  if (!refused && refusal.status === 404) {
    const { notFound } = await nextNavigation();
    notFound();
  }
  throw refusal;
}

/** Sets a header. If the headers are immutable, as in responses of `fetch`, returns a copy of the response. */
function withHeader(response: Response, name: string, value: string): Response {
  try {
    response.headers.set(name, value);
    return response;
  } catch {
    const copy = new Response(response.body, response);
    copy.headers.set(name, value);
    return copy;
  }
}
