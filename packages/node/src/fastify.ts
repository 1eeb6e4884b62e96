import type { FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify';
import { admit, type Requirement } from './middleware/admit.ts';
import { nodeCall } from './middleware/node-call.ts';
import type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';
import { requirementOf } from './middleware/requirement.ts';
import { REVISION_HEADER, revisionsOf } from './middleware/revisions.ts';
import type { Doorward } from './client/doorward.ts';
import type { Permission, Principal } from './contracts/types.ts';

export { principalOf } from './middleware/principal.ts';
export type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guards of `@doorward/node/fastify`. */
    principal?: Principal;
  }
}

/** A `preHandler` hook for one route, or for all routes of a plugin. */
export type GuardHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

interface PlainRoute extends RouteGenericInterface {
  readonly Params: Record<string, string>;
}

/**
 * The guards of an application. `Route` is the Fastify type of the route, so that callbacks in the options get typed
 * requests.
 */
export interface FastifyGuard {
  /**
   * Refuses the request with 401, 403, 404 or 503 unless the caller has the permission; with 400 if its
   * `X-Doorward-Revision` is malformed.
   */
  readonly requirePermission: <Route extends RouteGenericInterface = PlainRoute>(
    permission: Permission,
    options?: PermissionOptions<FastifyRequest<Route>>,
  ) => GuardHook;
  /**
   * Refuses the request with 401 or 503 unless it has a valid token; with 400 if its `X-Doorward-Revision` is
   * malformed. Does not check the caller's address against the networks of an API key (`allowedCidrs`).
   */
  readonly requireSignedIn: <Route extends RouteGenericInterface = PlainRoute>(
    options?: SignInOptions<FastifyRequest<Route>>,
  ) => GuardHook;
}

/**
 * Creates guards for Fastify 4 and 5 routes, as `preHandler` hooks. Create them once per application.
 *
 * @example
 * const { requirePermission } = guard(doorward);
 * const context = ({ params }) => ({ resource: orders.get(params.id) });
 * app.get('/orders/:id', { preHandler: requirePermission('order:read', { context }) }, async (request) => …);
 */
export function guard(doorward: Doorward, defaults: GuardOptions<FastifyRequest> = {}): FastifyGuard {
  const followRevisions = revisionsOf(doorward);

  const hookOf =
    (requirement: Requirement<never>): GuardHook =>
    async (request, reply) => {
      // Requirements of all routes share one type here, although each reads only requests of its own route.
      const call = nodeCall(request as never, request.raw, reply.raw);
      const answer = await admit(doorward, requirement, call).finally(call.settle);
      if (answer) return reply.code(answer.status).headers(answer.headers).send(answer.body);
      followRevisions(reply.raw, (revision) => void reply.header(REVISION_HEADER, revision));
      return undefined;
    };

  return {
    requirePermission: (permission, options = {}) =>
      hookOf(requirementOf<never>(permission, defaults, options)),
    requireSignedIn: (options = {}) => hookOf(requirementOf<never>(undefined, defaults, options)),
  };
}
