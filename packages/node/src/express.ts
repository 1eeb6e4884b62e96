import type { NextFunction, Request, Response } from 'express';
import { admit, type Requirement } from './middleware/admit.ts';
import { nodeCall } from './middleware/node-call.ts';
import type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';
import { requirementOf } from './middleware/requirement.ts';
import { REVISION_HEADER, revisionsOf } from './middleware/revisions.ts';
import type { Doorward } from './client/doorward.ts';
import type { Permission, Principal } from './contracts/types.ts';

export { principalOf } from './middleware/principal.ts';
export type { GuardOptions, PermissionOptions, SignInOptions } from './middleware/options.ts';

declare global {
  // Express declares this namespace for the members that libraries add to its requests.
  // oxlint-disable-next-line typescript/no-namespace
  namespace Express {
    interface Request {
      /** Set by the guards of `@doorward/node/express`. */
      principal?: Principal;
    }
  }
}

/** Middleware that keeps the types that Express infers from the route's path. */
export type GuardHandler = <P, ResBody, ReqBody, Query, Locals extends Record<string, unknown>>(
  request: Request<P, ResBody, ReqBody, Query, Locals>,
  response: Response<ResBody, Locals>,
  next: NextFunction,
) => void;

type Params = Record<string, string>;

/** The guards of an application. `Params` are the parameters of the route's path. */
export interface ExpressGuard {
  /**
   * Refuses the request with 401, 403, 404 or 503 unless the caller has the permission; with 400 if its
   * `X-Doorward-Revision` is malformed.
   */
  readonly requirePermission: <P = Params>(
    permission: Permission,
    options?: PermissionOptions<Request<P>>,
  ) => GuardHandler;
  /**
   * Refuses the request with 401 or 503 unless it has a valid token; with 400 if its `X-Doorward-Revision` is
   * malformed. Does not check the caller's address against the networks of an API key (`allowedCidrs`).
   */
  readonly requireSignedIn: <P = Params>(options?: SignInOptions<Request<P>>) => GuardHandler;
}

/**
 * Creates guards for Express 4 and 5 routes. Create them once per application.
 *
 * @example
 * const { requirePermission } = guard(doorward);
 * const context = ({ params }) => ({ resource: orders.get(params.id) });
 * app.get('/orders/:id', requirePermission('order:read', { context }), (request, response) => …);
 */
export function guard(doorward: Doorward, defaults: GuardOptions<Request> = {}): ExpressGuard {
  const followRevisions = revisionsOf(doorward);

  const handlerOf =
    (requirement: Requirement<never>): GuardHandler =>
    (request, response, next) => {
      // Requirements of all routes share one type here, although each reads only requests of its own route.
      const call = nodeCall(request as never, request, response);
      const answered = admit(doorward, requirement, call).finally(call.settle);
      answered
        .then((answer) => {
          // The response has the type of the route's response, but a refusal has its own body.
          if (answer)
            return void response
              .status(answer.status)
              .set(answer.headers)
              .json(answer.body as never);
          followRevisions(response, (revision) => void response.set(REVISION_HEADER, revision));
          next();
        })
        .catch(next);
    };

  return {
    requirePermission: (permission, options = {}) =>
      handlerOf(requirementOf<never>(permission, defaults, options)),
    requireSignedIn: (options = {}) => handlerOf(requirementOf<never>(undefined, defaults, options)),
  };
}
